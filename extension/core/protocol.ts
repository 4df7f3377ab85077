/** The engine's own requests: method names with the types that the engine generates. */
import type {
  ClearParams,
  EditParams,
  EditResult,
  LineSpeedupsParams,
  LineSpeedups,
  OpenParams,
  ProfileSummary,
  Ranking,
  RankingParams,
  RunOutcome,
  RunParams,
  RunsList,
  RunsListParams,
} from "../protocol.gen";

export type {
  LineSpeedup,
  LineSpeedups,
  Point,
  ProfileSummary,
  ProgressPoint,
  Ranking,
  RankingRow,
  RunOutcome,
  RunParams,
  RunEntry,
  Shape,
} from "../protocol.gen";

/** What each request takes and gives. */
export interface Requests {
  "fulcrum/causal/open": { params: OpenParams; result: ProfileSummary };
  "fulcrum/causal/run": { params: RunParams; result: RunOutcome };
  "fulcrum/causal/clear": { params: ClearParams; result: null };
  "fulcrum/causal/ranking": { params: RankingParams; result: Ranking };
  "fulcrum/lineSpeedups": { params: LineSpeedupsParams; result: LineSpeedups };
  "fulcrum/progressPoint/edit": { params: EditParams; result: EditResult };
  "fulcrum/runs/list": { params: RunsListParams; result: RunsList };
}

export type Method = keyof Requests;

export const didChangeResults = "fulcrum/didChangeResults";

/** Commands that a hover of the engine may link to. */
export const hoverCommands = [
  "fulcrum.causal.run",
  "fulcrum.causal.open",
  "fulcrum.ranking.open",
  "fulcrum.clearResults",
  "fulcrum.progressPoint.insert",
] as const;
