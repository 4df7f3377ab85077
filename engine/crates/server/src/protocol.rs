//! The `fulcrum/…` part of the protocol: every type that crosses the wire beyond standard LSP.
//!
//! `cargo run -p fulcrum-xtask -- codegen` writes the same types as TypeScript to
//! `extension/protocol.gen.ts`; `docs/protocol.md` explains them and carries a hash of this file.
//! Conventions: JSON in camelCase; `line` is 0-based in the document as it is now, `recordedLine` is
//! 1-based in the file as it was recorded; speedups are fractions (0.12 is 12 %).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The version that the server announces; raised when a field changes its meaning or goes.
pub const PROTOCOL_VERSION: u32 = 1;

/// Declares a custom method: its name and, at compile time, its parameters and result.
pub trait Method {
    /// The JSON-RPC method name.
    const NAME: &'static str;
    /// What the client sends.
    type Params: Serialize + for<'de> Deserialize<'de> + Send + 'static;
    /// What the server answers.
    type Result: Serialize + for<'de> Deserialize<'de> + Send + 'static;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal ($params:ty) -> $result:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Method for $name {
                const NAME: &'static str = $text;
                type Params = $params;
                type Result = $result;
            }
        )*
        /// The names of all custom requests, in the order of this file.
        pub const REQUESTS: &[&str] = &[$($text),*];
        /// For code generation: (constant's name, method, parameters' type, result's type).
        pub(crate) fn request_rows(cfg: &ts_rs::Config) -> Vec<[String; 4]> {
            vec![$([
                stringify!($name).to_owned(),
                $text.to_owned(),
                <$params as TS>::name(cfg),
                <$result as TS>::name(cfg),
            ]),*]
        }
    };
}

methods! {
    /// Opens a causal profile and shows it in place of the one that was open.
    CausalOpen = "fulcrum/causal/open" (OpenParams) -> ProfileSummary;
    /// Profiles a program until it ends, its time is over, or the request is cancelled; then opens the run.
    CausalRun = "fulcrum/causal/run" (RunParams) -> RunOutcome;
    /// Pauses, resumes, stops or aims a run that is going on.
    CausalControl = "fulcrum/causal/control" (ControlParams) -> ControlResult;
    /// Lines up two runs: what was predicted, and what happened.
    CausalCompare = "fulcrum/causal/compare" (CompareParams) -> Comparison;
    /// Closes the open profile.
    CausalClear = "fulcrum/causal/clear" (ClearParams) -> ();
    /// Ranks the open profile's lines for one progress point.
    CausalRanking = "fulcrum/causal/ranking" (RankingParams) -> Ranking;
    /// The open profile's results for one document, at the lines where they are now.
    LineSpeedups = "fulcrum/lineSpeedups" (LineSpeedupsParams) -> LineSpeedupsResult;
    /// The edit that inserts or removes a progress point at a position.
    ProgressPointEdit = "fulcrum/progressPoint/edit" (ProgressPointEditParams) -> ProgressPointEditResult;
    /// The runs recorded in a workspace, newest first.
    RunsList = "fulcrum/runs/list" (RunsListParams) -> RunsListResult;
}

/// Server to client: the open profile changed; `summary` is null when none is open any more.
pub const DID_CHANGE_RESULTS: &str = "fulcrum/didChangeResults";

/// Server to client, about twice a second while a run goes on: how it stands.
pub const LIVE: &str = "fulcrum/causal/live";

/// Stands under `capabilities.experimental.fulcrum` in the answer to `initialize`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct FulcrumServerCapabilities {
    /// `PROTOCOL_VERSION`.
    pub version: u32,
    /// The custom requests that this server answers.
    pub requests: Vec<String>,
}

/// May stand under `capabilities.experimental.fulcrum` in the client's `initialize`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct FulcrumClientCapabilities {
    /// Hovers may hold `data:` images and `command:` links. When absent, true for clients whose
    /// Markdown parser is `marked` (VS Code and its relatives).
    #[ts(optional = nullable)]
    pub rich_hover: Option<bool>,
}

/// Parameters of `fulcrum/causal/open`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenParams {
    /// A `.coz` file (text or JSON lines), a `causal-*.jsonl`, a run folder, or its `run.json`.
    pub path: String,
}

/// Parameters of `fulcrum/causal/clear`: none.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, TS)]
#[ts(type = "Record<string, never>")]
pub struct ClearParams {}

/// An open profile in a few words.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileSummary {
    /// The path that was opened: give it to `fulcrum/causal/open` to open the same again.
    pub path: String,
    /// For a title bar or status bar item.
    pub title: String,
    /// What sort of profile it is.
    pub kind: ProfileKind,
    /// Sorted by name; the first is used where a request names none.
    pub progress_points: Vec<ProgressPoint>,
    /// Number of lines with a result, over all progress points.
    pub targets: u32,
    /// The files that results point into, once each.
    pub files: Vec<ProfileFile>,
    /// The run is going on, and this is what is known so far; more follows by itself.
    pub live: bool,
    /// Whole sentences on what was left out, and why.
    pub notes: Vec<String>,
}

/// Sorts of profile.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ProfileKind {
    /// A causal profile.
    Causal,
}

/// A progress point of the open profile.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProgressPoint {
    /// Its name: `FILE:LINE`, or what the program calls it.
    pub name: String,
    /// What a positive program speedup means for it.
    pub kind: ProgressPointKind,
}

/// What a progress point measures.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ProgressPointKind {
    /// Less time between visits is better.
    Throughput,
    /// Less time from begin to end is better.
    Latency,
}

/// A file that results point into.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileFile {
    /// As the profile spells it.
    pub location: String,
    /// The file in the workspace, or null when there is none, or more than one that fits.
    pub uri: Option<String>,
}

/// Parameters of `fulcrum/causal/run`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunParams {
    /// A path, or a name looked up in `PATH`.
    pub program: String,
    /// Its arguments, without the program itself.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its working folder, absolute.
    pub cwd: String,
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
    /// The program is stopped after this long; null lets it run to its end.
    #[serde(default)]
    pub duration_seconds: Option<f64>,
    /// The program is stopped when the best targets are known this well: half width of their intervals, a fraction.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub until: Option<f64>,
    /// What experiments speed up; absent: the lines of the program itself.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub aim: Option<Aim>,
    /// Lines, `FILE:LINE`, whose visits are progress points without a change of the source.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub progress: Option<Vec<String>>,
    /// The share of the program's time that profiling may take; experiments are spaced out to keep below it.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub max_overhead: Option<f64>,
    /// Runs the program again and again, each time as one experiment: for programs that just finish.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub end_to_end: Option<EndToEnd>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// For programs that just finish: each run from start to end is one experiment.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct EndToEnd {
    /// Stop after so many runs; null: when the duration or the wanted confidence is reached.
    pub runs: Option<u64>,
}

/// What experiments speed up.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Aim {
    /// The kind of target.
    pub target: TargetKind,
    /// For `path`: call sequences such as `main > serve > parse`, the outermost function first.
    pub paths: Vec<String>,
    /// File patterns, `%` matches anything; empty is every file that is not a system header.
    pub source_scope: Vec<String>,
    /// Binary patterns, `MAIN` is the program itself; empty is the program itself.
    pub binary_scope: Vec<String>,
}

/// What an experiment can speed up.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum TargetKind {
    /// A source line.
    #[default]
    Line,
    /// A function, without what it calls.
    Function,
    /// A function with everything that it calls.
    Inclusive,
    /// A call sequence, with everything that its last function calls.
    Path,
    /// The time spent waiting in a call.
    Blocked,
}

/// Parameters of `fulcrum/causal/control`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ControlParams {
    /// The run's `workDoneToken`; null is every run that is going on.
    #[serde(default)]
    pub token: Option<ProgressToken>,
    /// What to do.
    pub action: ControlAction,
    /// For `retarget`: on what to experiment from now on.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub aim: Option<Aim>,
}

/// What can be done with a run that is going on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ControlAction {
    /// No experiments for now; the program runs on undelayed.
    Pause,
    /// Experiments again.
    Resume,
    /// Ends the program; what was recorded stays and is opened.
    Stop,
    /// Experiments on something else. What was recorded stays.
    Retarget,
    /// Shows the run's results again after another profile was opened.
    Show,
}

/// Answer to `fulcrum/causal/control`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ControlResult {
    /// How many runs obeyed; never 0, since that is an error.
    pub runs: u32,
}

/// Parameters of `fulcrum/causal/live`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveParams {
    /// The run's `workDoneToken`.
    pub token: Option<ProgressToken>,
    /// The run folder; null until it is known.
    pub run: Option<String>,
    /// Since the program started.
    pub elapsed_seconds: f64,
    /// Experiments finished.
    pub experiments: u64,
    /// Targets with at least one experiment.
    pub targets: u64,
    /// Visits to all progress points.
    pub visits: u64,
    /// The best target so far.
    pub best: Option<LiveBest>,
    /// 0 to 1 when the end is known.
    pub fraction: Option<f64>,
    /// Until the wanted duration or confidence is reached, estimated; null when nothing was wanted or nothing is known.
    pub remaining_seconds: Option<f64>,
    /// Experiments are paused.
    pub paused: bool,
    /// What the run experiments on.
    pub aim: Aim,
    /// All of this in a few words: `23 experiments · 2 lines · best two-threads.cpp:12 +4.1 % · 40 s left`.
    pub message: String,
}

/// The best target of a run that is going on.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveBest {
    /// Short: base name and line, or the name.
    pub label: String,
    /// Program speedup per target speedup.
    pub slope: f64,
    /// Lower end of its 95 % interval.
    pub slope_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub slope_high: Option<f64>,
}

/// LSP's progress token.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, Hash, TS)]
#[serde(untagged)]
pub enum ProgressToken {
    /// A number.
    Number(i32),
    /// A text.
    Text(String),
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// The run folder.
    pub run: String,
    /// How the program ended, as a sentence.
    pub exit: String,
    /// The run, opened; null when it could not be opened (`notes` say why).
    pub summary: Option<ProfileSummary>,
    /// Whole sentences on why the result is empty or weaker than it could be.
    pub notes: Vec<String>,
}

/// Parameters of `fulcrum/causal/compare`: paths as for `fulcrum/causal/open`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CompareParams {
    /// The run before the change: its curves predict.
    pub before: String,
    /// The run after it.
    pub after: String,
}

/// Two runs, lined up.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The run before the change.
    pub before: ComparedRun,
    /// The run after it.
    pub after: ComparedRun,
    /// The progress points of the run before, by name.
    pub points: Vec<ComparedPoint>,
    /// Whole sentences on what could not be compared, and why.
    pub notes: Vec<String>,
}

/// One of the two runs.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ComparedRun {
    /// For `fulcrum/causal/open`.
    pub path: String,
    /// For a heading.
    pub title: String,
}

/// What happened at one progress point.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ComparedPoint {
    /// The progress point's name.
    pub name: String,
    /// What a positive program speedup means for it.
    pub kind: ProgressPointKind,
    /// Before the change: visits a second (throughput), or nanoseconds a request (latency). Null when not visited.
    pub rate_before: Option<f64>,
    /// After it.
    pub rate_after: Option<f64>,
    /// The program speedup that really happened.
    pub actual: Option<Estimate>,
    /// Those of the run before; those that changed first.
    pub targets: Vec<ComparedTarget>,
}

/// What became of one target, and what was predicted for it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ComparedTarget {
    /// As the run before names it.
    pub target: String,
    /// What it is.
    pub kind: TargetKind,
    /// The function, path or call; null for a line.
    pub name: Option<String>,
    /// `FILE:LINE` as recorded.
    pub location: String,
    /// Short: base name and line as it is now, with the name in front when there is one.
    pub label: String,
    /// The file in the workspace; null when it is not there.
    pub uri: Option<String>,
    /// 0-based line in the file as it is now.
    pub line: u32,
    /// Whether that line is still what was recorded.
    pub state: LineState,
    /// Nanoseconds of its own for each visit to the progress point, before.
    pub cost_before: Option<Estimate>,
    /// And after.
    pub cost_after: Option<Estimate>,
    /// The speedup that the target really got: the part of its cost that is gone. Negative when it became slower.
    pub speedup: Option<Estimate>,
    /// The program speedup that the run before predicts for that speedup.
    pub predicted: Option<Estimate>,
    /// That speedup is beyond the measured ones, so the prediction is an extrapolation.
    pub extrapolated: bool,
    /// Its cost changed by more than noise.
    pub changed: bool,
    /// What to make of it, as a sentence.
    pub verdict: String,
}

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
}

/// Parameters of `fulcrum/causal/ranking`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RankingParams {
    /// A progress point's name; null is the first.
    #[serde(default)]
    pub progress_point: Option<String>,
}

/// The open profile's lines, best first.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct Ranking {
    /// The progress point that is ranked; null when the profile has none or nothing is open.
    pub progress_point: Option<String>,
    /// All that can be chosen.
    pub progress_points: Vec<ProgressPoint>,
    /// Sorted by slope, then location.
    pub rows: Vec<RankingRow>,
    /// Whole sentences on what was left out, and why.
    pub notes: Vec<String>,
}

/// One line of the ranking.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RankingRow {
    /// The target as records name it: `FILE:LINE`, or `KIND:NAME@FILE:LINE`. No two rows share it.
    pub target: String,
    /// What it is.
    pub kind: TargetKind,
    /// The function, path or call; null for a line.
    pub name: Option<String>,
    /// `FILE:LINE` as recorded: the line, the function's declaration, the place of the call.
    pub location: String,
    /// Short: base name and line, with the name in front when there is one.
    pub label: String,
    /// The file in the workspace; null when it is not there.
    pub uri: Option<String>,
    /// 0-based line in the file as it is now.
    pub line: u32,
    /// Whether the line is still what was recorded.
    pub state: LineState,
    /// The gutter's shape.
    pub shape: LineShape,
    /// Program speedup per line speedup.
    pub slope: f64,
    /// Lower end of its 95 % interval.
    pub slope_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub slope_high: Option<f64>,
    /// The point with the largest program speedup; null when there is only the baseline.
    pub best: Option<SpeedupPoint>,
    /// Making this line faster makes the program slower.
    pub contention: bool,
    /// Experiments that counted, baseline included.
    pub experiments: u32,
    /// In words: `+12 % if 2× faster`.
    pub text: String,
    /// Whole sentences on what to keep in mind about this result.
    pub cautions: Vec<String>,
}

/// Parameters of `fulcrum/lineSpeedups`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineSpeedupsParams {
    /// The document, open or not.
    pub uri: String,
    /// A progress point's name; null is the first.
    #[serde(default)]
    pub progress_point: Option<String>,
}

/// The open profile's results for one document.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineSpeedupsResult {
    /// The progress point that the results are for; null when nothing is open.
    pub progress_point: Option<String>,
    /// Ascending by line. Two recorded lines can meet on one line after edits.
    pub lines: Vec<LineSpeedup>,
}

/// One line's result.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineSpeedup {
    /// 0-based line in the document as it is now.
    pub line: u32,
    /// 1-based line as recorded.
    pub recorded_line: u32,
    /// Whether the line is still what was recorded.
    pub state: LineState,
    /// What it is; several can stand on one line.
    pub kind: TargetKind,
    /// The function, path or call; null for a line.
    pub name: Option<String>,
    /// The gutter's shape.
    pub shape: LineShape,
    /// In words: `+12 % if 2× faster`, with the name in front when there is one.
    pub text: String,
    /// Place in the ranking of the whole profile; 1 is best.
    pub rank: u32,
    /// Program speedup per line speedup.
    pub slope: f64,
    /// Lower end of its 95 % interval.
    pub slope_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub slope_high: Option<f64>,
    /// The point with the largest program speedup; null when there is only the baseline.
    pub best: Option<SpeedupPoint>,
    /// Making this line faster makes the program slower.
    pub contention: bool,
    /// Ascending by speedup; the first is the baseline (0, 0).
    pub points: Vec<SpeedupPoint>,
}

/// Whether a line is still what was recorded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum LineState {
    /// Same text, same line.
    Exact,
    /// Same text, another line.
    Moved,
    /// The line was changed or deleted since; the result stands where it would be.
    Stale,
}

/// The nine shapes of the gutter.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "lowercase")]
pub enum LineShape {
    /// Barely worth it.
    Gain1,
    /// Worth it.
    Gain2,
    /// Large.
    Gain3,
    /// The bottleneck.
    Gain4,
    /// No effect, and known to be so.
    Flat,
    /// Slightly harmful.
    Harm1,
    /// Harmful.
    Harm2,
    /// Very harmful.
    Harm3,
    /// Not enough data to tell.
    Unknown,
}

/// One point of a line's curve.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SpeedupPoint {
    /// Line speedup, 0 to 1.
    pub speedup: f64,
    /// Program speedup.
    pub program_speedup: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Visits behind this point.
    pub visits: u64,
    /// Effective duration behind this point, in nanoseconds.
    pub duration_ns: u64,
}

/// Parameters of `fulcrum/progressPoint/edit`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProgressPointEditParams {
    /// The document, open or not.
    pub uri: String,
    /// Where the cursor is.
    pub position: DocumentPosition,
    /// What to do there.
    pub kind: ProgressPointEditKind,
}

/// What to do with progress points at a position.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ProgressPointEditKind {
    /// Insert a throughput point.
    Throughput,
    /// Insert the begin of a latency measurement.
    LatencyBegin,
    /// Insert its end.
    LatencyEnd,
    /// Remove the point on this line.
    Remove,
}

/// An edit, or the reason why there is none.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProgressPointEditResult {
    /// Apply this.
    pub edit: Option<FileEdits>,
    /// Or tell the user this sentence.
    pub message: Option<String>,
}

/// LSP's `Position`: 0-based, `character` in the negotiated encoding (UTF-16 unless both sides know UTF-8).
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
pub struct DocumentPosition {
    /// 0-based line.
    pub line: u32,
    /// 0-based code units in the line.
    pub character: u32,
}

/// LSP's `Range`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
pub struct DocumentRange {
    /// First position.
    pub start: DocumentPosition,
    /// Past the last position.
    pub end: DocumentPosition,
}

/// LSP's `TextEdit`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileEdit {
    /// What is replaced; empty for an insertion.
    pub range: DocumentRange,
    /// By what.
    pub new_text: String,
}

/// LSP's `WorkspaceEdit` in its simplest form.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
pub struct FileEdits {
    /// URI → edits that do not overlap.
    #[ts(type = "Record<string, FileEdit[]>")]
    pub changes: BTreeMap<String, Vec<FileEdit>>,
}

/// Parameters of `fulcrum/runs/list`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunsListParams {
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
}

/// Answer to `fulcrum/runs/list`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunsListResult {
    /// Newest first.
    pub runs: Vec<RunEntry>,
}

/// One recorded run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunEntry {
    /// The run folder, for `fulcrum/causal/open`.
    pub path: String,
    /// The folder's name without the time.
    pub name: String,
    /// When it started, RFC 3339, UTC.
    pub start: String,
    /// The command line, for reading.
    pub command: String,
    /// `running`, `exited`, `signalled`, `stopped`, or `lost`.
    pub ended: String,
}

/// Parameters of `fulcrum/didChangeResults`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct DidChangeResultsParams {
    /// The profile that is open now.
    pub summary: Option<ProfileSummary>,
}

/// `data` of every error that the server answers.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// Who can do something about it.
    pub blame: Blame,
    /// What to do next, as a sentence; null when the message says it all.
    pub advice: Option<String>,
}

/// Who can do something about an error.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum Blame {
    /// The input: show the advice.
    User,
    /// The machine or its settings: show the advice.
    Environment,
    /// Fulcrum itself: show a link to report it.
    Fulcrum,
}
