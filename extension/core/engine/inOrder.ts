/**
 * Work that is done one piece after another. A key that is pressed while the one before is still being answered then means
 * what it would mean after that, and none is lost.
 */
export class InOrder {
  private last: Promise<unknown> = Promise.resolve();

  /** Does the work when all before it is over, however that ended. The work must not wait for work behind it. */
  do<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work, work);
    this.last = done;
    return done;
  }
}
