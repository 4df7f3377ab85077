/** The engine's own messages, as the engine generates them, and what the editor adds to them. */
import {
  DID_CHANGE_RESULTS,
  type DidChangeResultsParams,
  LIVE,
  type LiveParams,
  Method,
  REFINE_LIVE,
  type RefineLiveParams,
  type Requests,
  TRANSACTIONS_LIVE,
  type TransactionsLiveParams,
} from "../../protocol.gen";

export {
  type Aim,
  type AimTarget,
  type Blame,
  type ComparedPoint,
  type ComparedTarget,
  type Comparison,
  type ControlAction,
  type CrosstalkPair,
  type DidChangeResultsParams,
  type EndToEnd,
  type Estimate,
  type EventsChange,
  type EventsComparison,
  type EventsDifference,
  type EventsHit,
  type EventsOpened,
  type EventsOpenParams,
  type EventsOrder,
  type EventsPart,
  type EventsPathSums,
  type EventsPlace,
  type EventsQueueNames,
  type EventsQueueObject,
  type EventsQueueOrder,
  type EventsQueueSummary,
  type EventsQueues,
  type EventsRow,
  type EventsState,
  type EventsThread,
  type EventsTimeline,
  type EventsTimelineThread,
  type LineShape,
  type LineSpeedup,
  type LiveParams,
  type NavigatorAccepted,
  type NavigatorAutomatic,
  type NavigatorCommand,
  type NavigatorCurrent,
  type NavigatorFlame,
  type NavigatorFlameParams,
  type NavigatorFlameSearchResult,
  type NavigatorFlameWhat,
  type NavigatorFlameWidth,
  type NavigatorHeat,
  type NavigatorKind,
  type NavigatorLabel,
  type NavigatorLabelOverlap,
  type NavigatorLine,
  type NavigatorLocation,
  type NavigatorNameRule,
  type NavigatorNames,
  type NavigatorNormalisation,
  type NavigatorOpened,
  type NavigatorPathSides,
  type NavigatorPathSpread,
  type NavigatorRow,
  type NavigatorSides,
  type NavigatorSpread,
  type NavigatorStep,
  type NavigatorSuggester,
  type NavigatorSuggestion,
  type NavigatorValueType,
  type NavigatorView,
  type NavigatorWhole,
  PROTOCOL_VERSION,
  type ProfileSummary,
  type ProgressPointEditKind,
  type ProgressPointEditResult,
  type ProgressToken,
  type Ranking,
  type RankingRow,
  type RefineIteration,
  type RefineLiveParams,
  type RefineOutcome,
  type RunEntry,
  type RunKind,
  type RunOutcome,
  type SpeedupPoint,
  type TargetKind,
  type TraceLiveParams,
  type TraceOutcome,
  type TransactionFlow,
  type TransactionFlowKind,
  type TransactionStage,
  type TransactionStay,
  type TransactionsCompared,
  type TransactionsComparedType,
  type TransactionsCrosstalk,
  type TransactionsDifference,
  type TransactionsLiveParams,
  type TransactionsOpened,
  type TransactionsOutcome,
  type TransactionsShown,
  type TransactionsStartParams,
  type TransactionsTypeCost,
  type TransactionsTypeOf,
  type TransactionType,
  type TransactionWay,
} from "../../protocol.gen";

/** A request: its method, with the types of what it takes and gives. */
export interface RequestMessage<P, R> {
  readonly method: string;
  /** Never there: it ties the types to the method. */
  readonly types?: (params: P) => R;
}

/** A notification of the engine: its method, with the type of what it says. */
export interface NotificationMessage<P> {
  readonly method: string;
  /** Never there: it ties the type to the method. */
  readonly types?: (params: P) => void;
}

type RequestMessages = {
  readonly [Name in keyof typeof Method]: RequestMessage<
    Requests[(typeof Method)[Name]]["params"],
    Requests[(typeof Method)[Name]]["result"]
  >;
};

/** The requests that the engine answers. */
export const requests = Object.fromEntries(
  Object.entries(Method).map(([name, method]) => [name, { method }]),
) as unknown as RequestMessages;

/** What the engine says by itself. */
export const notifications = {
  didChangeResults: { method: DID_CHANGE_RESULTS } as NotificationMessage<DidChangeResultsParams>,
  live: { method: LIVE } as NotificationMessage<LiveParams>,
  transactionsLive: { method: TRANSACTIONS_LIVE } as NotificationMessage<TransactionsLiveParams>,
  refineLive: { method: REFINE_LIVE } as NotificationMessage<RefineLiveParams>,
};

/** Commands that a hover of the engine may link to. */
export const hoverCommands: readonly string[] = [
  "fulcrum.causal.run",
  "fulcrum.causal.open",
  "fulcrum.causal.openLast",
  "fulcrum.ranking.open",
  "fulcrum.ranking.selectProgressPoint",
  "fulcrum.clearResults",
  "fulcrum.showLog",
  "fulcrum.progressPoint.insert",
  "fulcrum.progressPoint.remove",
];
