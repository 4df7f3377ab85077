/** Which row is chosen. Its data may arrive later, disappear and come back; listeners are told each time. */
export class Chosen<Row> {
  private known = false;
  /** It was chosen when it was not there. */
  private due = false;

  /** `led`: the user has just gone to the row, so that other views may follow. */
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
