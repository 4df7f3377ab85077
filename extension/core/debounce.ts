/** Runs an action once things have been quiet for a while. */
export class Debounced {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly action: () => void,
    /** Quiet time in milliseconds. */
    private readonly delay: number,
  ) {}

  /** `more`: milliseconds besides. */
  trigger(more = 0): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.action();
    }, this.delay + more);
  }

  get pending(): boolean {
    return this.timer !== undefined;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
