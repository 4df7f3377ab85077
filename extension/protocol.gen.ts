// Generated from engine/crates/server/src/protocol.rs by
// `cargo run -p fulcrum-xtask -- codegen`. Do not edit: a test compares.

export const PROTOCOL_VERSION = 1;

/** The names of the custom requests. */
export const Method = {
  CausalOpen: "fulcrum/causal/open",
  CausalRun: "fulcrum/causal/run",
  CausalControl: "fulcrum/causal/control",
  CausalCompare: "fulcrum/causal/compare",
  CausalClear: "fulcrum/causal/clear",
  CausalRanking: "fulcrum/causal/ranking",
  LineSpeedups: "fulcrum/lineSpeedups",
  ProgressPointEdit: "fulcrum/progressPoint/edit",
  RunsList: "fulcrum/runs/list",
} as const;

/** What each custom request takes and gives. */
export interface Requests {
  "fulcrum/causal/open": { params: OpenParams; result: ProfileSummary };
  "fulcrum/causal/run": { params: RunParams; result: RunOutcome };
  "fulcrum/causal/control": { params: ControlParams; result: ControlResult };
  "fulcrum/causal/compare": { params: CompareParams; result: Comparison };
  "fulcrum/causal/clear": { params: ClearParams; result: null };
  "fulcrum/causal/ranking": { params: RankingParams; result: Ranking };
  "fulcrum/lineSpeedups": { params: LineSpeedupsParams; result: LineSpeedupsResult };
  "fulcrum/progressPoint/edit": { params: ProgressPointEditParams; result: ProgressPointEditResult };
  "fulcrum/runs/list": { params: RunsListParams; result: RunsListResult };
}

/** Server to client: the open profile changed. */
export const DID_CHANGE_RESULTS = "fulcrum/didChangeResults";

/** Server to client, about twice a second: how a run stands. */
export const LIVE = "fulcrum/causal/live";

/** Stands under `capabilities.experimental.fulcrum` in the answer to `initialize`. */
export type FulcrumServerCapabilities = {
  /** `PROTOCOL_VERSION`. */
  version: number;
  /** The custom requests that this server answers. */
  requests: Array<string>;
};

/** May stand under `capabilities.experimental.fulcrum` in the client's `initialize`. */
export type FulcrumClientCapabilities = {
  /**
   * Hovers may hold `data:` images and `command:` links. When absent, true for clients whose
   * Markdown parser is `marked` (VS Code and its relatives).
   */
  richHover?: boolean | null;
};

/** Parameters of `fulcrum/causal/open`. */
export type OpenParams = {
  /** A `.coz` file (text or JSON lines), a `causal-*.jsonl`, a run folder, or its `run.json`. */
  path: string;
};

/** Parameters of `fulcrum/causal/clear`: none. */
export type ClearParams = Record<string, never>;

/** An open profile in a few words. */
export type ProfileSummary = {
  /** The path that was opened: give it to `fulcrum/causal/open` to open the same again. */
  path: string;
  /** For a title bar or status bar item. */
  title: string;
  /** What sort of profile it is. */
  kind: ProfileKind;
  /** Sorted by name; the first is used where a request names none. */
  progressPoints: Array<ProgressPoint>;
  /** Number of lines with a result, over all progress points. */
  targets: number;
  /** The files that results point into, once each. */
  files: Array<ProfileFile>;
  /** The run is going on, and this is what is known so far; more follows by itself. */
  live: boolean;
  /** Whole sentences on what was left out, and why. */
  notes: Array<string>;
};

/** Sorts of profile. */
export type ProfileKind = "causal";

/** A progress point of the open profile. */
export type ProgressPoint = {
  /** Its name: `FILE:LINE`, or what the program calls it. */
  name: string;
  /** What a positive program speedup means for it. */
  kind: ProgressPointKind;
};

/** What a progress point measures. */
export type ProgressPointKind = "throughput" | "latency";

/** A file that results point into. */
export type ProfileFile = {
  /** As the profile spells it. */
  location: string;
  /** The file in the workspace, or null when there is none, or more than one that fits. */
  uri: string | null;
};

/** Parameters of `fulcrum/causal/run`. */
export type RunParams = {
  /** A path, or a name looked up in `PATH`. */
  program: string;
  /** Its arguments, without the program itself. */
  args: Array<string>;
  /** Its working folder, absolute. */
  cwd: string;
  /** The folder that holds `.fulcrum/runs`, absolute. */
  workspace: string;
  /** The program is stopped after this long; null lets it run to its end. */
  durationSeconds: number | null;
  /** The program is stopped when the best targets are known this well: half width of their intervals, a fraction. */
  until?: number | null;
  /** What experiments speed up; absent: the lines of the program itself. */
  aim?: Aim | null;
  /** Lines, `FILE:LINE`, whose visits are progress points without a change of the source. */
  progress?: Array<string> | null;
  /** The share of the program's time that profiling may take; experiments are spaced out to keep below it. */
  maxOverhead?: number | null;
  /** Runs the program again and again, each time as one experiment: for programs that just finish. */
  endToEnd?: EndToEnd | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** For programs that just finish: each run from start to end is one experiment. */
export type EndToEnd = {
  /** Stop after so many runs; null: when the duration or the wanted confidence is reached. */
  runs: number | null;
};

/** What experiments speed up. */
export type Aim = {
  /** The kind of target. */
  target: TargetKind;
  /** For `path`: call sequences such as `main > serve > parse`, the outermost function first. */
  paths: Array<string>;
  /** File patterns, `%` matches anything; empty is every file that is not a system header. */
  sourceScope: Array<string>;
  /** Binary patterns, `MAIN` is the program itself; empty is the program itself. */
  binaryScope: Array<string>;
};

/** What an experiment can speed up. */
export type TargetKind = "line" | "function" | "inclusive" | "path" | "blocked";

/** Parameters of `fulcrum/causal/control`. */
export type ControlParams = {
  /** The run's `workDoneToken`; null is every run that is going on. */
  token: ProgressToken | null;
  /** What to do. */
  action: ControlAction;
  /** For `retarget`: on what to experiment from now on. */
  aim?: Aim | null;
};

/** What can be done with a run that is going on. */
export type ControlAction = "pause" | "resume" | "stop" | "retarget" | "show";

/** Answer to `fulcrum/causal/control`. */
export type ControlResult = {
  /** How many runs obeyed; never 0, since that is an error. */
  runs: number;
};

/** Parameters of `fulcrum/causal/live`. */
export type LiveParams = {
  /** The run's `workDoneToken`. */
  token: ProgressToken | null;
  /** The run folder; null until it is known. */
  run: string | null;
  /** Since the program started. */
  elapsedSeconds: number;
  /** Experiments finished. */
  experiments: number;
  /** Targets with at least one experiment. */
  targets: number;
  /** Visits to all progress points. */
  visits: number;
  /** The best target so far. */
  best: LiveBest | null;
  /** 0 to 1 when the end is known. */
  fraction: number | null;
  /** Until the wanted duration or confidence is reached, estimated; null when nothing was wanted or nothing is known. */
  remainingSeconds: number | null;
  /** Experiments are paused. */
  paused: boolean;
  /** What the run experiments on. */
  aim: Aim;
  /** All of this in a few words: `23 experiments · 2 lines · best two-threads.cpp:12 +4.1 % · 40 s left`. */
  message: string;
};

/** The best target of a run that is going on. */
export type LiveBest = {
  /** Short: base name and line, or the name. */
  label: string;
  /** Program speedup per target speedup. */
  slope: number;
  /** Lower end of its 95 % interval. */
  slopeLow: number | null;
  /** Upper end of its 95 % interval. */
  slopeHigh: number | null;
};

/** LSP's progress token. */
export type ProgressToken = number | string;

/** How a run ended. */
export type RunOutcome = {
  /** The run folder. */
  run: string;
  /** How the program ended, as a sentence. */
  exit: string;
  /** The run, opened; null when it could not be opened (`notes` say why). */
  summary: ProfileSummary | null;
  /** Whole sentences on why the result is empty or weaker than it could be. */
  notes: Array<string>;
};

/** Parameters of `fulcrum/causal/compare`: paths as for `fulcrum/causal/open`. */
export type CompareParams = {
  /** The run before the change: its curves predict. */
  before: string;
  /** The run after it. */
  after: string;
};

/** Two runs, lined up. */
export type Comparison = {
  /** The run before the change. */
  before: ComparedRun;
  /** The run after it. */
  after: ComparedRun;
  /** The progress points of the run before, by name. */
  points: Array<ComparedPoint>;
  /** Whole sentences on what could not be compared, and why. */
  notes: Array<string>;
};

/** One of the two runs. */
export type ComparedRun = {
  /** For `fulcrum/causal/open`. */
  path: string;
  /** For a heading. */
  title: string;
};

/** What happened at one progress point. */
export type ComparedPoint = {
  /** The progress point's name. */
  name: string;
  /** What a positive program speedup means for it. */
  kind: ProgressPointKind;
  /** Before the change: visits a second (throughput), or nanoseconds a request (latency). Null when not visited. */
  rateBefore: number | null;
  /** After it. */
  rateAfter: number | null;
  /** The program speedup that really happened. */
  actual: Estimate | null;
  /** Those of the run before; those that changed first. */
  targets: Array<ComparedTarget>;
};

/** What became of one target, and what was predicted for it. */
export type ComparedTarget = {
  /** As the run before names it. */
  target: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** `FILE:LINE` as recorded. */
  location: string;
  /** Short: base name and line as it is now, with the name in front when there is one. */
  label: string;
  /** The file in the workspace; null when it is not there. */
  uri: string | null;
  /** 0-based line in the file as it is now. */
  line: number;
  /** Whether that line is still what was recorded. */
  state: LineState;
  /** Nanoseconds of its own for each visit to the progress point, before. */
  costBefore: Estimate | null;
  /** And after. */
  costAfter: Estimate | null;
  /** The speedup that the target really got: the part of its cost that is gone. Negative when it became slower. */
  speedup: Estimate | null;
  /** The program speedup that the run before predicts for that speedup. */
  predicted: Estimate | null;
  /** That speedup is beyond the measured ones, so the prediction is an extrapolation. */
  extrapolated: boolean;
  /** Its cost changed by more than noise. */
  changed: boolean;
  /** What to make of it, as a sentence. */
  verdict: string;
};

/** A number with its 95 % interval. */
export type Estimate = {
  /** The number. */
  value: number;
  /** Lower end of its 95 % interval. */
  low: number | null;
  /** Upper end of its 95 % interval. */
  high: number | null;
};

/** Parameters of `fulcrum/causal/ranking`. */
export type RankingParams = {
  /** A progress point's name; null is the first. */
  progressPoint: string | null;
};

/** The open profile's lines, best first. */
export type Ranking = {
  /** The progress point that is ranked; null when the profile has none or nothing is open. */
  progressPoint: string | null;
  /** All that can be chosen. */
  progressPoints: Array<ProgressPoint>;
  /** Sorted by slope, then location. */
  rows: Array<RankingRow>;
  /** Whole sentences on what was left out, and why. */
  notes: Array<string>;
};

/** One line of the ranking. */
export type RankingRow = {
  /** The target as records name it: `FILE:LINE`, or `KIND:NAME@FILE:LINE`. No two rows share it. */
  target: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** Short: base name and line, with the name in front when there is one. */
  label: string;
  /** The file in the workspace; null when it is not there. */
  uri: string | null;
  /** 0-based line in the file as it is now. */
  line: number;
  /** Whether the line is still what was recorded. */
  state: LineState;
  /** The gutter's shape. */
  shape: LineShape;
  /** Program speedup per line speedup. */
  slope: number;
  /** Lower end of its 95 % interval. */
  slopeLow: number | null;
  /** Upper end of its 95 % interval. */
  slopeHigh: number | null;
  /** The point with the largest program speedup; null when there is only the baseline. */
  best: SpeedupPoint | null;
  /** Making this line faster makes the program slower. */
  contention: boolean;
  /** Experiments that counted, baseline included. */
  experiments: number;
  /** In words: `+12 % if 2× faster`. */
  text: string;
  /** Whole sentences on what to keep in mind about this result. */
  cautions: Array<string>;
};

/** Parameters of `fulcrum/lineSpeedups`. */
export type LineSpeedupsParams = {
  /** The document, open or not. */
  uri: string;
  /** A progress point's name; null is the first. */
  progressPoint: string | null;
};

/** The open profile's results for one document. */
export type LineSpeedupsResult = {
  /** The progress point that the results are for; null when nothing is open. */
  progressPoint: string | null;
  /** Ascending by line. Two recorded lines can meet on one line after edits. */
  lines: Array<LineSpeedup>;
};

/** One line's result. */
export type LineSpeedup = {
  /** 0-based line in the document as it is now. */
  line: number;
  /** 1-based line as recorded. */
  recordedLine: number;
  /** Whether the line is still what was recorded. */
  state: LineState;
  /** What it is; several can stand on one line. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** The gutter's shape. */
  shape: LineShape;
  /** In words: `+12 % if 2× faster`, with the name in front when there is one. */
  text: string;
  /** Place in the ranking of the whole profile; 1 is best. */
  rank: number;
  /** Program speedup per line speedup. */
  slope: number;
  /** Lower end of its 95 % interval. */
  slopeLow: number | null;
  /** Upper end of its 95 % interval. */
  slopeHigh: number | null;
  /** The point with the largest program speedup; null when there is only the baseline. */
  best: SpeedupPoint | null;
  /** Making this line faster makes the program slower. */
  contention: boolean;
  /** Ascending by speedup; the first is the baseline (0, 0). */
  points: Array<SpeedupPoint>;
};

/** Whether a line is still what was recorded. */
export type LineState = "exact" | "moved" | "stale";

/** The nine shapes of the gutter. */
export type LineShape = "gain1" | "gain2" | "gain3" | "gain4" | "flat" | "harm1" | "harm2" | "harm3" | "unknown";

/** One point of a line's curve. */
export type SpeedupPoint = {
  /** Line speedup, 0 to 1. */
  speedup: number;
  /** Program speedup. */
  programSpeedup: number;
  /** Lower end of its 95 % interval. */
  low: number | null;
  /** Upper end of its 95 % interval. */
  high: number | null;
  /** Visits behind this point. */
  visits: number;
  /** Effective duration behind this point, in nanoseconds. */
  durationNs: number;
};

/** Parameters of `fulcrum/progressPoint/edit`. */
export type ProgressPointEditParams = {
  /** The document, open or not. */
  uri: string;
  /** Where the cursor is. */
  position: DocumentPosition;
  /** What to do there. */
  kind: ProgressPointEditKind;
};

/** What to do with progress points at a position. */
export type ProgressPointEditKind = "throughput" | "latencyBegin" | "latencyEnd" | "remove";

/** An edit, or the reason why there is none. */
export type ProgressPointEditResult = {
  /** Apply this. */
  edit: FileEdits | null;
  /** Or tell the user this sentence. */
  message: string | null;
};

/** LSP's `Position`: 0-based, `character` in the negotiated encoding (UTF-16 unless both sides know UTF-8). */
export type DocumentPosition = {
  /** 0-based line. */
  line: number;
  /** 0-based code units in the line. */
  character: number;
};

/** LSP's `Range`. */
export type DocumentRange = {
  /** First position. */
  start: DocumentPosition;
  /** Past the last position. */
  end: DocumentPosition;
};

/** LSP's `TextEdit`. */
export type FileEdit = {
  /** What is replaced; empty for an insertion. */
  range: DocumentRange;
  /** By what. */
  newText: string;
};

/** LSP's `WorkspaceEdit` in its simplest form. */
export type FileEdits = {
  /** URI → edits that do not overlap. */
  changes: Record<string, FileEdit[]>;
};

/** Parameters of `fulcrum/runs/list`. */
export type RunsListParams = {
  /** The folder that holds `.fulcrum/runs`, absolute. */
  workspace: string;
};

/** Answer to `fulcrum/runs/list`. */
export type RunsListResult = {
  /** Newest first. */
  runs: Array<RunEntry>;
};

/** One recorded run. */
export type RunEntry = {
  /** The run folder, for `fulcrum/causal/open`. */
  path: string;
  /** The folder's name without the time. */
  name: string;
  /** When it started, RFC 3339, UTC. */
  start: string;
  /** The command line, for reading. */
  command: string;
  /** `running`, `exited`, `signalled`, `stopped`, or `lost`. */
  ended: string;
};

/** Parameters of `fulcrum/didChangeResults`. */
export type DidChangeResultsParams = {
  /** The profile that is open now. */
  summary: ProfileSummary | null;
};

/** `data` of every error that the server answers. */
export type ErrorData = {
  /** Who can do something about it. */
  blame: Blame;
  /** What to do next, as a sentence; null when the message says it all. */
  advice: string | null;
};

/** Who can do something about an error. */
export type Blame = "user" | "environment" | "fulcrum";
