/** One base for whatever holds subscriptions, watchers or panels, so that none of them outlives it. No `vscode` in here. */

export interface Disposable {
  dispose(): unknown;
}

/** Disposes of what it owns, the latest first, when it is disposed of itself. */
export class Owner implements Disposable {
  private readonly owned: Disposable[] = [];
  private isGone = false;

  /** Keeps something until this is disposed of, and returns it. What comes after that is disposed of at once. */
  protected own<T extends Disposable>(it: T): T {
    if (this.isGone) {
      it.dispose();
    } else {
      this.owned.push(it);
    }
    return it;
  }

  protected ownAll(...all: Disposable[]): void {
    for (const it of all) {
      this.own(it);
    }
  }

  /** A second call does nothing. */
  dispose(): void {
    this.isGone = true;
    for (let it = this.owned.pop(); it !== undefined; it = this.owned.pop()) {
      it.dispose();
    }
  }
}
