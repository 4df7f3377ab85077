/** Which row is chosen. It may be chosen before it has come, and go and come again: whoever listens hears of each. */
export class Chosen<Row> {
  private known = false;
  /** It was chosen when it was not there. */
  private due = false;

  /** `led`: somebody went to the row just now, so that others may follow. */
  constructor(private readonly tell: (row: Row | undefined, led: boolean) => void) {}

  /** Somebody goes to a row; undefined: it has not come. */
  choose(row: Row | undefined): void {
    this.known = row !== undefined;
    this.due = !this.known;
    this.tell(row, this.known);
  }

  /** Rows came or were forgotten; the chosen one is this now. */
  update(row: Row | undefined): void {
    if (this.known === (row !== undefined)) {
      return;
    }
    this.known = !this.known;
    this.tell(row, this.known && this.due);
    this.due &&= !this.known;
  }
}
