/** A transactional profile, as the engine sends it. */
import type {
  CrosstalkPair,
  TransactionFlow,
  TransactionStay,
  TransactionsDifference,
  TransactionsOpened,
  TransactionsShown,
  TransactionsTypeCost,
  TransactionType,
  TransactionWay,
} from "../../extension/core/engine/protocol";

export const ms = 1e6;

/** A type. Pass only the fields that the test is about. */
export function type(name: string, over: Partial<TransactionType> = {}): TransactionType {
  return {
    name,
    context: ["listener_thread > push", "worker_thread > recv"],
    functions: ["listener_thread", "push", "worker_thread", "recv"],
    count: 40,
    unreplied: 0,
    cpuNs: 30 * ms,
    cpuShare: 0.3,
    wallMeanNs: 4 * ms,
    wallP50Ns: 3 * ms,
    wallP95Ns: 8 * ms,
    wallP99Ns: 9 * ms,
    waitNs: 0,
    stages: [],
    ...over,
  };
}

export function flow(
  from: string,
  to: string,
  count: number,
  kind: TransactionFlow["kind"] = "message",
): TransactionFlow {
  const [fromProcess, fromName] = from.split("/") as [string, string];
  const [toProcess, toName] = to.split("/") as [string, string];
  return { kind, fromProcess, from: fromName, toProcess, to: toName, count };
}

export function shownOf(over: Partial<TransactionsShown> = {}): TransactionsShown {
  return { totalCpuNs: 100 * ms, types: [], stages: [], flows: [], notes: [], ...over };
}

export function pair(waiter: string, holder: string, waitNs: number, over: Partial<CrosstalkPair> = {}): CrosstalkPair {
  const count = over.count ?? 2;
  return {
    waiter,
    holder,
    lock: "cart_lock",
    kind: "mutex",
    count,
    waitNs,
    meanNs: waitNs / count,
    paths: [],
    price: null,
    gain: null,
    ...over,
  };
}

export function stay(thread: string, stage: string, from: number, to: number): TransactionStay {
  const [process, name] = thread.split("/") as [string, string];
  const pid = process.length;
  const source = stage === "" ? null : stage;
  return { pid, process, tid: pid * 100 + name.length, thread: name, stage, source, fromNs: from * ms, toNs: to * ms };
}

export function way(
  name: string,
  wall: number,
  stays: TransactionStay[],
  over: Partial<TransactionWay> = {},
): TransactionWay {
  return { type: name, beganNs: 0, wallNs: wall * ms, replied: true, traceParent: null, stays, leftOut: 0, ...over };
}

/** The cost of a type's transactions in one run. */
export function cost(transactions: number, cpuMean: number | null): TransactionsTypeCost {
  return {
    ...{ transactions, cpuNs: transactions * (cpuMean ?? 0) * ms, leftOutNs: 0 },
    ...{ cpuMeanNs: cpuMean === null ? null : cpuMean * ms, wallMeanNs: 4 * ms, wallP50Ns: 3 * ms, wallP99Ns: 9 * ms },
  };
}

/** A difference in milliseconds, with an interval of ±1 ms. */
export function difference(by: number, p: number): TransactionsDifference {
  return { ns: by * ms, lowNs: (by - 1) * ms, highNs: (by + 1) * ms, p, significant: p < 0.01 };
}

export function openedOf(over: Partial<TransactionsOpened> = {}): TransactionsOpened {
  return { run: "/run", shown: shownOf(), crosstalk: { waitNs: 0, pairs: [], notes: [] }, ways: [], ...over };
}
