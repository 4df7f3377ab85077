//! Causal profiles: `fulcrum/causal/*`, `fulcrum/lineSpeedups` and `fulcrum/progressPoint/edit`; `fulcrum causal show` and
//! `compare`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{DocumentPosition, FileEdits, LineState};

/// Parameters of `fulcrum/causal/open`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenParams {
    /// A `.coz` file (text or JSON lines), a `causal-*.jsonl`, a run folder, or its `run.json`.
    pub path: String,
}

/// Parameters of `fulcrum/causal/clear`: none.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, TS)]
#[ts(type = "Record<string, never>")]
pub struct ClearParams {}

/// An open profile in a few words.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
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
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ProfileKind {
    /// A causal profile.
    Causal,
}

/// A progress point of the open profile.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProgressPoint {
    /// Its name: `FILE:LINE`, or what the program calls it.
    pub name: String,
    /// What a positive program speedup means for it.
    pub kind: ProgressPointKind,
}

/// What a progress point measures.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ProgressPointKind {
    /// Less time between visits is better.
    Throughput,
    /// Less time from begin to end is better.
    Latency,
}

/// A file that results point into.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileFile {
    /// As the profile spells it.
    pub location: String,
    /// The file in the workspace, or null when there is none, or more than one that fits.
    pub uri: Option<String>,
}

/// Parameters of `fulcrum/causal/compare`: paths as for `fulcrum/causal/open`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CompareParams {
    /// The run before the change: its curves predict.
    pub before: String,
    /// The run after it.
    pub after: String,
}

/// Two runs, lined up.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The run before the change.
    pub before: ComparedRun,
    /// The run after it.
    pub after: ComparedRun,
    /// The progress points of the run before, by name.
    pub progress_points: Vec<ComparedPoint>,
    /// Whole sentences on what could not be compared, and why.
    pub notes: Vec<String>,
}

/// One of the two runs.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ComparedRun {
    /// For `fulcrum/causal/open`.
    pub path: String,
    /// For a heading.
    pub title: String,
}

/// What happened at one progress point, and to the targets at their places in the workspace.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ComparedPoint {
    /// What happened.
    #[serde(flatten)]
    pub change: PointChange,
    /// Those of the run before; those that changed first.
    pub targets: Vec<ComparedTarget>,
}

/// What became of one target, and where it is.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ComparedTarget {
    /// As records of the run before name it.
    pub target: String,
    /// What became of it.
    #[serde(flatten)]
    pub change: TargetChange,
    /// Short: base name and line as it is now, with the name in front when there is one.
    pub label: String,
    /// The file in the workspace; null when it is not there.
    pub uri: Option<String>,
    /// 0-based line in the file as it is now.
    pub line: u32,
    /// Whether that line is still what was recorded.
    pub state: LineState,
}

/// Answer of `fulcrum causal compare --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CausalComparison {
    /// The run before the change, for a heading.
    pub before: String,
    /// The run after it, for a heading.
    pub after: String,
    /// The progress points of the run before, by name.
    pub progress_points: Vec<CausalComparisonPoint>,
    /// Whole sentences on what could not be compared, and why.
    pub notes: Vec<String>,
}

/// What happened at one progress point, and to the targets.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CausalComparisonPoint {
    /// What happened.
    #[serde(flatten)]
    pub change: PointChange,
    /// Those of the run before; those that changed first.
    pub targets: Vec<TargetChange>,
}

/// What happened at one progress point.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct PointChange {
    /// The progress point's name.
    pub name: String,
    /// What a positive program speedup means for it.
    pub kind: ProgressPointKind,
    /// Visits a second before the change; null when it was not visited.
    pub before_rate: Option<f64>,
    /// Visits a second after it.
    pub after_rate: Option<f64>,
    /// Before the change: time of a visit (throughput) or of a request (latency).
    pub before_ns: Option<Estimate>,
    /// After it.
    pub after_ns: Option<Estimate>,
    /// The program speedup that really happened.
    pub actual: Option<Estimate>,
}

/// What became of one target, and what was predicted for it.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TargetChange {
    /// What it is, in the run before.
    #[serde(flatten)]
    pub name: TargetName,
    /// `FILE:LINE` in the run after; null when the code is gone.
    pub after: Option<String>,
    /// Its own CPU time for each visit to the progress point, before.
    pub cost_before_ns: Option<Estimate>,
    /// And after.
    pub cost_after_ns: Option<Estimate>,
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
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
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
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RankingParams {
    /// A progress point's name; null is the first.
    #[serde(default)]
    pub progress_point: Option<String>,
}

/// The open profile's lines, best first.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
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
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RankingRow {
    /// The target as records name it: `FILE:LINE`, or `KIND:NAME@FILE:LINE`. No two rows share it.
    pub target: String,
    /// Its result.
    #[serde(flatten)]
    pub result: TargetResult,
    /// Short: base name and line, with the name in front when there is one.
    pub label: String,
    /// The file in the workspace; null when it is not there.
    pub uri: Option<String>,
    /// 0-based line in the file as it is now.
    pub line: u32,
    /// Whether the line is still what was recorded.
    pub state: LineState,
    /// Experiments that counted, baseline included.
    pub experiments: u64,
    /// In words: `+12 % if 2× faster`.
    pub text: String,
    /// Whole sentences on what to keep in mind about this result.
    pub cautions: Vec<String>,
}

/// What a target is.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TargetName {
    /// `FILE:LINE` as recorded: the line, the function's declaration, the place of the call.
    pub location: String,
    /// What it is.
    pub kind: TargetKind,
    /// The function, path or call; null for a line.
    pub name: Option<String>,
    /// A function with everything that it calls.
    pub inclusive: bool,
}

/// Sorts of target.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum TargetKind {
    /// A line.
    Line,
    /// A function.
    Function,
    /// A sequence of calls.
    Path,
    /// A call that waits.
    Blocked,
}

/// What was found out about a target.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TargetResult {
    /// What it is.
    #[serde(flatten)]
    pub name: TargetName,
    /// Program speedup per speedup of the target.
    pub slope: f64,
    /// Lower end of its 95 % interval.
    pub slope_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub slope_high: Option<f64>,
    /// Making it faster makes the program slower.
    pub contention: bool,
    /// The gutter's shape.
    pub shape: LineShape,
    /// The function of libc in which most of its time passes; null for ordinary code, and where nobody has looked.
    pub in_call: Option<InCall>,
    /// The measured point with the largest program speedup, or with the largest slowdown when the shape is a harm; null when
    /// there is only the baseline.
    pub largest: Option<SpeedupPoint>,
}

/// A function in which most of a target's time passes: the result is about calling it.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct InCall {
    /// As programs call it (`sendmsg`); `kernel` for what the kernel does for other functions, or for new memory.
    pub function: String,
    /// Processor time in it, as a part of the target's processor time and waits together.
    pub processor: f64,
    /// Time in which it waited there, as a part of the same. Virtual speedups do not shorten it.
    pub waiting: f64,
    /// What that time mostly is.
    pub does: CallDoes,
    /// Of a lock that it waits for, `FILE:LINE` where it was mostly given back; null where that is not one place.
    pub holder: Option<String>,
}

/// What the time in a call mostly is.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum CallDoes {
    /// Processor time.
    Works,
    /// Waiting.
    Waits,
    /// Either: samples leave the kernel out here, so its work cannot be told from waiting.
    Unseen,
}

/// Answer of `fulcrum causal show --json`: a profile's targets, ranked.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CausalProfile {
    /// For a heading.
    pub title: String,
    /// Phases were corrected for (COZ §3.4.4).
    pub phase_correction: bool,
    /// Sorted by name.
    pub progress_points: Vec<CausalPoint>,
    /// Whole sentences on what was left out, and why.
    pub notes: Vec<String>,
}

/// A progress point and what speeds it up.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CausalPoint {
    /// Its name: `FILE:LINE`, or what the program calls it.
    pub name: String,
    /// What a positive program speedup means for it.
    pub kind: ProgressPointKind,
    /// Sorted by slope, then location.
    pub targets: Vec<CausalTarget>,
}

/// A target with all that was measured.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CausalTarget {
    /// Its result.
    #[serde(flatten)]
    pub result: TargetResult,
    /// Experiments that counted, baseline included.
    pub experiments: u64,
    /// The slope that such data would show in 80 % of runs; null when there is too little.
    pub minimum_effect: Option<f64>,
    /// What to keep in mind about it.
    pub flags: Vec<TargetFlag>,
    /// Ascending by speedup; the first is the baseline (0, 0).
    pub points: Vec<SpeedupPoint>,
}

/// What to keep in mind about a result.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum TargetFlag {
    /// Threads waited for processors, so effects are less sure.
    RunQueue,
    /// It rests on few visits.
    FewVisits,
    /// It shares its code with other functions.
    Shared,
    /// The curve is no straight line.
    RegimeChange,
    /// Arrivals and departures of a latency differ.
    Unstable,
    /// The program had not settled when experiments began: queues still filled or drained while they were measured.
    Unsettled,
    /// Pausing itself costs so much here, or is known so little, that the effect of a speedup cannot be told from it.
    CostlyPauses,
    /// The slope and the curve disagree, so neither is established.
    Contradictory,
}

/// Parameters of `fulcrum/lineSpeedups`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineSpeedupsParams {
    /// The document, open or not.
    pub uri: String,
    /// A progress point's name; null is the first.
    #[serde(default)]
    pub progress_point: Option<String>,
}

/// The open profile's results for one document.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineSpeedupsResult {
    /// The progress point that the results are for; null when nothing is open.
    pub progress_point: Option<String>,
    /// Ascending by line. Two recorded lines can meet on one line after edits.
    pub lines: Vec<LineSpeedup>,
}

/// One line's result.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineSpeedup {
    /// 0-based line in the document as it is now.
    pub line: u32,
    /// 1-based line as recorded.
    pub recorded_line: u32,
    /// Whether the line is still what was recorded.
    pub state: LineState,
    /// The result of what is there; several targets can stand on one line.
    #[serde(flatten)]
    pub result: TargetResult,
    /// In words: `+12 % if 2× faster`, with the name in front when there is one.
    pub text: String,
    /// Place in the ranking of the whole profile; 1 is best.
    pub rank: u32,
    /// Ascending by speedup; the first is the baseline (0, 0).
    pub points: Vec<SpeedupPoint>,
}

/// The nine shapes of the gutter.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
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
    /// Not established: not enough data to tell, or data that contradicts itself.
    Unknown,
}

/// One point of a line's curve.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
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
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
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
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProgressPointEditResult {
    /// Apply this.
    pub edit: Option<FileEdits>,
    /// Or tell the user this sentence.
    pub message: Option<String>,
}

/// Parameters of `fulcrum/didChangeResults`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct DidChangeResultsParams {
    /// The profile that is open now.
    pub summary: Option<ProfileSummary>,
}
