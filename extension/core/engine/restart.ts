/** When to start a crashed engine again: always, after a growing pause; after five quick crashes only when asked. */

export interface RestartPolicyOptions {
  /** Pause before the first restart, in milliseconds. Doubles with each quick crash. */
  firstDelay: number;
  longestDelay: number;
  /** A crash sooner than this after the start is quick, in milliseconds. */
  quick: number;
  /** So many quick crashes in a row end the restarts. */
  limit: number;
}

export type RestartDecision = { restart: true; delay: number } | { restart: false; crashes: number };

const defaults: RestartPolicyOptions = { firstDelay: 200, longestDelay: 10_000, quick: 30_000, limit: 5 };

/** A state machine without timers: it is told what happened and when, and answers what to do. */
export class RestartPolicy {
  private readonly options: RestartPolicyOptions;
  private startedAt = 0;
  private quickCrashes = 0;

  constructor(options: Partial<RestartPolicyOptions> = {}) {
    this.options = { ...defaults, ...options };
  }

  started(now: number): void {
    this.startedAt = now;
  }

  crashed(now: number): RestartDecision {
    const quick = now - this.startedAt < this.options.quick;
    this.quickCrashes = quick ? this.quickCrashes + 1 : 1;
    if (this.quickCrashes >= this.options.limit) {
      return { restart: false, crashes: this.quickCrashes };
    }
    const delay = this.options.firstDelay * 2 ** (this.quickCrashes - 1);
    return { restart: true, delay: Math.min(delay, this.options.longestDelay) };
  }

  /** The user asked for a restart: count from nothing. */
  reset(): void {
    this.quickCrashes = 0;
  }
}
