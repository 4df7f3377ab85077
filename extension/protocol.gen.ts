// Generated from engine/crates/schema/ by
// `cargo run -p fulcrum-xtask -- codegen`. Do not edit: a test compares.

export const PROTOCOL_VERSION = 2;

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
  RunsRemove: "fulcrum/runs/remove",
  NavigatorOpen: "fulcrum/navigator/open",
  NavigatorDo: "fulcrum/navigator/command",
  NavigatorGetRows: "fulcrum/navigator/rows",
  NavigatorSearch: "fulcrum/navigator/automatic",
  NavigatorGetFlame: "fulcrum/navigator/flame",
  NavigatorFlameSearch: "fulcrum/navigator/flameSearch",
  NavigatorGetFrame: "fulcrum/navigator/frame",
  NavigatorGetLines: "fulcrum/navigator/lines",
  NavigatorGetNames: "fulcrum/navigator/names",
  NavigatorGetReport: "fulcrum/navigator/report",
  NavigatorClose: "fulcrum/navigator/close",
  TraceStart: "fulcrum/trace/start",
  RefineStart: "fulcrum/refine/start",
  RefineOpen: "fulcrum/refine/open",
  RefineGetFrame: "fulcrum/refine/frame",
  EventsOpen: "fulcrum/events/open",
  EventsGetChildren: "fulcrum/events/children",
  EventsGetTimeline: "fulcrum/events/timeline",
  EventsSearch: "fulcrum/events/search",
  EventsQuery: "fulcrum/events/query",
  EventsGetFrame: "fulcrum/events/frame",
  EventsOpenTree: "fulcrum/events/tree",
  EventsGetQueues: "fulcrum/events/queues",
  EventsCompare: "fulcrum/events/compare",
  EventsGetFilter: "fulcrum/events/filter",
  EventsClose: "fulcrum/events/close",
  TransactionsStart: "fulcrum/transactions/start",
  TransactionsOpen: "fulcrum/transactions/open",
  TransactionsOpenTree: "fulcrum/transactions/tree",
  TransactionsCompare: "fulcrum/transactions/compare",
  TransactionsGetPrice: "fulcrum/transactions/price",
  TransactionsGetFrame: "fulcrum/transactions/frame",
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
  "fulcrum/runs/remove": { params: RunsRemoveParams; result: null };
  "fulcrum/navigator/open": { params: NavigatorOpenParams; result: NavigatorOpened };
  "fulcrum/navigator/command": { params: NavigatorCommandParams; result: NavigatorView };
  "fulcrum/navigator/rows": { params: NavigatorRowsParams; result: NavigatorRows };
  "fulcrum/navigator/automatic": { params: NavigatorAutomaticParams; result: NavigatorAutomatic };
  "fulcrum/navigator/flame": { params: NavigatorFlameParams; result: NavigatorFlame };
  "fulcrum/navigator/flameSearch": { params: NavigatorFlameSearchParams; result: NavigatorFlameSearchResult };
  "fulcrum/navigator/frame": { params: NavigatorFrameParams; result: NavigatorFrameResult };
  "fulcrum/navigator/lines": { params: NavigatorLinesParams; result: NavigatorLines };
  "fulcrum/navigator/names": { params: NavigatorNamesParams; result: NavigatorNames };
  "fulcrum/navigator/report": { params: NavigatorReportParams; result: NavigatorReport };
  "fulcrum/navigator/close": { params: NavigatorCloseParams; result: null };
  "fulcrum/trace/start": { params: TraceParams; result: TraceOutcome };
  "fulcrum/refine/start": { params: RefineParams; result: RefineOutcome };
  "fulcrum/refine/open": { params: RefineOpenParams; result: RefineOutcome };
  "fulcrum/refine/frame": { params: RefineFrameParams; result: NavigatorFrameResult };
  "fulcrum/events/open": { params: EventsOpenParams; result: EventsOpened };
  "fulcrum/events/children": { params: EventsChildrenParams; result: EventsRows };
  "fulcrum/events/timeline": { params: EventsTimelineParams; result: EventsTimeline };
  "fulcrum/events/search": { params: EventsSearchParams; result: EventsFound };
  "fulcrum/events/query": { params: EventsQueryParams; result: EventsTable };
  "fulcrum/events/frame": { params: EventsFrameParams; result: NavigatorFrameResult };
  "fulcrum/events/tree": { params: EventsTreeParams; result: NavigatorOpened };
  "fulcrum/events/queues": { params: EventsQueuesParams; result: EventsQueues };
  "fulcrum/events/compare": { params: EventsCompareParams; result: EventsComparison };
  "fulcrum/events/filter": { params: EventsFilterParams; result: EventsFilter };
  "fulcrum/events/close": { params: EventsCloseParams; result: null };
  "fulcrum/transactions/start": { params: TransactionsStartParams; result: TransactionsOutcome };
  "fulcrum/transactions/open": { params: TransactionsOpenParams; result: TransactionsOpened };
  "fulcrum/transactions/tree": { params: TransactionsTreeParams; result: NavigatorOpened };
  "fulcrum/transactions/compare": { params: TransactionsCompareParams; result: TransactionsCompared };
  "fulcrum/transactions/price": { params: TransactionsPriceParams; result: CrosstalkPrice };
  "fulcrum/transactions/frame": { params: TransactionsFrameParams; result: NavigatorFrameResult };
}

/** Server to client: the open profile changed. */
export const DID_CHANGE_RESULTS = "fulcrum/didChangeResults";

/** Server to client, about twice a second: how a run stands. */
export const LIVE = "fulcrum/causal/live";

/** Server to client: how a recording of events or of transactions, or the refine loop, stands. */
export const TRACE_LIVE = "fulcrum/trace/live";
export const TRANSACTIONS_LIVE = "fulcrum/transactions/live";
export const REFINE_LIVE = "fulcrum/refine/live";

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

/** An open navigator; the server gives the number. */
export type NavigatorId = number;

/** An open event trace; the server gives the number. */
export type TraceId = number;

/** A thread of a trace, as its log numbers it. */
export type ThreadId = number;

/** A node of a thread's event tree: the number of the event that began it, within its thread. */
export type NodeId = number;

/** A method of a trace, as its log numbers it. */
export type MethodId = number;

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
  /**
   * The folder of an earlier run of the workspace: its experiments count together with those of this one. It must have run
   * the same build with the same arguments.
   */
  continues?: string | null;
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
  target: AimTarget;
  /** For `path`: call sequences such as `main > serve > parse`, the outermost function first. */
  paths: Array<string>;
  /** File patterns, `%` matches anything; empty is every file that is not a system header. */
  sourceScope: Array<string>;
  /** Binary patterns, `MAIN` is the program itself; empty is the program itself. */
  binaryScope: Array<string>;
};

/** What an experiment can speed up. */
export type AimTarget = "line" | "function" | "inclusive" | "path" | "blocked";

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
  /** All of this in a few words: `23 experiments · 2 lines · best two-threads.cpp:12, +4.1 % if 2× faster · 40 s left`. */
  message: string;
};

/** The best target of a run that is going on. */
export type LiveBest = {
  /** Short: base name and line, or the name. */
  label: string;
  /** What the program gains when the target takes half the time, a fraction. */
  gain: number;
  /** Lower end of its 95 % interval. */
  gainLow: number | null;
  /** Upper end of its 95 % interval. */
  gainHigh: number | null;
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
  progressPoints: Array<ComparedPoint>;
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

/** What happened at one progress point, and to the targets at their places in the workspace. */
export type ComparedPoint = {
  /** Those of the run before; those that changed first. */
  targets: Array<ComparedTarget>;
  /** The progress point's name. */
  name: string;
  /** What a positive program speedup means for it. */
  kind: ProgressPointKind;
  /** Visits a second before the change; null when it was not visited. */
  beforeRate: number | null;
  /** Visits a second after it. */
  afterRate: number | null;
  /** Before the change: time of a visit (throughput) or of a request (latency). */
  beforeNs: Estimate | null;
  /** After it. */
  afterNs: Estimate | null;
  /** The program speedup that really happened. */
  actual: Estimate | null;
};

/** What became of one target, and where it is. */
export type ComparedTarget = {
  /** As records of the run before name it. */
  target: string;
  /** Short: base name and line as it is now, with the name in front when there is one. */
  label: string;
  /** The file in the workspace; null when it is not there. */
  uri: string | null;
  /** 0-based line in the file as it is now. */
  line: number;
  /** Whether that line is still what was recorded. */
  state: LineState;
  /** `FILE:LINE` in the run after; null when the code is gone. */
  after: string | null;
  /** Its own CPU time for each visit to the progress point, before. */
  costBeforeNs: Estimate | null;
  /** And after. */
  costAfterNs: Estimate | null;
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
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** A function with everything that it calls. */
  inclusive: boolean;
};

/** What happened at one progress point. */
export type PointChange = {
  /** The progress point's name. */
  name: string;
  /** What a positive program speedup means for it. */
  kind: ProgressPointKind;
  /** Visits a second before the change; null when it was not visited. */
  beforeRate: number | null;
  /** Visits a second after it. */
  afterRate: number | null;
  /** Before the change: time of a visit (throughput) or of a request (latency). */
  beforeNs: Estimate | null;
  /** After it. */
  afterNs: Estimate | null;
  /** The program speedup that really happened. */
  actual: Estimate | null;
};

/** What became of one target, and what was predicted for it. */
export type TargetChange = {
  /** `FILE:LINE` in the run after; null when the code is gone. */
  after: string | null;
  /** Its own CPU time for each visit to the progress point, before. */
  costBeforeNs: Estimate | null;
  /** And after. */
  costAfterNs: Estimate | null;
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
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** A function with everything that it calls. */
  inclusive: boolean;
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
  /** Short: base name and line, with the name in front when there is one. */
  label: string;
  /** The file in the workspace; null when it is not there. */
  uri: string | null;
  /** 0-based line in the file as it is now. */
  line: number;
  /** Whether the line is still what was recorded. */
  state: LineState;
  /** Experiments that counted, baseline included. */
  experiments: number;
  /** In words: `+12 % if 2× faster`. */
  text: string;
  /** Whole sentences on what to keep in mind about this result. */
  cautions: Array<string>;
  /** Program speedup per speedup of the target. */
  slope: number;
  /** Lower end of its 95 % interval. */
  slopeLow: number | null;
  /** Upper end of its 95 % interval. */
  slopeHigh: number | null;
  /** Making it faster makes the program slower. */
  contention: boolean;
  /** The gutter's shape. */
  shape: LineShape;
  /** The function of libc in which most of its time passes; null for ordinary code, and where nobody has looked. */
  inCall: InCall | null;
  /**
   * The measured point with the largest program speedup, or with the largest slowdown when the shape is a harm; null when
   * there is only the baseline.
   */
  largest: SpeedupPoint | null;
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** A function with everything that it calls. */
  inclusive: boolean;
};

/** What a target is. */
export type TargetName = {
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** A function with everything that it calls. */
  inclusive: boolean;
};

/** Sorts of target. */
export type TargetKind = "line" | "function" | "path" | "blocked";

/** What was found out about a target. */
export type TargetResult = {
  /** Program speedup per speedup of the target. */
  slope: number;
  /** Lower end of its 95 % interval. */
  slopeLow: number | null;
  /** Upper end of its 95 % interval. */
  slopeHigh: number | null;
  /** Making it faster makes the program slower. */
  contention: boolean;
  /** The gutter's shape. */
  shape: LineShape;
  /** The function of libc in which most of its time passes; null for ordinary code, and where nobody has looked. */
  inCall: InCall | null;
  /**
   * The measured point with the largest program speedup, or with the largest slowdown when the shape is a harm; null when
   * there is only the baseline.
   */
  largest: SpeedupPoint | null;
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** A function with everything that it calls. */
  inclusive: boolean;
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
  /** In words: `+12 % if 2× faster`, with the name in front when there is one. */
  text: string;
  /** Place in the ranking of the whole profile; 1 is best. */
  rank: number;
  /** Ascending by speedup; the first is the baseline (0, 0). */
  points: Array<SpeedupPoint>;
  /** Program speedup per speedup of the target. */
  slope: number;
  /** Lower end of its 95 % interval. */
  slopeLow: number | null;
  /** Upper end of its 95 % interval. */
  slopeHigh: number | null;
  /** Making it faster makes the program slower. */
  contention: boolean;
  /** The gutter's shape. */
  shape: LineShape;
  /** The function of libc in which most of its time passes; null for ordinary code, and where nobody has looked. */
  inCall: InCall | null;
  /**
   * The measured point with the largest program speedup, or with the largest slowdown when the shape is a harm; null when
   * there is only the baseline.
   */
  largest: SpeedupPoint | null;
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** A function with everything that it calls. */
  inclusive: boolean;
};

/** Whether a line is still what was recorded. */
export type LineState = "exact" | "moved" | "stale";

/** The nine shapes of the gutter. */
export type LineShape = "gain1" | "gain2" | "gain3" | "gain4" | "flat" | "harm1" | "harm2" | "harm3" | "unknown";

/** A function in which most of a target's time passes: the result is about calling it. */
export type InCall = {
  /** As programs call it (`sendmsg`); `kernel` for what the kernel does for other functions, or for new memory. */
  function: string;
  /** Processor time in it, as a part of the target's processor time and waits together. */
  processor: number;
  /** Time in which it waited there, as a part of the same. Virtual speedups do not shorten it. */
  waiting: number;
  /** What that time mostly is. */
  does: CallDoes;
  /** Of a lock that it waits for, `FILE:LINE` where it was mostly given back; null where that is not one place. */
  holder: string | null;
};

/** What the time in a call mostly is. */
export type CallDoes = "works" | "waits" | "unseen";

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

/** Answer to `fulcrum/runs/list`, and of `fulcrum runs list --json`. */
export type RunsListResult = {
  /** Newest first. */
  runs: Array<RunEntry>;
};

/** One recorded run. */
export type RunEntry = {
  /** The run folder, for `fulcrum/causal/open`, `fulcrum/events/open` or `fulcrum/transactions/open`. */
  path: string;
  /** The folder's name, for `fulcrum runs show` and `rm`. */
  folder: string;
  /** The folder's name without the time, and without the number that tells runs of one program and second apart. */
  name: string;
  /** What was recorded. */
  kind: RunKind;
  /** When it started, RFC 3339, UTC. */
  start: string;
  /** When it ended, RFC 3339, UTC; null while it goes on, and when its recorder died. */
  end: string | null;
  /** The program, as it was given; empty when the run does not say. */
  program: string;
  /** Its arguments. */
  arguments: Array<string>;
  /** The command line, for reading. */
  command: string;
  /** How it ended. */
  ended: RunEnded;
  /** The program's status, when it exited. */
  exitCode: number | null;
  /** The signal that ended the program. */
  signal: number | null;
  /** The recorder's options, by name, as JSON. */
  options: Record<string, string>;
  /** The commit of the program's working folder. */
  gitRevision: string | null;
  /** Bytes of all its files; null when it has too many to look at each. */
  bytes: number | null;
  /** What the recorder had to say. Whole sentences. */
  notes: Array<string>;
  /** Of a refine loop: which iteration it is. */
  iteration: RunIteration | null;
};

/** What was recorded. */
export type RunKind = "causal" | "events" | "transactions" | "unknown";

/** How a run ended. */
export type RunEnded = "running" | "exited" | "signalled" | "stopped" | "lost";

/** Which iteration of a refine loop a run is. */
export type RunIteration = {
  /** From 1. */
  number: number;
  /** The folder of the run before it, as it was then; null for the first. */
  previous: string | null;
};

/** Parameters of `fulcrum/runs/remove`. */
export type RunsRemoveParams = {
  /** The folder that holds `.fulcrum/runs`, absolute. */
  workspace: string;
  /** The runs' folders, absolute. */
  runs: Array<string>;
};

/** Parameters of `fulcrum/navigator/open`. */
export type NavigatorOpenParams = {
  /** Profiles in any known format; several are the runs of one side of a comparison. */
  files: Array<string>;
  /** What they are compared with; empty: nothing. */
  against: Array<string>;
  /** The value type by its name, or by its number from 1; absent: the profile's own choice. */
  value?: string | null;
  /** How the two sides are made comparable; absent: not at all. */
  normalisation?: NavigatorNormalisation | null;
  /** Rules for names, as `fulcrum profile --names` takes them; absent: the default rules. */
  names?: string | null;
  /** The folder that holds `.fulcrum/labels`, absolute; absent: the workspace's first folder. */
  workspace?: string | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** How costs of two sides are made comparable. */
export type NavigatorNormalisation = "totals" | { "factor": number };

/** An open navigator. */
export type NavigatorOpened = {
  /** What the other requests take. */
  id: NavigatorId;
  /** For a heading: `after.pb.gz − before.pb.gz`. */
  title: string;
  /** What sort of profile it is. */
  kind: NavigatorKind;
  /** What can be searched; the first file's. */
  valueTypes: Array<NavigatorValueType>;
  /** Different names that can stand in paths. */
  names: number;
  /** Call-tree nodes, over all files; for a call graph its functions. */
  nodes: number;
  /** Whole sentences on the files and on labels that were found again. */
  notes: Array<string>;
  /** The search before it has begun. */
  view: NavigatorView;
};

/** Sorts of profile that can be searched. */
export type NavigatorKind = "tree" | "comparison" | "graph";

/** What one column of values counts. */
export type NavigatorValueType = {
  /** As the profile names it: `cpu`. */
  name: string;
  /** As the profile names it: `ns`; empty for plain counts. */
  unit: string;
};

/** Parameters of `fulcrum/navigator/command`. */
export type NavigatorCommandParams = {
  /** The navigator. */
  id: NavigatorId;
  /** What to do. */
  command: NavigatorCommand;
};

/** What an analyst does. */
export type NavigatorCommand =
  | { kind: "setSuggester";
    /** The suggester. */
    suggester: NavigatorSuggester }
  | { kind: "suggest" }
  | { kind: "find";
    /** Upper and lower case are the same. */
    text: string }
  | { kind: "select";
    /** The row's number. */
    number: number }
  | { kind: "selectPath";
    /** At least one name. */
    path: Array<string> }
  | { kind: "trim";
    /** From which end. */
    end: NavigatorEnd }
  | { kind: "show" }
  | { kind: "label";
    /** The label. */
    name: string }
  | { kind: "unlabel";
    /** The label. */
    name: string }
  | { kind: "removeLabel";
    /** The label. */
    name: string }
  | { kind: "accept";
    /** All of them, or some. */
    suggestions: Array<NavigatorAccepted> }
  | { kind: "setZoom";
    /** On or off. */
    on: boolean }
  | { kind: "setCutoff";
    /** Above 0; 0.95 unless set. */
    cutoff: number }
  | { kind: "back" }
  | { kind: "forward" }
  | { kind: "goTo";
    /** Its position in the history. */
    at: number }
  | { kind: "value";
    /** Its name. */
    name: string;
};

/** Ways to rank starting paths. */
export type NavigatorSuggester = "HighCum" | "HighBase";

/** An end of a path. */
export type NavigatorEnd = "top" | "bottom";

/** A path and the label that it gets. */
export type NavigatorAccepted = {
  /** The label. */
  label: string;
  /** The path. */
  path: Array<string>;
};

/** A search as it stands, without its rows. */
export type NavigatorView = {
  /** Rises with each command; rows are asked for with it. */
  revision: number;
  /** The value type that is searched. */
  value: string;
  /** Its unit. */
  unit: string;
  /** The denominator of shares. */
  total: number;
  /** What that is. */
  of: NavigatorWhole;
  /** In a comparison, the cost of both sides. */
  sides: NavigatorSides | null;
  /** How `suggest` ranks. */
  suggester: NavigatorSuggester;
  /** Whether nearby paths are zoomed. */
  zoom: boolean;
  /** What zooming keeps. */
  cutoff: number;
  /** The current path; null before the first. */
  current: NavigatorCurrent | null;
  /** What the rows are. */
  listing: NavigatorListing;
  /** How many rows there are of each sort, in the order in which they are shown. */
  rows: Array<NavigatorRowCount>;
  /** The labels, in the order of their first use. */
  labels: Array<NavigatorLabel>;
  /** What all labels cover together. */
  coverage: NavigatorCoverage;
  /** The paths that were current. */
  history: NavigatorHistory;
  /** Whole sentences on what went wrong beside the command: labels that could not be saved. */
  notes: Array<string>;
};

/** What shares are parts of. */
export type NavigatorWhole = "total" | "difference" | "costlier";

/** A cost on both sides of a comparison; with several runs, the means. */
export type NavigatorSides = {
  /** In what is looked at. */
  a: number;
  /** In what it is compared with. */
  b: number;
};

/** Base and cum on both sides of a comparison. */
export type NavigatorPathSides = {
  /** The base. */
  base: NavigatorSides;
  /** The cum. */
  cum: NavigatorSides;
};

/** How certain base and cum are in a comparison of several runs. */
export type NavigatorPathSpread = {
  /** The base's. */
  base: NavigatorSpread;
  /** The cum's. */
  cum: NavigatorSpread;
};

/** How certain a difference is: Welch's t-test. */
export type NavigatorSpread = {
  /** The runs of side A. */
  a: NavigatorSample;
  /** The runs of side B. */
  b: NavigatorSample;
  /** Lower end of the 95 % interval of A - B. */
  low: number;
  /** Its upper end. */
  high: number;
  /** How probable a difference so great is when there is none, two-sided. */
  p: number;
  /** Whether it is significant: p is below 0.01. */
  significant: boolean;
};

/** What the rows are. */
export type NavigatorListing =
  | { kind: "suggestions" }
  | { kind: "found";
    /** The text. */
    text: string }
  | { kind: "nearby" };

/** The current path. */
export type NavigatorCurrent = {
  /** Its names, outermost first. */
  frames: Array<NavigatorFrame>;
  /** The cost of the path itself. */
  base: number;
  /** The cost of the path and everything that it calls. */
  cum: number;
  /** Both sides in a comparison. */
  sides: NavigatorPathSides | null;
  /** How certain the difference is, with several runs on each side. */
  spread: NavigatorPathSpread | null;
  /** Why base or cum look wrong and are not; whole sentences. */
  paradox: string | null;
  /** Its labels. */
  labels: Array<string>;
  /** What it shares with each label, in the labels' order. */
  overlaps: Array<NavigatorLabelOverlap>;
  /** What it shares with all labels together. */
  overlap: NavigatorOverlap;
  /** What zooming left out. */
  hidden: NavigatorHidden;
  /** Why there are no extensions although the program may have made further calls; a whole sentence. */
  limit: string | null;
};

/** One name of a path. */
export type NavigatorFrame = {
  /** The name. */
  name: string;
  /**
   * `FILE:LINE` or `FILE` as the profile has it; null when it knows only the name. `fulcrum/navigator/frame` may find it
   * all the same.
   */
  recorded: string | null;
};

/** What the current path shares with a label. */
export type NavigatorLabelOverlap = {
  /** The label. */
  label: string;
  /** Of the base. */
  base: number;
  /** Of the cum. */
  cum: number;
};

/** What the current path shares with others. */
export type NavigatorOverlap = {
  /** Of the base. */
  base: number;
  /** Of the cum. */
  cum: number;
};

/** What zooming left out at both ends. */
export type NavigatorHidden = {
  /** Callers. */
  top: NavigatorHiddenEnd;
  /** Callees. */
  bottom: NavigatorHiddenEnd;
};

/** What zooming left out at one end. */
export type NavigatorHiddenEnd = {
  /** How many extensions. */
  count: number;
  /** The cum that only those hold, as a fraction of the current path's; in a comparison it may be negative. */
  share: number;
};

/** How many rows there are of a sort. */
export type NavigatorRowCount = {
  /** The sort. */
  step: NavigatorStep;
  /** How many. */
  count: number;
};

/** How a row came about. */
export type NavigatorStep = "suggestion" | "extendTop" | "extendBottom" | "trimTop" | "trimBottom";

/** A label. */
export type NavigatorLabel = {
  /** Its name. */
  name: string;
  /** The paths that have it. */
  paths: Array<Array<string>>;
  /** Their base together, without overlap. */
  base: number;
  /** Their cum together, without overlap. */
  cum: number;
  /** The part of the cum that no label before covers. */
  marginal: number;
};

/** What all labels cover together, without overlap. */
export type NavigatorCoverage = {
  /** Base. */
  base: number;
  /** Their cum together, without overlap: what could go at most. */
  cum: number;
  /**
   * The cum as a fraction of the denominator; null when that is 0. In a comparison it may be above 1: other paths became
   * cheaper.
   */
  share: number | null;
  /**
   * By Amdahl, how much more the program would do in the same time without it: 0.25 is a quarter. In a comparison, than A
   * does. Null when all of the time would go.
   */
  gain: number | null;
  /** In a comparison, the cum as a fraction of B's total: the paper's Table 3. */
  table3: number | null;
};

/** The paths that were current. */
export type NavigatorHistory = {
  /** The position of the first of `paths`: only the nearest hundred are sent. */
  first: number;
  /** The oldest first. */
  paths: Array<Array<string>>;
  /** The current path's position in the whole history; null before the first. */
  at: number | null;
  /** How many paths the whole history has. */
  count: number;
};

/** Parameters of `fulcrum/navigator/rows`. */
export type NavigatorRowsParams = {
  /** The navigator. */
  id: NavigatorId;
  /** The view's. Rows of another are refused with LSP's `ContentModified`. */
  revision: number;
  /** Which sort. */
  step: NavigatorStep;
  /** The first row, from 0 within its sort. */
  from: number;
  /** How many, at most 1,000. */
  count: number;
};

/** Answer to `fulcrum/navigator/rows`. */
export type NavigatorRows = {
  /** As many as there are in the range. */
  rows: Array<NavigatorRow>;
};

/** A path that can be selected. */
export type NavigatorRow = {
  /** What `select` takes. */
  number: number;
  /** For suggestions the path; for extensions the names that are added, for trims those that go; outermost first. */
  names: Array<string>;
  /** The cost of the path itself. */
  base: number;
  /** The cost of the path and everything that it calls. */
  cum: number;
  /** Both sides in a comparison. */
  sides: NavigatorPathSides | null;
  /** How certain the difference is, with several runs on each side. */
  spread: NavigatorPathSpread | null;
  /** The labels of exactly this path. */
  labels: Array<string>;
};

/** Parameters of `fulcrum/navigator/automatic`. */
export type NavigatorAutomaticParams = {
  /** The navigator. */
  id: NavigatorId;
  /** How many paths at most; absent: 14. */
  count?: number | null;
  /** The part of the cost that they should cover; absent: 0.85. */
  coverage?: number | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** What the automatic search found in addition to the labels. It labels nothing itself: see the command `accept`. */
export type NavigatorAutomatic = {
  /** The denominator of the fractions. */
  total: number;
  /** What that is. */
  of: NavigatorWhole;
  /** The cum of labels and suggestions together, as a fraction of it. */
  coverage: number;
  /** The part of it that labels covered before. */
  labelled: number;
  /** The greatest marginal coverage first. */
  suggestions: Array<NavigatorSuggestion>;
};

/** A call sequence that the automatic search found. */
export type NavigatorSuggestion = {
  /** A name for it that no label has. */
  label: string;
  /** The path. */
  path: Array<string>;
  /** The cost of the path itself. */
  base: number;
  /** The cost of the path and everything that it calls. */
  cum: number;
  /** The part of its cum that neither labels nor suggestions before cover, as a fraction of the denominator. */
  marginal: number;
  /** Both sides in a comparison. */
  sides: NavigatorPathSides | null;
  /** How certain the difference is, with several runs on each side. */
  spread: NavigatorPathSpread | null;
  /** Why it was chosen; a whole sentence. */
  why: string;
};

/** Parameters of `fulcrum/navigator/flame`. */
export type NavigatorFlameParams = {
  /** The navigator. */
  id: NavigatorId;
  /** What to draw. */
  what: NavigatorFlameWhat;
  /** In a comparison, what makes boxes wide; absent: `a`. */
  width?: NavigatorFlameWidth | null;
  /** The visible part of the root, 0 to 1. */
  left: number;
  /** Its right end, 0 to 1. */
  right: number;
  /** Narrower boxes are left out: a fraction of the root. At least a 20,000th of the visible part. */
  minimum: number;
  /** The first level that is sent, from 0, the root's; absent: 0. */
  fromDepth?: number | null;
  /** How many levels are sent, at most 1,000; absent: 200. */
  depths?: number | null;
};

/** What a flame graph shows. */
export type NavigatorFlameWhat =
  | { kind: "tree";
    /** A box's `node`; null for the whole tree. */
    root: number | null }
  | { kind: "merged";
    /** The path. */
    path: Array<string>;
    /** What stands on it. */
    side: NavigatorFlameSide;
    /** The names from the path outwards to the box that is the root; empty: the path itself. */
    along: Array<string>;
};

/** Callers or callees of a merged path. */
export type NavigatorFlameSide = "callers" | "callees";

/** What makes boxes wide in a comparison. Without one it is the cost, whatever is asked for. */
export type NavigatorFlameWidth = "a" | "b" | "change";

/** The boxes of a flame graph that can be seen, as columns: position n of each is box n. Parents come before children. */
export type NavigatorFlame = {
  /** The names that `name` counts. */
  names: Array<string>;
  /** Those of `names` that are processes or threads: no part of a path. */
  containers: Array<number>;
  /** The labels that `label` counts. */
  labels: Array<string>;
  /** The names from the graph's own root to the root that was asked for, this one included: for a breadcrumb. */
  trail: Array<string>;
  /** The nodes of the trail, for `root`; null is the whole tree. Empty for a merged path. */
  trailNodes: Array<number | null>;
  /** The root's cost; what fractions are of when nothing is negative. */
  total: number;
  /** The root's cost on both sides of a comparison. */
  sides: NavigatorSides | null;
  /** How many levels there are of what is wide enough within the visible part, the root's included, sent or not. */
  levels: number;
  /** 0 is the root. */
  depth: Array<number>;
  /** Left end, a fraction of the root. */
  x: Array<number>;
  /** A fraction of the root. */
  width: Array<number>;
  /** A position in `names`. */
  name: Array<number>;
  /** A position in `labels`, or -1. Within several, the innermost. */
  label: Array<number>;
  /** The node, for `root`; -1 is the whole tree. Empty for a merged path. */
  node: Array<number>;
  /** The box that it stands on, a position in these columns; -1 when that is not sent. */
  parent: Array<number>;
  /** The cost with everything that stands on it: in a comparison A's. */
  cost: Array<number>;
  /** The cost of its own: in a comparison A's. */
  own: Array<number>;
  /** In a comparison, B's cost with everything that stands on it; else null. */
  against: Array<number> | null;
};

/** Parameters of `fulcrum/navigator/flameSearch`. */
export type NavigatorFlameSearchParams = {
  /** The navigator. */
  id: NavigatorId;
  /** A part of a name. Upper and lower case are the same. */
  text: string;
  /** Only below this node of the tree; absent: the whole tree. */
  root?: number | null;
};

/** What a text matches in the whole tree. */
export type NavigatorFlameSearchResult = {
  /** Names that hold the text. */
  count: number;
  /** The first hundred of them, those that cost most first. */
  names: Array<string>;
  /** The cost of all matched calls with what they call; what lies within another counts once. In a comparison A - B. */
  cost: number;
  /** That as a fraction of the cost of what was searched, in a comparison of the view's `total`; null when that is 0. */
  share: number | null;
  /** Both sides in a comparison. */
  sides: NavigatorSides | null;
};

/** Parameters of `fulcrum/navigator/frame`. */
export type NavigatorFrameParams = {
  /** The navigator. */
  id: NavigatorId;
  /** A name of the profile. */
  name: string;
};

/** Answer to `fulcrum/navigator/frame`. */
export type NavigatorFrameResult = {
  /** Best first: where the profile says that it is, then definitions by name. */
  locations: Array<NavigatorLocation>;
  /** Why there is none, or may be more; a whole sentence. */
  note: string | null;
};

/** A place in the workspace. */
export type NavigatorLocation = {
  /** The file. */
  uri: string;
  /** 0-based line in the file as it is now. */
  line: number;
  /** 0-based, in the negotiated encoding. */
  character: number;
  /** How it was found. */
  how: NavigatorLocationHow;
};

/** How a place was found. */
export type NavigatorLocationHow = "recorded" | "recordedFile" | "definition";

/** Parameters of `fulcrum/navigator/lines`. */
export type NavigatorLinesParams = {
  /** The navigator. */
  id: NavigatorId;
  /** The document, open or not. */
  uri: string;
};

/** Answer to `fulcrum/navigator/lines`. */
export type NavigatorLines = {
  /**
   * Ascending by line: those that ran, when the profile knows lines of this document, else one a function of the profile
   * that is declared in it. In a comparison lines need both sides to have run the same code of the document.
   */
  lines: Array<NavigatorLine>;
  /**
   * Why there are no lines that ran: they could not be read, or the sides of a comparison ran different code. A whole
   * sentence, which the hovers of functions have, too.
   */
  note: string | null;
};

/** What a line of a document, or the function that it declares, costs. */
export type NavigatorLine = {
  /** 0-based line in the document as it is now. */
  line: number;
  /** Whose cost it is. */
  kind: NavigatorLineKind;
  /** 1-based line as recorded; null when the profile has only the name. */
  recordedLine: number | null;
  /**
   * `exact`: declared where the profile says, or a line that ran, in a function that is still there; `moved`: elsewhere, or
   * the profile says only the name; `stale`: not found any more.
   */
  state: LineState;
  /** The function's name in the profile. */
  name: string;
  /** Its own cost, in the unit of the value type; in a comparison, A's less B's. */
  base: number;
  /** Its cost with everything that it calls; in a comparison, A's less B's. */
  cum: number;
  /** The base as a fraction of the view's `total`. 0 when that is 0. */
  baseShare: number;
  /** The cum as a fraction of the same. */
  cumShare: number;
  /** Both sides in a comparison. */
  sides: NavigatorPathSides | null;
  /** The gutter's shape, by the greater of base and a tenth of cum. */
  heat: NavigatorHeat;
  /** In words: `12 (30.0 %) here, 40 (100 %) with calls`; in a comparison `+40 here (A 90 − B 50)`. */
  text: string;
  /** Markdown for a hover: what it costs, of what, in which profile, and what that does not say. */
  hover: string;
};

/** What a line costs. */
export type NavigatorLineKind = "function" | "line";

/** How much a function costs. In a comparison, how much dearer or cheaper it became. */
export type NavigatorHeat = "cold" | "hot1" | "hot2" | "hot3" | "hot4" | "less1" | "less2" | "less3";

/** Parameters of `fulcrum/navigator/names`. */
export type NavigatorNamesParams = {
  /** The navigator. */
  id: NavigatorId;
  /** How many names to send at most. */
  count: number;
};

/** Answer to `fulcrum/navigator/names`. */
export type NavigatorNames = {
  /** The version of the rules. Under another one labels may not find their paths. */
  version: number;
  /** All rules, in the order in which they are applied. */
  rules: Array<NavigatorNameRule>;
  /** Names that they changed, sorted by what they were. */
  renamed: Array<NavigatorRenamed>;
  /** How many were not sent. */
  more: number;
};

/** A rule that makes names alike. */
export type NavigatorNameRule = {
  /** As `names` of `fulcrum/navigator/open` takes it. */
  name: string;
  /** An example, and what becomes of it. */
  before: string;
  /** What becomes of the example. */
  after: string;
  /** It is applied unless another choice is made. */
  byDefault: boolean;
  /** It was applied to this profile. */
  applied: boolean;
  /** Different names of this profile that it changed. */
  names: number;
};

/** A name that rules changed. */
export type NavigatorRenamed = {
  /** As the file has it. */
  raw: string;
  /** As paths know it. */
  name: string;
  /** The rules that changed it, in this order. */
  rules: Array<string>;
};

/** Parameters of `fulcrum/navigator/report`. */
export type NavigatorReportParams = {
  /** The navigator. */
  id: NavigatorId;
};

/** Answer to `fulcrum/navigator/report`. */
export type NavigatorReport = {
  /** The labels with paths, costs, overlap and estimate. */
  markdown: string;
};

/** Parameters of `fulcrum/navigator/close`. */
export type NavigatorCloseParams = {
  /** The navigator. */
  id: NavigatorId;
};

/** Parameters of `fulcrum/trace/start`. */
export type TraceParams = {
  /** `java`, as a path or a name looked up in `PATH`, or a program that starts one. */
  program: string;
  /** Its arguments, without the program itself. */
  args: Array<string>;
  /** Its working folder, absolute. */
  cwd: string;
  /** The folder that holds `.fulcrum/runs`, absolute. */
  workspace: string;
  /** The filter's text; absent: calls of all methods that are not the Java platform's, and everything that is rare. */
  filter?: string | null;
  /** Methods whose arguments and results are logged, when they are observed: `CLASS.METHOD`, `*` stands for anything. */
  values?: Array<string>;
  /** The log's largest size, bytes; absent: 1 GiB. */
  limit?: number | null;
  /** The program is stopped after this long; absent: it runs to its end. */
  durationSeconds?: number | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Parameters of `fulcrum/trace/live`. */
export type TraceLiveParams = {
  /** The request's `workDoneToken`. */
  token: ProgressToken | null;
  /** The run folder. */
  run: string;
  /** Since the program started. */
  elapsedSeconds: number;
  /** Bytes of its event logs. */
  bytes: number;
  /** All of this in a few words: `12 s · 3.4 MB of events`. */
  message: string;
};

/** Answer to `fulcrum/trace/start`: how the recording ended. */
export type TraceOutcome = {
  /** The run folder. */
  run: string;
  /** Its event logs, one for each Java virtual machine, for `fulcrum/events/open`. */
  logs: Array<string>;
  /** How the program ended, as a sentence. */
  exit: string;
  /** Whether it ended by itself and with status 0. */
  endedNormally: boolean;
  /** Whole sentences on why there is nothing, or less than there could be. */
  notes: Array<string>;
};

/** Parameters of `fulcrum/refine/start`. */
export type RefineParams = {
  /** `java`, as a path or a name looked up in `PATH`, or a program that starts one. */
  program: string;
  /** Its arguments, without the program itself. */
  args: Array<string>;
  /** Its working folder, absolute. */
  cwd: string;
  /** The folder that holds `.fulcrum/runs`, absolute. */
  workspace: string;
  /** What a hotspot is: `inherent wall >= 50us after 1000`, which is also what is meant when it is absent. */
  rule?: string | null;
  /** Where the first set of methods comes from; absent: all methods that are not the Java platform's. */
  from?: RefineFrom | null;
  /** A method whose calls are the units of work, `Class.method`; absent: the whole run is one. */
  unit?: string | null;
  /** At most so many iterations; absent: 6. */
  iterations?: number | null;
  /** Runs of each iteration, each beside one without instrumentation; absent: 3. */
  runs?: number | null;
  /** So many excluded methods are looked at again in each iteration; absent: 5. */
  recheck?: number | null;
  /** Which of them is decided by this number; absent: 1. */
  seed?: number | null;
  /** Each run is stopped after this long: for programs that do not end by themselves. */
  durationSeconds?: number | null;
  /** The program keeps running: each run is a session of this length in it, and classes are changed in between. */
  keepRunningSeconds?: number | null;
  /** With `keepRunningSeconds`: a program that is running already, by its process; `program` only names it. */
  attach?: number | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Where the first set of methods comes from. */
export type RefineFrom =
  | { kind: "filter";
    /** Its text. */
    text: string }
  | { kind: "labels";
    /** The file, absolute. */
    file: string }
  | { kind: "navigator";
    /** Its number. */
    id: NavigatorId }
  | { kind: "run";
    /** Its folder, absolute. */
    run: string;
};

/** One iteration of the loop. */
export type RefineIteration = {
  /** From 1. */
  number: number;
  /** The run that it was measured by, for `fulcrum/events/open`. */
  run: string;
  /** The file of the filter that it ran with. */
  filter: string;
  /** Methods that had probes. */
  methods: number;
  /** Classes of these methods. */
  classes: number;
  /** Calls of these methods, in the mean of the iteration's runs: each fired a probe. */
  fired: number;
  /** Those of them that were measured, in the mean of the iteration's runs. */
  metered: number;
  /** Methods that are hotspots by the rule. */
  hotspots: number;
  /** Units of work, in the mean of the iteration's runs. */
  units: number;
  /** Time of a unit of work, nanoseconds; null when no run came to its end. */
  wallNs: number | null;
  /** CPU time of a unit of work, nanoseconds. */
  cpuNs: number | null;
  /** The same of the runs without instrumentation. */
  baselineWallNs: number | null;
  /** The same of the runs without instrumentation. */
  baselineCpuNs: number | null;
  /** What instrumentation added to a unit's time, a fraction of the time without; null without a pair of runs. */
  overhead: number | null;
  /** Lower end of its 95 % interval; null for a single pair of runs. */
  overheadLow: number | null;
  /** Upper end of its 95 % interval. */
  overheadHigh: number | null;
  /** What instrumentation added to a unit's CPU time. */
  cpuOverhead: number | null;
  /** Lower end of its 95 % interval. */
  cpuOverheadLow: number | null;
  /** Upper end of its 95 % interval. */
  cpuOverheadHigh: number | null;
  /** Excluded methods that were looked at again. */
  rechecked: Array<string>;
  /** Those of them that are hotspots after all. */
  found: Array<string>;
};

/** Parameters of `fulcrum/refine/live`. */
export type RefineLiveParams = {
  /** The request's `workDoneToken`. */
  token: ProgressToken | null;
  /** The iterations so far. The last one may be going on: its numbers are those of its runs so far. */
  iterations: Array<RefineIteration>;
  /** 0 to 1, if all iterations were needed. */
  fraction: number;
  /** What is going on: `iteration 2 of at most 6 · 212 methods · run 1 of 3`. */
  message: string;
};

/** Parameters of `fulcrum/refine/open`. */
export type RefineOpenParams = {
  /** The folder of an iteration, absolute. */
  run: string;
};

/** Parameters of `fulcrum/refine/frame`. */
export type RefineFrameParams = {
  /** The folder of an iteration, absolute. */
  run: string;
  /** The method, as among the table's `hotspots`. */
  method: string;
};

/** Answer to `fulcrum/refine/start` and `fulcrum/refine/open`. */
export type RefineOutcome = {
  /** All iterations that were measured. */
  iterations: Array<RefineIteration>;
  /** The set of methods did not change any more. */
  stable: boolean;
  /** The file of the filter that the loop ended with. */
  filter: string;
  /** Its methods. */
  hotspots: Array<string>;
  /** How the loop ended, as a sentence. */
  exit: string;
  /** Whole sentences on what a reader should know. */
  notes: Array<string>;
};

/** Parameters of `fulcrum/events/open`. */
export type EventsOpenParams = {
  /** A run's folder or its `run.json`, or one event log of a run that has several. */
  run: string;
  /** A filter file: only what it would have observed is seen. */
  filter?: string | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Answer to `fulcrum/events/open`. */
export type EventsOpened = {
  /** The trace's number for all further requests. */
  id: TraceId;
  /** The log in a few words. */
  title: string;
  /** The log that was opened. */
  path: string;
  /** By number; 1 is the virtual machine itself. */
  threads: Array<EventsThread>;
  /** The first event. */
  startNs: number;
  /** The last event. */
  endNs: number;
  /** All events. */
  events: number;
  /** Events that found no place in the log; more were not even tried. */
  lost: number;
  /** Whether the log tells CPU times. */
  hasCpu: boolean;
  /** Pairs of methods that look as if they put into and took from a queue, those that are called most first. */
  queues: Array<EventsQueueNames>;
  /** Whether there is any such pair. */
  hasQueues: boolean;
  /** What a reader should know, whole sentences. */
  notes: Array<string>;
};

/** A thread of the traced program. */
export type EventsThread = {
  /** Its number. */
  id: ThreadId;
  /** Its name when it began. */
  name: string;
  /** Its thread group, or empty. */
  group: string;
  /** The thread that started it; null when it is not known. */
  parent: ThreadId | null;
  /** Its first event. */
  startNs: number;
  /** Its last event. */
  endNs: number;
  /** How many events it has. */
  events: number;
  /** How many rows stand at the top of its tree. */
  rows: number;
  /** From its first event to its last. */
  wallNs: number;
  /** CPU time from its first to its last event; null where the log does not tell it. */
  cpuNs: number | null;
};

/** A part of a trace. */
export type EventsPart = {
  /** Only this thread; absent: all threads. */
  thread?: ThreadId | null;
  /** Only what is inside of this node of the thread, itself included; absent: all of it. */
  node?: NodeId | null;
  /** Only calls that began at this time or later. */
  leftNs?: number | null;
  /** Only calls that began before this time. */
  rightNs?: number | null;
};

/** Parameters of `fulcrum/events/tree`. */
export type EventsTreeParams = {
  /** The trace. */
  id: TraceId;
  /** What is folded into a call tree. */
  part: EventsPart;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Parameters of `fulcrum/events/filter`. */
export type EventsFilterParams = {
  /** The trace. */
  id: TraceId;
  /** What the next filter should still observe. */
  part: EventsPart;
  /** A method is kept when its mean self time is at least this, nanoseconds; absent: 50,000, as JPMT's refinement. */
  selfWallNs?: number | null;
};

/** Answer to `fulcrum/events/filter`. */
export type EventsFilter = {
  /** The text of a `.fulcrum-filter`. */
  text: string;
  /** Methods of the part that it still observes. */
  kept: number;
  /** Methods of the part that it no longer observes. */
  dropped: number;
  /** The calls of the part's methods that it would not have logged. */
  droppedCalls: number;
};

/** Parameters of `fulcrum/events/frame`. */
export type EventsFrameParams = {
  /** The trace. */
  id: TraceId;
  /** A method's number, as rows have it. */
  method: MethodId;
};

/** Parameters of `fulcrum/events/close`. */
export type EventsCloseParams = {
  /** The trace. */
  id: TraceId;
};

/** Methods of a queue. */
export type EventsQueueNames = {
  /** The methods that put: `CLASS.METHOD`, `*` stands for anything, commas separate several. */
  put: string;
  /** The methods that take one. */
  take: string;
};

/** By what puts and takes are joined. */
export type EventsQueueOrder = "fifo" | "lifo" | "identity";

/** Parameters of `fulcrum/events/queues`. */
export type EventsQueuesParams = {
  /** The trace. */
  id: TraceId;
  /** The methods that put: `CLASS.METHOD`, `*` stands for anything, commas separate several. */
  put: string;
  /** The methods that take one. */
  take: string;
  /** By what they are joined; absent: by objects where the log tells these, else first in, first out. */
  order?: EventsQueueOrder | null;
  /** The first request that is wanted, from 0. */
  from: number;
  /** How many, at most 10,000. */
  count: number;
};

/**
 * Answer to `fulcrum/events/queues`, after which rows of the tree have their queueing column, and of `fulcrum events queues
 * --json`.
 */
export type EventsQueues = {
  /** By what puts and takes were joined. */
  order: EventsQueueOrder;
  /** What that assumes, whole sentences. */
  assumed: string;
  /** The queues, in the order of their first puts: one, unless the log tells several apart. */
  queues: Array<EventsQueueObject>;
  /** Requests in the order in which they were put. */
  requests: Array<EventsRequest>;
  /** How many there are in all. */
  total: number;
  /** Sums over all requests. */
  summary: EventsQueueSummary;
  /** Takes that returned without a request. */
  emptyTakes: number;
  /** Puts and takes that ended by an exception. */
  thrown: number;
  /** Puts that returned false. */
  rejected: number;
  /** Takes of an object that no put had brought until then. */
  beforePut: number;
  /** Takes that returned another object than the chosen order says. */
  mismatched: number;
  /** Requests that were taken after one that was put later; null: the order was assumed. */
  overtaken: number | null;
  /** What could not be matched and why, whole sentences. */
  notes: Array<string>;
};

/** One of the queues that were replayed together. */
export type EventsQueueObject = {
  /** The number of the object that is put into; null where that is not told, and all are taken for one. */
  object: number | null;
  /** Requests that were put. */
  put: number;
  /** Of these, taken. */
  taken: number;
  /** Most requests in it. */
  lengthMax: number;
};

/** A request: what its receiver and its dispatcher did, joined, by the object that was put and taken, or else by the order. */
export type EventsRequest = {
  /** From 1, in the order of puts. */
  number: number;
  /** The thread that put it. */
  putThread: ThreadId;
  /** The put's node. */
  putNode: NodeId;
  /** When the put had returned: the request is in the queue. */
  enqueueNs: number;
  /** Requests in the queue after the put. */
  putLength: number;
  /** The thread that took it; null: it was never taken. */
  takeThread: ThreadId | null;
  /** The take's node. */
  takeNode: NodeId | null;
  /** When the take had returned it. */
  dispatchNs: number | null;
  /** Requests in the queue after the take. */
  takeLength: number | null;
  /** When its dispatcher came back for another one; null: it never did. */
  finishNs: number | null;
  /** Dispatch less enqueue. */
  waitNs: number | null;
  /** Finish less dispatch. */
  serviceNs: number | null;
  /**
   * False when its take returned another object, and from where on the log contradicts that this is one queue of this
   * order; `notes` say why.
   */
  sure: boolean;
  /** The number of the object that it was put into; null where queues are not told apart. */
  queue: number | null;
  /** The number of the object that was put; null when the log does not tell it. */
  object: number | null;
};

/** Sums over a queue's requests; null where there is nothing to add up. */
export type EventsQueueSummary = {
  /** Requests that were put. */
  put: number;
  /** Of these, taken. */
  taken: number;
  /** Puts a second, from the first to the last. */
  arrivalRate: number | null;
  /** Mean time in the queue. */
  waitMeanSeconds: number | null;
  /** Its variance, in seconds squared. */
  waitVarianceSeconds2: number | null;
  /** Longest time in the queue. */
  waitMaxSeconds: number | null;
  /** Mean time from dispatch to finish. */
  serviceMeanSeconds: number | null;
  /** Its variance, in seconds squared. */
  serviceVarianceSeconds2: number | null;
  /** Most requests in the queue. */
  lengthMax: number;
};

/** Parameters of `fulcrum/events/children`. */
export type EventsChildrenParams = {
  /** The trace. */
  id: TraceId;
  /** The thread. */
  thread: ThreadId;
  /** Whose children; absent: the top of the thread's tree. */
  node?: NodeId | null;
  /** In which order; absent: time. */
  order?: EventsOrder | null;
  /** The first row that is wanted, from 0. */
  from: number;
  /** How many, at most 1,000. */
  count: number;
};

/** The order of rows. */
export type EventsOrder = "time" | "wall" | "cpu" | "selfWall";

/** Answer to `fulcrum/events/children`. */
export type EventsRows = {
  /** The rows that were asked for, as far as there are. */
  rows: Array<EventsRow>;
  /** How many there are in all. */
  total: number;
};

/** An event with a duration, or one without. */
export type EventsRow = {
  /** Its thread. */
  thread: ThreadId;
  /** Its number in the thread. */
  node: NodeId;
  /** What it is. */
  kind: EventsKind;
  /** A method with its class, a class with the object's number, or what else there is to say. */
  name: string;
  /** The method's number; null for what is no call. */
  method: MethodId | null;
  /** The number of the object that was waited for or made; null when there is none or it is not known. */
  object: number | null;
  /** When it began. */
  startNs: number;
  /** How long it took, without what probes cost; null for what has no duration. */
  wallNs: number | null;
  /** CPU time, likewise. */
  cpuNs: number | null;
  /** Wall time less that of its children. */
  selfWallNs: number | null;
  /** CPU time less that of its children. */
  selfCpuNs: number | null;
  /** What was subtracted from the wall time because probes cost it. */
  probesNs: number;
  /** How many rows are directly below. */
  children: number;
  /** How it ended. */
  ended: EventsEnd;
  /** A put or a take of the queue that was replayed last; null for everything else. */
  queue: EventsQueueCell | null;
  /** What a call was given and returned; null where the log does not tell it. */
  values: EventsCallValues | null;
};

/** What a call was given and returned (`observe_values` in the filter). */
export type EventsCallValues = {
  /** The first of its arguments; null when it has none. */
  arguments: Array<EventsValue> | null;
  /** How many more arguments it has, which are not logged. */
  moreArguments: number;
  /** What it returned; null when it returned nothing, or did not return. */
  returned: EventsValue | null;
  /** All of it as it is shown behind the name: `(1, "two", …) → 3`. */
  text: string;
};

/** An argument or a result. */
export type EventsValue = {
  /** What it is. */
  kind: EventsValueKind;
  /** The value: digits, the text as it is, the name of an object's class. */
  value: string;
  /** Only the beginning of a text is logged. */
  cut: boolean;
};

/** What a value is. */
export type EventsValueKind = "unknown" | "integer" | "boolean" | "character" | "real" | "text" | "null" | "object" | "address" | "named";

/** What an event is. */
export type EventsKind = "call" | "contended" | "wait" | "gc" | "allocation" | "release" | "threadStart" | "threadEnd" | "classLoad" | "classUnload" | "vmStart" | "vmEnd";

/** How an event ended. */
export type EventsEnd = "returned" | "thrown" | "open" | "lost";

/** What the *queueing* column says (JPMT, Figs. 10 and 11). */
export type EventsQueueCell = {
  /** The request's number, from 1; null when it could not be told which request it was. */
  number: number | null;
  /** Requests in the queue after this call. */
  length: number;
  /** At a take: how long the request was in the queue. */
  waitNs: number | null;
};

/** Parameters of `fulcrum/events/search`. */
export type EventsSearchParams = {
  /** The trace. */
  id: TraceId;
  /** A part of a name. Upper and lower case are the same. */
  text?: string | null;
  /** Or a condition as `fulcrum events query` takes it: `method ~ "*.get" and wall > 1ms`. */
  expression?: string | null;
  /** Where it is searched. */
  part: EventsPart;
  /** Where to go on: the `next` of the answer before; absent: from the beginning. */
  from?: EventsPlace | null;
  /** At most so many, up to 1,000; absent: 100. */
  count?: number | null;
};

/** A node of a thread. */
export type EventsPlace = {
  /** The thread. */
  thread: ThreadId;
  /** The node. */
  node: NodeId;
};

/** Answer to `fulcrum/events/search`. */
export type EventsFound = {
  /** Thread by thread, each in the order of time. */
  hits: Array<EventsHit>;
  /** Where to go on; null when all was searched. */
  next: EventsPlace | null;
};

/** What was found, and where it is in the tree. */
export type EventsHit = {
  /** The row. */
  row: EventsRow;
  /** What it is inside of, outermost first, each with its place among its siblings in the order of time. */
  above: Array<EventsStep>;
  /** Its own place among its siblings. */
  position: number;
};

/** A node on the way to another. */
export type EventsStep = {
  /** The node. */
  node: NodeId;
  /** Its place among its siblings in the order of time, from 0. */
  position: number;
};

/** Parameters of `fulcrum/events/query`. */
export type EventsQueryParams = {
  /** The trace. */
  id: TraceId;
  /** A query as `fulcrum events query` takes it. */
  query: string;
  /** At most so many rows, up to 10,000; absent: 1,000. */
  count?: number | null;
};

/** Answer to `fulcrum/events/query`: a table. */
export type EventsTable = {
  /** The columns. */
  columns: Array<EventsColumn>;
  /** Cells: a number, a text, or null where there is nothing. */
  rows: (number | string | null)[][];
  /** Whether there are more rows. */
  more: boolean;
  /** What had to be left out, whole sentences. */
  notes: Array<string>;
};

/** A column of a table. */
export type EventsColumn = {
  /** What it holds, as the query names it. */
  name: string;
  /** `ns`, `bytes`, or empty for texts and plain numbers. */
  unit: string;
};

/** Parameters of `fulcrum/events/timeline`. */
export type EventsTimelineParams = {
  /** The trace. */
  id: TraceId;
  /** The visible part: its beginning. */
  leftNs: number;
  /** Its end. */
  rightNs: number;
  /** How wide that is on screen, at most 8,000: nothing narrower than a pixel is told apart. */
  width: number;
  /** Which threads; absent: all, at most 200 of them. */
  threads?: Array<ThreadId> | null;
  /** How many levels of calls are sent, at most 100; absent: 0. */
  depths?: number | null;
};

/** Answer to `fulcrum/events/timeline`. */
export type EventsTimeline = {
  /** In the order that was asked for. */
  threads: Array<EventsTimelineThread>;
  /** Garbage collections of the whole virtual machine. */
  collections: EventsIntervals;
  /** The names that `calls.name` counts. */
  names: Array<string>;
};

/** A thread's part of a timeline. */
export type EventsTimelineThread = {
  /** The thread. */
  id: ThreadId;
  /** What it did, from left to right. */
  states: EventsStates;
  /** Calls at least a pixel wide, level by level of the thread's tree. */
  calls: EventsCalls;
  /** How many levels there are of such calls, sent or not. */
  levels: number;
};

/** Intervals, as columns: position n of each is interval n. They do not overlap. */
export type EventsIntervals = {
  /** Where each begins. */
  startNs: Array<number>;
  /** Where each ends. */
  endNs: Array<number>;
};

/** States, as columns. They do not overlap; where there is none, the thread was not there. */
export type EventsStates = {
  /** Where each begins. */
  startNs: Array<number>;
  /** Where each ends. */
  endNs: Array<number>;
  /** What most of this time was. */
  state: Array<EventsState>;
  /** The part of the time that the thread was on a processor, 0 to 1; -1 where the log does not tell it. */
  cpu: Array<number>;
};

/** What a thread does. */
export type EventsState = "running" | "contended" | "waiting" | "parked";

/** Calls, as columns: position n of each is call n, level by level. */
export type EventsCalls = {
  /** When each began. */
  startNs: Array<number>;
  /** When each ended. */
  endNs: Array<number>;
  /** 0 is the top of the thread's tree. */
  depth: Array<number>;
  /** A position in `names`. */
  name: Array<number>;
  /** The node. */
  node: Array<NodeId>;
};

/** Parameters of `fulcrum/events/compare`. */
export type EventsCompareParams = {
  /** The trace that is looked at. */
  a: TraceId;
  /** What it is compared with: the trace before. */
  b: TraceId;
  /** The first row that is wanted, from 0. */
  from: number;
  /** How many, at most 10,000. */
  count: number;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Answer to `fulcrum/events/compare`, and of `fulcrum events compare --json`. */
export type EventsComparison = {
  /** Threads of the same role, and how many there are on each side. */
  roles: Array<EventsRole>;
  /** Rows whose time changed most come first. */
  rows: Array<EventsDifference>;
  /** How many rows there are in all. */
  total: number;
  /** How many rows there are of each change. */
  counts: EventsChangeCounts;
  /** What a reader should know, whole sentences. */
  notes: Array<string>;
};

/** Threads that do the same work: their names without numbers, below the same parents. */
export type EventsRole = {
  /** The name: `Dispatcher-#`, and the role of the thread that started it when that tells two apart. */
  name: string;
  /** Threads in A. */
  a: number;
  /** Threads in B. */
  b: number;
};

/** A path of a role in both traces. */
export type EventsDifference = {
  /** The threads. */
  role: string;
  /** Names from the outermost call to the one that is compared. */
  path: Array<string>;
  /** What became of it. */
  change: EventsChange;
  /** In A; null: it is not there. */
  a: EventsPathSums | null;
  /** In B; null: it is not there. */
  b: EventsPathSums | null;
  /** Own wall time of A less that of B, nanoseconds: what rows are ordered by. */
  selfWallNs: number;
};

/** What a path adds up to on one side. Times are nanoseconds, of all calls together. */
export type EventsPathSums = {
  /** How often. */
  count: number;
  /** Wall time. */
  wallNs: number;
  /** CPU time; null where the log does not tell it. */
  cpuNs: number | null;
  /** Wall time less that of what is inside. */
  selfWallNs: number;
  /** The first of these in the log, to look at. */
  thread: ThreadId;
  /** Its node. */
  node: NodeId;
};

/** What became of a path from B to A. */
export type EventsChange = "appeared" | "vanished" | "slower" | "faster" | "count" | "same";

/** How many rows there are of each change. */
export type EventsChangeCounts = {
  /** Only in A. */
  appeared: number;
  /** Only in B. */
  vanished: number;
  /** Slower in A. */
  slower: number;
  /** Faster in A. */
  faster: number;
  /** Another number of them. */
  count: number;
  /** None of these. */
  same: number;
};

/** Parameters of `fulcrum/transactions/start`. */
export type TransactionsStartParams = {
  /** A server, or what starts one: a path, or a name looked up in `PATH`. */
  program: string;
  /** Its arguments, without the program itself. */
  args: Array<string>;
  /** Its working folder, absolute. */
  cwd: string;
  /** The folder that holds `.fulcrum/runs`, absolute. */
  workspace: string;
  /** Requests are named by the first bytes of messages, which are kept in the run for that; absent: they are. */
  names?: boolean | null;
  /**
   * How much recording may slow the program down in the long run, as a fraction above 0 and below 1: a busy program for which it
   * costs more is recorded in windows. Absent: 0.03.
   */
  maxOverhead?: number | null;
  /** Whether recording pauses to keep `maxOverhead`; absent: it does. Without pauses everything is recorded, whatever it costs. */
  pauses?: boolean | null;
  /** All its processes are stopped after this long; absent: they run to their ends. */
  durationSeconds?: number | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Parameters of `fulcrum/transactions/live`. */
export type TransactionsLiveParams = {
  /** The recording's `workDoneToken`. */
  token: ProgressToken | null;
  /** The run folder: `fulcrum/transactions/open` shows what it has so far. */
  run: string;
  /** Since the program started. */
  elapsedSeconds: number;
  /** Processes that were recorded so far. */
  processes: number;
  /** Of those, how many have not ended. */
  running: number;
  /** CPU samples so far. */
  samples: number;
  /** Bytes of all logs. */
  bytes: number;
  /** All of this in a few words: `12 s · 5 processes, 4 running · 1,234 samples · 3.40 MB`. */
  message: string;
};

/** Answer to `fulcrum/transactions/start`: how the recording ended. */
export type TransactionsOutcome = {
  /** The run folder, for `fulcrum/transactions/open`. */
  run: string;
  /** How the program ended, as a sentence. */
  exit: string;
  /** Whether it ended by itself and with status 0. */
  endedNormally: boolean;
  /** Whole sentences on why there is less than there could be. */
  notes: Array<string>;
};

/** Parameters of `fulcrum/transactions/open`. */
export type TransactionsOpenParams = {
  /** The run's folder, its `run.json` or one of its logs, absolute. */
  run: string;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** A type of a run. */
export type TransactionsTypeOf = {
  /** The run, as for `fulcrum/transactions/open`. */
  run: string;
  /** The type's name. */
  type: string;
};

/** Parameters of `fulcrum/transactions/tree`. */
export type TransactionsTreeParams = {
  /** What is looked at. */
  of: TransactionsTypeOf;
  /**
   * What it is compared with: another type, or the same in another run. Costs are then those of one transaction, where both
   * have several.
   */
  against?: TransactionsTypeOf | null;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Parameters of `fulcrum/transactions/compare`. */
export type TransactionsCompareParams = {
  /** A, the run that is looked at, as for `fulcrum/transactions/open`. */
  run: string;
  /** B, the run that it is compared with. */
  against: string;
  /** Progress is reported on this token (`$/progress`) and can be cancelled by it. */
  workDoneToken?: ProgressToken | null;
};

/** Parameters of `fulcrum/transactions/frame`. */
export type TransactionsFrameParams = {
  /** The run, as for `fulcrum/transactions/open`. */
  run: string;
  /** The name of a function. */
  name: string;
};

/** Parameters of `fulcrum/transactions/price`. */
export type TransactionsPriceParams = {
  /** The run, as for `fulcrum/transactions/open`. Its program is started again, in the same folder with the same arguments. */
  run: string;
  /** Who waits: the name of a type. */
  waiter: string;
  /** For whom. */
  holder: string;
  /** At which lock, as `CrosstalkPair` names it. */
  lock: string;
  /** How long the program runs at most. */
  durationSeconds: number;
  /**
   * Progress is reported on this token (`$/progress`) and can be cancelled by it: the program is stopped, and what was measured
   * so far is the answer.
   */
  workDoneToken?: ProgressToken | null;
};

/** The types of two runs: answer to `fulcrum/transactions/compare` and of `fulcrum transactions compare --json`. */
export type TransactionsCompared = {
  /** The types of both, those that cost the most CPU time in either first. */
  types: Array<TransactionsComparedType>;
  /** What a reader should know. Whole sentences. */
  notes: Array<string>;
};

/** A type in A and in B. */
export type TransactionsComparedType = {
  /** Its name. */
  name: string;
  /** In A; null when A has none of that name. */
  a: TransactionsTypeCost | null;
  /** In B; null when B has none of that name. */
  b: TransactionsTypeCost | null;
  /** CPU time of a transaction, A less B; null unless both have several. */
  cpu: TransactionsDifference | null;
  /** Wall time of a transaction, A less B; null unless both have several. */
  wall: TransactionsDifference | null;
};

/** What the transactions of a type cost. */
export type TransactionsTypeCost = {
  /** Transactions that threads worked for under its name, in any process. */
  transactions: number;
  /** CPU time, nanoseconds. */
  cpuNs: number;
  /** The part of that which is known of no single transaction, nanoseconds. */
  leftOutNs: number;
  /** Mean CPU time of a transaction, nanoseconds; null of fewer than two. */
  cpuMeanNs: number | null;
  /** Mean wall time of those that began under its name, nanoseconds; null when none did. */
  wallMeanNs: number | null;
  /** Their median wall time, nanoseconds. */
  wallP50Ns: number | null;
  /** Wall time that 99 % of them do not exceed, nanoseconds. */
  wallP99Ns: number | null;
};

/** A difference of means, each transaction being an observation, by Welch's t-test. */
export type TransactionsDifference = {
  /** A less B, nanoseconds. */
  ns: number;
  /** The lower end of its 95 % interval. */
  lowNs: number;
  /** The upper end. */
  highNs: number;
  /** How probable a difference so great is when there is none. */
  p: number;
  /** Whether it is significant: p is below 0.01. */
  significant: boolean;
};

/** Answer to `fulcrum/transactions/open`. */
export type TransactionsOpened = {
  /** The run's folder. */
  run: string;
  /** What `fulcrum transactions show` tells. */
  shown: TransactionsShown;
  /** What `fulcrum transactions crosstalk` tells. It has no notes of its own here. */
  crosstalk: TransactionsCrosstalk;
  /**
   * How single transactions went through threads and processes: of each type the slowest, and others drawn by chance; those
   * of one type stand together, the slowest first.
   */
  ways: Array<TransactionWay>;
};

/** How one transaction went through threads and processes. */
export type TransactionWay = {
  /** Its type's name. */
  type: string;
  /** When it began, nanoseconds after the first of all transactions that are shown. */
  beganNs: number;
  /** How long it took until its last answer, or until the last that was done for it, nanoseconds. */
  wallNs: number;
  /** It was answered. */
  replied: boolean;
  /** What the first of its requests that told of a trace told, as the header `traceparent` has it (W3C Trace Context). */
  traceParent: string | null;
  /** Who worked for it when, by their beginnings. */
  stays: Array<TransactionStay>;
  /** How many stays came after these and are not told. */
  leftOut: number;
};

/** A thread works for a transaction, or waits for others on its behalf. */
export type TransactionStay = {
  /** The process's number. */
  pid: number;
  /** Its program. */
  process: string;
  /** The kernel's number of the thread. */
  tid: number;
  /** The thread's name. */
  thread: string;
  /** What it does there: the handler, the stage, or where the transaction was handed on. */
  stage: string;
  /** The innermost function on the transaction's way to there that the source is known of, for `fulcrum/transactions/frame`. */
  source: string | null;
  /** From when, nanoseconds after the transaction's beginning; negative where clocks differ. */
  fromNs: number;
  /** Until when. */
  toNs: number;
};

/** Answer of `fulcrum transactions show --json`. */
export type TransactionsShown = {
  /** CPU time of all samples, nanoseconds. */
  totalCpuNs: number;
  /** All types, those that cost the most CPU time first. */
  types: Array<TransactionType>;
  /** What all types together cost by program and thread, the most expensive first. */
  stages: Array<TransactionStage>;
  /** How transactions came from one stage to another, the most frequent first. */
  flows: Array<TransactionFlow>;
  /** What a reader should know. Whole sentences. */
  notes: Array<string>;
};

/** A type of transaction. */
export type TransactionType = {
  /** Its name: the request, or the path that it took. */
  name: string;
  /** What all its contexts begin with, a stage each: `listener_thread > ap_queue_push`. */
  context: Array<string>;
  /** The functions, handlers and stages in that, for `fulcrum/transactions/frame`. */
  functions: Array<string>;
  /** Transactions that began in a recorded process. */
  count: number;
  /** Of these, how many got no reply. */
  unreplied: number;
  /** CPU time in all processes, nanoseconds. */
  cpuNs: number;
  /** Of all CPU time, 0 to 1. */
  cpuShare: number;
  /** Mean wall time of a transaction, nanoseconds; null without transactions. */
  wallMeanNs: number | null;
  /** Median wall time, nanoseconds. */
  wallP50Ns: number | null;
  /** Wall time that 95 % do not exceed, nanoseconds. */
  wallP95Ns: number | null;
  /** Wall time that 99 % do not exceed, nanoseconds. */
  wallP99Ns: number | null;
  /** How long its transactions waited for others at locks, together, nanoseconds. */
  waitNs: number;
  /** Where its CPU time went, the most expensive first. */
  stages: Array<TransactionStage>;
};

/** CPU time in the threads of one name in the processes of one program. */
export type TransactionStage = {
  /** The program. */
  process: string;
  /** The thread's name. */
  thread: string;
  /** CPU time, nanoseconds. */
  cpuNs: number;
  /** Of all CPU time, 0 to 1. */
  cpuShare: number;
};

/** Transactions that went from one stage to another. */
export type TransactionFlow = {
  /** By what. */
  kind: TransactionFlowKind;
  /** The program in which they were produced. */
  fromProcess: string;
  /** Where: the function, the handler, the stage. */
  from: string;
  /** The program in which they were consumed. */
  toProcess: string;
  /** Where. */
  to: string;
  /** How often. */
  count: number;
};

/** By what a transaction went from one stage to another. */
export type TransactionFlowKind = "memory" | "event" | "stage" | "message";

/** Answer of `fulcrum transactions crosstalk --json`: who waits for whom. */
export type TransactionsCrosstalk = {
  /** All waits, nanoseconds. */
  waitNs: number;
  /** Waits by pair and lock, the longest first. */
  pairs: Array<CrosstalkPair>;
  /** What a reader should know. Whole sentences. */
  notes: Array<string>;
};

/** Waits of one type for another at one lock. */
export type CrosstalkPair = {
  /** Who waited. */
  waiter: string;
  /** For whom: a type, `no transaction`, or `unknown`. */
  holder: string;
  /** The lock's name or address. */
  lock: string;
  /** `mutex`, `rwlock`, `condition`, `futex`, `monitor`. */
  kind: string;
  /** How often. */
  count: number;
  /** How long together, nanoseconds. */
  waitNs: number;
  /** The mean wait, nanoseconds. */
  meanNs: number;
  /** Where both were, the longest waits first; of very many, some are missing. */
  paths: Array<CrosstalkPaths>;
  /** What the holder's section is worth, as it was measured last; null when it was not. */
  price: CrosstalkPrice | null;
  /** What the waiter would gain without these waits; null where the holder is no transaction, and of all but the longest waits. */
  gain: CrosstalkGain | null;
};

/** Where a waiter and a holder were. */
export type CrosstalkPaths = {
  /** The call path at which the waiter waited. */
  waiter: string;
  /** Its functions, outermost first, for `fulcrum/transactions/frame`. */
  waiterFunctions: Array<string>;
  /** The call path at which the holder took or gave back the lock, or signalled; null when it is not known. */
  holder: string | null;
  /** Its functions, outermost first. */
  holderFunctions: Array<string>;
  /** How long together, nanoseconds. */
  waitNs: number;
};

/**
 * What a critical section is worth, by experiments in which it took half the time: answer to `fulcrum/transactions/price` and of
 * `fulcrum transactions price --json`.
 */
export type CrosstalkPrice = {
  /** Who waits. */
  waiter: string;
  /** For whom. */
  holder: string;
  /** The lock, as `CrosstalkPair` names it. */
  lock: string;
  /** The function whose sections were sped up, with everything that it calls while it holds the lock. */
  function: string;
  /** What was measured: the name of the waiter's type, or a line. */
  progressPoint: string;
  /** By how much the section was sped up: 0.5, half the time. */
  speedup: number;
  /** By how much the waiter would be faster, a fraction: 0.11, 11 % less time. Null when it is not known. */
  gain: number | null;
  /** The lower end of its 95 % interval. */
  gainLow: number | null;
  /** The upper end. */
  gainHigh: number | null;
  /** How many experiments that rests on. */
  experiments: number;
  /** All of it in a sentence, or why nothing is known. */
  sentence: string;
  /** What a reader should know. Whole sentences. */
  notes: Array<string>;
  /** The folder of the causal profile: `fulcrum causal show` tells more. */
  run: string;
};

/** What a type would gain without some of its waits, as `fulcrum transactions what-if` predicts it from the run. */
export type CrosstalkGain = {
  /** By how much it would be faster on average, a fraction: 0.11, 11 % less time. */
  gain: number;
  /** The lower end of its 95 % interval; null of a single transaction. */
  gainLow: number | null;
  /** The upper end. */
  gainHigh: number | null;
  /** All of it in a sentence. */
  sentence: string;
};

/** The runs of one side. */
export type NavigatorSample = {
  /** How many. */
  runs: number;
  /** Their mean cost. */
  mean: number;
  /** The standard deviation between them. */
  deviation: number;
};

/** What could be gained by optimising labelled paths. An upper bound: it takes all of their cost to go. */
export type NavigatorEstimate = {
  /** Their cum together, without overlap: what could go at most. */
  cum: number;
  /**
   * The cum as a fraction of the denominator; null when that is 0. In a comparison it may be above 1: other paths became
   * cheaper.
   */
  share: number | null;
  /**
   * By Amdahl, how much more the program would do in the same time without it: 0.25 is a quarter. In a comparison, than A
   * does. Null when all of the time would go.
   */
  gain: number | null;
  /** In a comparison, the cum as a fraction of B's total: the paper's Table 3. */
  table3: number | null;
};

/** A refine loop: the answer of `fulcrum refine --json`, and `refine.json` in the run of each iteration. */
export type RefineTable = {
  /** What a hotspot is. */
  rule: string;
  /** A method whose calls are the units of work; null: the whole run is one. */
  unit: string | null;
  /** Which excluded methods were looked at again was decided by this number. In the file alone. */
  seed?: number;
  /** Runs of each iteration. In the file alone. */
  runs?: number;
  /** The set of methods did not change any more. */
  stable: boolean;
  /** The loop was stopped before it came to its end. In the answer alone. */
  stopped?: boolean;
  /** The file of the filter that the loop ended with. In the answer alone. */
  filter?: string;
  /** Its methods. */
  hotspots: Array<string>;
  /** Whole sentences on what a reader should know. */
  notes: Array<string>;
  /** All iterations that were measured. */
  iterations: Array<RefineIteration>;
};

/** Answer of `fulcrum events stats --json`. Times are corrected for what probes cost. */
export type EventsStats = {
  /** By number. */
  threads: Array<EventsThreadSums>;
  /** The one with the most own wall time first. */
  methods: Array<EventsMethodSums>;
  /** Waiting for monitors that others owned, by class, the longest first. */
  contention: Array<EventsClassSums>;
  /** `Object.wait`, by class, the longest first. */
  waiting: Array<EventsClassSums>;
  /** Garbage collections. */
  collections: EventsSums;
  /** Ends without a beginning, and beginnings whose end is missing though what they are inside of ended. */
  unbalanced: number;
  /** What was subtracted from times because probes cost it. */
  probes: EventsProbeCosts;
  /** What a reader should know, whole sentences. */
  notes: Array<string>;
};

/** A thread's sums. */
export type EventsThreadSums = {
  /** Its number. */
  id: number;
  /** Its name when it began; null when the log does not tell it. */
  name: string | null;
  /** Its thread group. */
  group: string | null;
  /** The thread that started it; 0 when it is not known. */
  parent: number | null;
  /** How many events it has. */
  events: number;
  /** From its first event to its last. */
  wallNs: number;
  /** CPU time from its first to its last event; null where the log does not tell it. */
  cpuNs: number | null;
};

/** A method's sums. Of recursive calls, `wallNs` and `cpuNs` count the outermost only. */
export type EventsMethodSums = {
  /** Its class. */
  class: string;
  /** Its name. */
  method: string;
  /** Its descriptor. */
  descriptor: string;
  /** Calls that were logged. */
  calls: number;
  /** Those left by an exception. */
  thrown: number;
  /** Wall time. */
  wallNs: number;
  /** CPU time. */
  cpuNs: number;
  /** Wall time less that of what it called, waited and contended for. */
  selfWallNs: number;
  /** CPU time less that of what it called. */
  selfCpuNs: number;
};

/** Waiting for objects of a class. */
export type EventsClassSums = {
  /** The class. */
  class: string;
  /** How often. */
  count: number;
  /** How long, all threads together. */
  wallNs: number;
};

/** How often, and how long. */
export type EventsSums = {
  /** How often. */
  count: number;
  /** How long. */
  wallNs: number;
};

/** What the probes of a call cost. */
export type EventsProbeCosts = {
  /** Within the call's own time. */
  insideNs: number;
  /** Around it, in the caller's time. */
  outsideNs: number;
};

/** Answer of `fulcrum events tree --json`. */
export type EventsTrees = {
  /** Threads that have calls. */
  threads: Array<EventsThreadTree>;
};

/** A thread's calls. */
export type EventsThreadTree = {
  /** Its number. */
  id: number;
  /** Its name when it began. */
  name: string;
  /** Its thread group, or empty. */
  group: string;
  /** There are more calls than `--limit` shows. */
  more: boolean;
  /** In the order of their beginnings; `depth` makes the tree. */
  calls: Array<EventsTreeCall>;
};

/** A call, or a wait. */
export type EventsTreeCall = {
  /** How many calls it is inside of. */
  depth: number;
  /** What it is. */
  kind: EventsKind;
  /** A method with its class, or a class with the object's number. */
  name: string;
  /** When it began. */
  startNs: number;
  /** How long it took, without what probes cost. */
  wallNs: number;
  /** CPU time, likewise; null where the log does not tell it. */
  cpuNs: number | null;
  /** Wall time less that of what is inside. */
  selfWallNs: number;
  /** CPU time less that of what is inside. */
  selfCpuNs: number | null;
  /** How it ended. */
  ended: EventsEnd;
  /** What the call was given and returned; null where the log does not tell it. */
  values: EventsCallValues | null;
};

/** A line of `fulcrum events list --json`. */
export type EventsEvent = {
  /** When, since the log's start. */
  timeNs: number;
  /** The thread's CPU time since its own start; null where the log does not tell it. */
  cpuNs: number | null;
  /** The thread. */
  thread: number;
  /** `enter`, `exit`, `thrown`, `threadStart`, …: see docs/formats.md. */
  event: string;
  /** Calls since the thread's last event whose probes fired without being logged; absent when there are none. */
  skipped?: number;
  /** The class of a method or an object, or a class that was loaded. */
  class?: string;
  /** A method's name. */
  method?: string;
  /** A method's descriptor. */
  descriptor?: string;
  /** Of `objects`: what the call is made on. */
  receiver?: number;
  /** Of `objects`: the first object that the call is given, or 0. */
  argument?: number;
  /** An object's number. */
  object?: number;
  /** Of `result`: true or false. */
  value?: boolean;
  /** Of `arguments`: what the call was given that was entered just before, the first of it. */
  arguments?: Array<EventsValue>;
  /** Of `arguments`: how many more there are, which are not logged. */
  moreArguments?: number;
  /** Of `returned`: what the call returns that is left right behind. */
  returned?: EventsValue;
  /** Of `wait`: its time limit, or 0. */
  timeoutMs?: number;
  /** Of `waited`: the time limit ended it. */
  timedOut?: boolean;
  /** Of `allocation`: the object's size. */
  bytes?: number;
  /** Of `allocation`: about one object for so many bytes is told; 0 when each one is. */
  intervalBytes?: number;
  /** Of `threadStart`: the thread's name. */
  name?: string;
  /** Of `threadStart`: its thread group, or empty. */
  group?: string;
  /** Of `threadStart`: the thread that started it; 0 when it is not known. */
  parent?: number;
  /** Of `threadStart`: it does not keep the program running. */
  daemon?: boolean;
  /** Of `threadStart`: a virtual thread. */
  virtual?: boolean;
  /** Of `threadStart`: it was running already when the log began. */
  earlier?: boolean;
  /** Of `classLoad`: methods with probes. */
  probed?: number;
  /** Of `vmStart`: name and version. */
  machine?: string;
};

/** What one command of `fulcrum navigate --json` answers, on one line. */
export type SearchAnswer = {
  /** The command as it was given. */
  command: string } & (SearchRows | SearchDetails | SearchSettings | SearchPathLabels | SearchLabels | SearchOverlaps | SearchEstimate | SearchHistory | NavigatorAutomatic | SearchSaved | SearchLoaded | SearchHelp | SearchRefused);

/** What a command answers, by its sort. */
export type SearchBody = SearchRows | SearchDetails | SearchSettings | SearchPathLabels | SearchLabels | SearchOverlaps | SearchEstimate | SearchHistory | NavigatorAutomatic | SearchSaved | SearchLoaded | SearchHelp | SearchRefused;

/** Numbered paths. */
export type SearchRows = {
  /** The paths. */
  rows: Array<SearchRow>;
  /** How many `--top` left out. */
  more: number;
};

/** A numbered path. */
export type SearchRow = {
  /** What `select` takes. */
  number: number;
  /** How it came about. */
  step: NavigatorStep;
  /** The path, outermost name first. */
  path: Array<string>;
  /** The cost of the path itself. */
  base: number;
  /** The cost of the path and everything that it calls. */
  cum: number;
  /** Both sides in a comparison. */
  sides: NavigatorPathSides | null;
  /** How certain the difference is, with several runs on each side. */
  spread: NavigatorPathSpread | null;
};

/** The current path. */
export type SearchDetails = {
  /** Its labels. */
  labels: Array<string>;
  /** Both sides in a comparison. */
  sides: NavigatorPathSides | null;
  /** How certain the difference is, with several runs on each side. */
  spread: NavigatorPathSpread | null;
  /** Why base or cum look wrong and are not; whole sentences. */
  paradox: string | null;
  /** Paths one step away. */
  nearby: Array<SearchRow>;
  /** What zooming left out. */
  hidden: NavigatorHidden;
  /** Why there are no extensions although the program may have made further calls; a whole sentence. */
  limit: string | null;
  /** How many of the nearby paths `--top` left out. */
  more: number;
  /** The path, outermost name first. */
  path: Array<string>;
  /** The cost of the path itself. */
  base: number;
  /** The cost of the path and everything that it calls. */
  cum: number;
  /** The denominator of shares. */
  total: number;
  /** What that is. */
  of: NavigatorWhole;
  /** What it shares with each label. */
  overlaps: Array<NavigatorLabelOverlap>;
  /** What it shares with all labels together. */
  overlap: NavigatorOverlap;
};

/** What the current path costs and shares with labels. */
export type SearchOverlaps = {
  /** The path, outermost name first. */
  path: Array<string>;
  /** The cost of the path itself. */
  base: number;
  /** The cost of the path and everything that it calls. */
  cum: number;
  /** The denominator of shares. */
  total: number;
  /** What that is. */
  of: NavigatorWhole;
  /** What it shares with each label. */
  overlaps: Array<NavigatorLabelOverlap>;
  /** What it shares with all labels together. */
  overlap: NavigatorOverlap;
};

/** The settings, after one was changed. */
export type SearchSettings = {
  /** How `suggest` ranks. */
  suggester: NavigatorSuggester;
  /** Whether nearby paths are zoomed. */
  zoom: boolean;
  /** What zooming keeps. */
  cutoff: number;
};

/** The current path and its labels. */
export type SearchPathLabels = {
  /** The path. */
  path: Array<string>;
  /** Its labels. */
  labels: Array<string>;
};

/** Every label. */
export type SearchLabels = {
  /** In the order of their first use. */
  labels: Array<SearchLabel>;
  /** The base of all together, without overlap. */
  base: number;
  /** The cum of all together, without overlap. */
  cum: number;
};

/** A label. */
export type SearchLabel = {
  /** Its name. */
  name: string;
  /** How many paths have it. */
  summaries: number;
  /** Their base together, without overlap. */
  base: number;
  /** Their cum together, without overlap. */
  cum: number;
  /** The part of the cum that no label before covers. */
  marginal: number;
};

/** What could be gained by labelled paths. */
export type SearchEstimate = {
  /** The labels. */
  labels: Array<string>;
  /** What could be gained. */
  estimate: NavigatorEstimate;
};

/** The paths that were current. */
export type SearchHistory = {
  /** The oldest first. */
  history: Array<Array<string>>;
  /** What each of them costs. */
  costs: Array<SearchCosts>;
  /** The position of the current one; null before the first. */
  current: number | null;
};

/** What a path costs. */
export type SearchCosts = {
  /** The cost of the path itself. */
  base: number;
  /** The cost of the path and everything that it calls. */
  cum: number;
};

/** Where labels were written. */
export type SearchSaved = {
  /** The file. */
  saved: string;
};

/** Labels that were read. */
export type SearchLoaded = {
  /** What a reader should know, whole sentences. */
  notes: Array<string>;
};

/** All commands. */
export type SearchHelp = {
  /** Each with what it does. */
  commands: Array<SearchCommand>;
};

/** A command of the search. */
export type SearchCommand = {
  /** How it is written. */
  usage: string;
  /** What it does. */
  what: string;
};

/** Why a command cannot be done. */
export type SearchRefused = {
  /** One sentence. */
  error: string;
};

/** Answer of `fulcrum suggest --json`. */
export type SearchSuggestions = {
  /** The value type that was searched. */
  value: string;
  /** Its unit. */
  unit: string;
  /** In a comparison, the cost of both sides. */
  sides: NavigatorSides | null;
  /** The denominator of the fractions. */
  total: number;
  /** What that is. */
  of: NavigatorWhole;
  /** The cum of labels and suggestions together, as a fraction of it. */
  coverage: number;
  /** The part of it that labels covered before. */
  labelled: number;
  /** The greatest marginal coverage first. */
  suggestions: Array<NavigatorSuggestion>;
};

/** Answer of `fulcrum profile top --json`. In a comparison costs are A - B. */
export type ProfileTop = {
  /** The value type. */
  value: string;
  /** Its unit. */
  unit: string;
  /** The profile's total. */
  total: number;
  /** In a comparison, the cost of both sides. */
  sides: NavigatorSides | null;
  /** The most costly first. */
  functions: Array<ProfileFunction>;
  /** What a reader should know, whole sentences. */
  notes: Array<string>;
};

/** A function's costs. */
export type ProfileFunction = {
  /** Its name. */
  name: string;
  /** Its own cost. */
  base: number;
  /** Its cost with everything that it calls. */
  cum: number;
  /** Both sides in a comparison. */
  sides: NavigatorPathSides | null;
};

/** Answer of `fulcrum profile info --json`. */
export type ProfileInfo = {
  /** The file's format. */
  format: string;
  /** `tree` or `graph`. */
  kind: ProfileCalls;
  /** What was measured. */
  valueTypes: Array<ProfileValueType>;
  /** The name of the value type that is shown first. */
  defaultValue: string;
  /** What became of names. */
  names: ProfileNames;
  /** What a reader should know, whole sentences. */
  notes: Array<string> } & ({
  /** Nodes. */
  nodes: number;
  /** Different frames. */
  frames: number;
  /** The longest path. */
  depth: number } | {
  /** Functions. */
  functions: number;
  /** Pairs of caller and callee. */
  calls: number });

/** What a profile knows of calls. */
export type ProfileCalls = "tree" | "graph";

/** A value type and its total. */
export type ProfileValueType = {
  /** Its name. */
  name: string;
  /** Its unit. */
  unit: string;
  /** The sum over the functions' own costs. */
  total: number;
};

/** How large a profile is. */
export type ProfileSize = {
  /** Nodes. */
  nodes: number;
  /** Different frames. */
  frames: number;
  /** The longest path. */
  depth: number } | {
  /** Functions. */
  functions: number;
  /** Pairs of caller and callee. */
  calls: number;
};

/** What rules made of names. */
export type ProfileNames = {
  /** The version of the rules. Under another one labels may not find their paths. */
  version: number;
  /** The rules that were applied, in this order. */
  rules: Array<string>;
  /** Names that they changed. */
  renamed: Array<NavigatorRenamed>;
};

/** Answer of `fulcrum causal show --json`: a profile's targets, ranked. */
export type CausalProfile = {
  /** For a heading. */
  title: string;
  /** Phases were corrected for (COZ §3.4.4). */
  phaseCorrection: boolean;
  /** Sorted by name. */
  progressPoints: Array<CausalPoint>;
  /** Whole sentences on what was left out, and why. */
  notes: Array<string>;
};

/** A progress point and what speeds it up. */
export type CausalPoint = {
  /** Its name: `FILE:LINE`, or what the program calls it. */
  name: string;
  /** What a positive program speedup means for it. */
  kind: ProgressPointKind;
  /** Sorted by slope, then location. */
  targets: Array<CausalTarget>;
};

/** A target with all that was measured. */
export type CausalTarget = {
  /** Experiments that counted, baseline included. */
  experiments: number;
  /** The slope that such data would show in 80 % of runs; null when there is too little. */
  minimumEffect: number | null;
  /** What to keep in mind about it. */
  flags: Array<TargetFlag>;
  /** Ascending by speedup; the first is the baseline (0, 0). */
  points: Array<SpeedupPoint>;
  /** Program speedup per speedup of the target. */
  slope: number;
  /** Lower end of its 95 % interval. */
  slopeLow: number | null;
  /** Upper end of its 95 % interval. */
  slopeHigh: number | null;
  /** Making it faster makes the program slower. */
  contention: boolean;
  /** The gutter's shape. */
  shape: LineShape;
  /** The function of libc in which most of its time passes; null for ordinary code, and where nobody has looked. */
  inCall: InCall | null;
  /**
   * The measured point with the largest program speedup, or with the largest slowdown when the shape is a harm; null when
   * there is only the baseline.
   */
  largest: SpeedupPoint | null;
  /** `FILE:LINE` as recorded: the line, the function's declaration, the place of the call. */
  location: string;
  /** What it is. */
  kind: TargetKind;
  /** The function, path or call; null for a line. */
  name: string | null;
  /** A function with everything that it calls. */
  inclusive: boolean;
};

/** What to keep in mind about a result. */
export type TargetFlag = "runQueue" | "fewVisits" | "shared" | "regimeChange" | "unstable" | "unsettled" | "costlyPauses" | "contradictory";

/** Answer of `fulcrum causal compare --json`. */
export type CausalComparison = {
  /** The run before the change, for a heading. */
  before: string;
  /** The run after it, for a heading. */
  after: string;
  /** The progress points of the run before, by name. */
  progressPoints: Array<CausalComparisonPoint>;
  /** Whole sentences on what could not be compared, and why. */
  notes: Array<string>;
};

/** What happened at one progress point, and to the targets. */
export type CausalComparisonPoint = {
  /** Those of the run before; those that changed first. */
  targets: Array<TargetChange>;
  /** The progress point's name. */
  name: string;
  /** What a positive program speedup means for it. */
  kind: ProgressPointKind;
  /** Visits a second before the change; null when it was not visited. */
  beforeRate: number | null;
  /** Visits a second after it. */
  afterRate: number | null;
  /** Before the change: time of a visit (throughput) or of a request (latency). */
  beforeNs: Estimate | null;
  /** After it. */
  afterNs: Estimate | null;
  /** The program speedup that really happened. */
  actual: Estimate | null;
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
