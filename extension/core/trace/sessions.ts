/** Opens and closes traces in the engine, so that it keeps only those that are shown. */
import { Cancelled, troubleOf, troubleText } from "../engine/errors";
import type { CancelToken, LongOptions, LongParams, WithToken } from "../engine/longRequest";
import { type EventsOpened, type RequestMessage, requests } from "../engine/protocol";

/** The part of the engine that is needed here. */
export interface TraceEngine {
  readonly state: string;
  readonly log: { debug(message: string): void };
  request<P, R>(message: RequestMessage<P, R>, params: NoInfer<P>): Promise<R>;
  long<P extends WithToken, R>(
    message: RequestMessage<P, R>,
    params: LongParams<NoInfer<P>>,
    options: LongOptions,
  ): Promise<R>;
}

/** Opens a trace. If it was cancelled meanwhile, the trace is closed, and this fails. */
export async function openTrace(engine: TraceEngine, run: string, options: LongOptions): Promise<EventsOpened> {
  const opened = await engine.long(requests.EventsOpen, { run }, options);
  if (options.token?.isCancellationRequested) {
    await closeTraces(engine, [opened.id]);
    throw new Cancelled();
  }
  return opened;
}

/** Opens both traces or none. */
export async function openBoth(
  engine: TraceEngine,
  runs: { a: string; b: string },
  token: CancelToken,
): Promise<{ a: number; b: number }> {
  const open = (run: string) => openTrace(engine, run, { token, onCancel: "drop" });
  const [a, b] = await Promise.allSettled([open(runs.a), open(runs.b)]);
  if (a.status === "fulfilled" && b.status === "fulfilled") {
    return { a: a.value.id, b: b.value.id };
  }
  await closeTraces(
    engine,
    [a, b].flatMap((it) => (it.status === "fulfilled" ? [it.value.id] : [])),
  );
  throw a.status === "rejected" ? a.reason : (b as PromiseRejectedResult).reason;
}

/** An engine that does not run has forgotten them. */
export async function closeTraces(engine: TraceEngine, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    if (engine.state !== "running") {
      return;
    }
    try {
      await engine.request(requests.EventsClose, { id });
    } catch (error) {
      engine.log.debug(`Closing a trace: ${troubleText(troubleOf(error))}`);
    }
  }
}
