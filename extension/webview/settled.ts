/**
 * Whether the page shows everything that it was sent: then the body has `data-settled`, with a number that is
 * another one each time. Tests wait for it instead of for time.
 */
let unfinished = 0;
let sequence = 0;

/** Something begins that changes what is shown. Calling the result ends it, once. */
export function begin(): () => void {
  let going = true;
  unfinished += 1;
  delete document.body.dataset.settled;
  return () => {
    unfinished -= going ? 1 : 0;
    going = false;
    if (unfinished === 0) {
      sequence += 1;
      document.body.dataset.settled = String(sequence);
    }
  };
}

/** Draws at the next frame. */
export function nextFrame(draw: (now: number) => void): number {
  const end = begin();
  return requestAnimationFrame((now) => {
    // A page that draws again at once is not settled in between.
    draw(now);
    end();
  });
}

/** Does something a moment after the last request, so that it is not done at each letter. */
export class Later {
  private timer: number | undefined;
  private end = () => {};

  constructor(private readonly milliseconds: number) {}

  cancel(): void {
    window.clearTimeout(this.timer);
    this.end();
  }

  set(act: () => void): void {
    const end = begin();
    this.cancel();
    this.end = end;
    this.timer = window.setTimeout(() => {
      act();
      end();
    }, this.milliseconds);
  }
}
