/** Arguments and return values of the calls that the user points at. Each is requested once, one at a time. */
export class CallValues {
  private readonly known = new Map<string, string>();
  private waitsFor: string | undefined;

  /** @param ask is answered by {@link receive} */
  constructor(private readonly ask: (thread: number, node: number) => void) {}

  /** The values of a call, as shown after its name; empty while they are not known. */
  of(thread: number, node: number): string {
    const key = keyOf(thread, node);
    const known = this.known.get(key);
    // While the pointer moves, what lies in between is not of interest.
    if (known === undefined && this.waitsFor === undefined) {
      this.waitsFor = key;
      this.ask(thread, node);
    }
    return known ?? "";
  }

  receive(thread: number, node: number, text: string): void {
    const key = keyOf(thread, node);
    if (this.known.size >= most) {
      this.known.clear();
    }
    this.known.set(key, text);
    if (this.waitsFor === key) {
      this.waitsFor = undefined;
    }
  }

  /** Another trace is shown: its calls have other values. */
  clear(): void {
    this.known.clear();
    this.waitsFor = undefined;
  }
}

const most = 1000;

function keyOf(thread: number, node: number): string {
  return `${thread} ${node}`;
}
