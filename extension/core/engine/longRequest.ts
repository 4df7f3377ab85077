/** Requests that take long: each has a token of its own, reports its progress, and can be cancelled. */
import { Cancelled, troubleOf } from "./errors";
import type { RequestMessage } from "./protocol";

export interface Disposable {
  dispose(): void;
}

/** The part of an editor's cancellation token that is needed here. */
export interface CancelToken {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: (event: unknown) => unknown): Disposable;
}

/** How far the work is. */
export interface ProgressStep {
  message?: string | undefined;
  /** Of the whole, 0 to 100. */
  percentage?: number | undefined;
}

/** The connection to an engine that runs. */
export interface LongClient {
  request<P, R>(message: RequestMessage<P, R>, params: P, token?: CancelToken): Promise<R>;
  /** Calls the listener for each `$/progress` of this token. */
  onProgress(workDoneToken: string, listener: (step: ProgressStep) => void): Disposable;
  /** Sends `window/workDoneProgress/cancel`. */
  stopWork(workDoneToken: string): void;
}

export interface LongOptions {
  /** Cancels the work. */
  token?: CancelToken | undefined;
  /**
   * What cancelling means. `drop`: the request is cancelled and fails with {@link Cancelled}; an answer that comes all
   * the same is given, because the caller may have to close what was opened. `stop`: the work ends early and still
   * answers, as a recording does.
   */
  onCancel: "drop" | "stop";
  /** Hears how far the work is. With `drop`, nothing after it was cancelled. */
  report?: ((step: ProgressStep) => void) | undefined;
  /** Hears the token, before the request is sent, and so before any notification that names it. */
  begun?: ((workDoneToken: string) => void) | undefined;
}

export interface WithToken {
  workDoneToken?: string | number | null;
}

/** The parameters of a request, but for the token, which {@link longRequest} makes. */
export type LongParams<P> = Omit<P, "workDoneToken">;

/**
 * Sends a request with a token for its progress, and gives its result.
 *
 * Cancelled work fails with {@link Cancelled}, whether this side or the engine noticed first.
 */
export async function longRequest<P extends WithToken, R>(
  connect: () => Promise<LongClient>,
  message: RequestMessage<P, R>,
  params: LongParams<P>,
  { token, onCancel, report, begun }: LongOptions,
): Promise<R> {
  const listening: Disposable[] = [];
  try {
    const client = await orCancelled(connect(), token);
    const workDoneToken = globalThis.crypto.randomUUID();
    if (report !== undefined) {
      listening.push(
        client.onProgress(workDoneToken, (step) => {
          if (onCancel === "stop" || !token?.isCancellationRequested) {
            report(step);
          }
        }),
      );
    }
    begun?.(workDoneToken);
    // `begun` may have cancelled it.
    throwIfCancelled(token);
    // TypeScript cannot see that a type without one member, and that member, are the type again.
    const whole = { ...params, workDoneToken } as unknown as P;
    if (onCancel === "drop") {
      return await client.request(message, whole, token);
    }
    const answer = client.request(message, whole);
    if (token !== undefined) {
      listening.push(token.onCancellationRequested(() => client.stopWork(workDoneToken)));
    }
    return await answer;
  } catch (error) {
    // A request that is dropped may fail in many ways; none of them matters any more.
    throw troubleOf(error).cancelled || (onCancel === "drop" && token?.isCancellationRequested)
      ? new Cancelled()
      : error;
  } finally {
    for (const it of listening) {
      it.dispose();
    }
  }
}

/** The result, or, as soon as the token is cancelled, {@link Cancelled}. */
export async function orCancelled<T>(work: Promise<T>, token: CancelToken | undefined): Promise<T> {
  if (token === undefined) {
    return work;
  }
  let listening: Disposable | undefined;
  const cancelled = new Promise<never>((_, reject) => {
    if (token.isCancellationRequested) {
      reject(new Cancelled());
    } else {
      listening = token.onCancellationRequested(() => reject(new Cancelled()));
    }
  });
  try {
    return await Promise.race([cancelled, work]);
  } finally {
    listening?.dispose();
  }
}

function throwIfCancelled(token: CancelToken | undefined): void {
  if (token?.isCancellationRequested) {
    throw new Cancelled();
  }
}
