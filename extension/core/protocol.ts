/** The engine's own requests, as the engine generates them, and what the editor adds to them. */
export {
  type Aim,
  type Blame,
  type ControlAction,
  DID_CHANGE_RESULTS,
  type DidChangeResultsParams,
  LIVE,
  type LineShape,
  type LineSpeedup,
  type LiveParams,
  Method,
  PROTOCOL_VERSION,
  type ProfileSummary,
  type ProgressPointEditKind,
  type ProgressPointEditResult,
  type Ranking,
  type RankingRow,
  type Requests,
  type RunEntry,
  type RunOutcome,
  type SpeedupPoint,
  type TargetKind,
} from "../protocol.gen";

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
