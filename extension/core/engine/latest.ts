/** The answer to what was asked last. Answers may come in another order than the questions. */
export class Latest<T> {
  private asked = 0;

  constructor(private kept: T) {}

  /** What came last; before that, what it was made with. */
  get value(): T {
    return this.kept;
  }

  /**
   * Asks, and keeps the answer unless something was asked since. Tells whether it was kept; a question that fails rejects
   * only while it is the last, so that trouble with an earlier one hides nothing.
   */
  async ask(question: () => Promise<T>): Promise<boolean> {
    this.asked += 1;
    const turn = this.asked;
    try {
      const answer = await question();
      if (turn === this.asked) {
        this.kept = answer;
      }
    } catch (error) {
      if (turn === this.asked) {
        throw error;
      }
    }
    return turn === this.asked;
  }
}
