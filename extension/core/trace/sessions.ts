/** Opening and closing traces in the engine, so that it keeps none that nobody looks at. */
import { troubleOf, troubleText } from "../errors";
import type { EventsOpened, EventsOpenParams, Requests } from "../protocol";

interface Token {
  readonly isCancellationRequested: boolean;
}

/** The part of the engine that is needed here. */
export interface TraceEngine {
  readonly state: string;
  readonly log: { debug(message: string): void };
  request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    token?: Token,
  ): Promise<Requests[M]["result"]>;
}

/** Opens a trace. One that comes when it is no longer wanted is closed, and this fails. */
export async function openTrace(engine: TraceEngine, params: EventsOpenParams, token: Token): Promise<EventsOpened> {
  const opened = await engine.request("fulcrum/events/open", params, token);
  if (token.isCancellationRequested) {
    await closeTraces(engine, [opened.id]);
    throw new Error("The trace came when it was no longer wanted.");
  }
  return opened;
}

/** Opens both traces or none. */
export async function openBoth(
  engine: TraceEngine,
  runs: { a: string; b: string },
  token: Token,
): Promise<{ a: number; b: number }> {
  const open = (run: string) => openTrace(engine, { run }, token);
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
      await engine.request("fulcrum/events/close", { id });
    } catch (error) {
      engine.log.debug(`Closing a trace: ${troubleText(troubleOf(error))}`);
    }
  }
}
