//! Bottleneck search: the types of `fulcrum/navigator/*`.
//!
//! Costs are whole numbers in the profile's `unit`. In a comparison a cost is A - B, where A is what is looked at; `sides`
//! tells both. Paths are lists of names, outermost first.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{LineState, ProgressToken};

/// Parameters of `fulcrum/navigator/open`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorOpenParams {
    /// Profiles in any known format; several are the runs of one side of a comparison.
    pub files: Vec<String>,
    /// What they are compared with; empty: nothing.
    #[serde(default)]
    pub against: Vec<String>,
    /// The value type by its name, or by its number from 1; absent: the profile's own choice.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub value: Option<String>,
    /// How the two sides are made comparable; absent: not at all.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub normalisation: Option<NavigatorNormalisation>,
    /// Rules for names, as `fulcrum profile --names` takes them; absent: the default rules.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub names: Option<String>,
    /// The folder that holds `.fulcrum/labels`, absolute; absent: the workspace's first folder.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub workspace: Option<String>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// How costs of two sides are made comparable.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorNormalisation {
    /// Every run is scaled to the mean total of B.
    Totals,
    /// The costs of A are multiplied by this, above 0.
    Factor(f64),
}

/// An open navigator.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorOpened {
    /// What the other requests take.
    pub id: u32,
    /// For a heading: `after.pb.gz − before.pb.gz`.
    pub title: String,
    /// What sort of profile it is.
    pub kind: NavigatorKind,
    /// What can be searched; the first file's.
    pub value_types: Vec<NavigatorValueType>,
    /// Different names that can stand in paths.
    pub names: u32,
    /// Call-tree nodes, over all files; for a call graph its functions.
    pub nodes: u64,
    /// Whole sentences on the files and on labels that were found again.
    pub notes: Vec<String>,
    /// The search before it has begun.
    pub view: NavigatorView,
}

/// Sorts of profile that can be searched.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorKind {
    /// One call tree.
    Tree,
    /// Call trees that are compared.
    Comparison,
    /// A call graph: paths of one and two names only, no flame graph.
    Graph,
}

/// What one column of values counts.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorValueType {
    /// As the profile names it: `cpu`.
    pub name: String,
    /// As the profile names it: `ns`; empty for plain counts.
    pub unit: String,
}

/// Parameters of `fulcrum/navigator/command`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorCommandParams {
    /// The navigator.
    pub id: u32,
    /// What to do.
    pub command: NavigatorCommand,
}

/// What an analyst does.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum NavigatorCommand {
    /// Chooses how `suggest` ranks, and lists the suggester's paths.
    SetSuggester {
        /// The suggester.
        suggester: NavigatorSuggester,
    },
    /// Lists the suggester's starting paths. The current path stays.
    Suggest,
    /// Lists the functions whose names hold a text. The current path stays.
    Find {
        /// Upper and lower case are the same.
        text: String,
    },
    /// Makes the path of a row current, and lists what is near it.
    Select {
        /// The row's number.
        number: u32,
    },
    /// Makes a path current, and lists what is near it.
    SelectPath {
        /// At least one name.
        path: Vec<String>,
    },
    /// Takes a name from the current path.
    Trim {
        /// From which end.
        end: NavigatorEnd,
    },
    /// Lists again what is near the current path.
    Show,
    /// Labels the current path.
    Label {
        /// The label.
        name: String,
    },
    /// Takes a label from the current path.
    Unlabel {
        /// The label.
        name: String,
    },
    /// Takes a label from all paths.
    RemoveLabel {
        /// The label.
        name: String,
    },
    /// Labels paths that `fulcrum/navigator/automatic` found.
    Accept {
        /// All of them, or some.
        suggestions: Vec<NavigatorAccepted>,
    },
    /// Whether to leave out what costs little and to pass through what keeps the cost.
    SetZoom {
        /// On or off.
        on: bool,
    },
    /// What zooming keeps.
    SetCutoff {
        /// Above 0; 0.95 unless set.
        cutoff: f64,
    },
    /// Goes to the path that was current before.
    Back,
    /// Takes `back` back.
    Forward,
    /// Goes to a path of the history.
    GoTo {
        /// Its position in the history.
        at: u32,
    },
    /// Searches another value type. Labels stay; the current path stays when it has such costs.
    Value {
        /// Its name.
        name: String,
    },
}

/// Ways to rank starting paths.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
pub enum NavigatorSuggester {
    /// By cum: for a search from the top.
    HighCum,
    /// By base: for a search from the bottom.
    HighBase,
}

/// An end of a path.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorEnd {
    /// Callers.
    Top,
    /// Callees.
    Bottom,
}

/// A path and the label that it gets.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorAccepted {
    /// The label.
    pub label: String,
    /// The path.
    pub path: Vec<String>,
}

/// A search as it stands, without its rows.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorView {
    /// Rises with each command; rows are asked for with it.
    pub revision: u32,
    /// The value type that is searched.
    pub value: String,
    /// Its unit.
    pub unit: String,
    /// The denominator of shares: the profile's cost; in a comparison the difference.
    pub total: i64,
    /// In a comparison, the cost of both sides.
    pub sides: Option<NavigatorSides>,
    /// How `suggest` ranks.
    pub suggester: NavigatorSuggester,
    /// Whether nearby paths are zoomed.
    pub zoom: bool,
    /// What zooming keeps.
    pub cutoff: f64,
    /// The current path; null before the first.
    pub current: Option<NavigatorCurrent>,
    /// What the rows are.
    pub listing: NavigatorListing,
    /// How many rows there are of each sort, in the order in which they are shown.
    pub rows: Vec<NavigatorRowCount>,
    /// The labels, in the order of their first use.
    pub labels: Vec<NavigatorLabel>,
    /// What all labels cover together.
    pub coverage: NavigatorCoverage,
    /// The paths that were current.
    pub history: NavigatorHistory,
    /// Whole sentences on what went wrong beside the command: labels that could not be saved.
    pub notes: Vec<String>,
}

/// A cost on both sides of a comparison; with several runs, the means.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorSides {
    /// In what is looked at.
    pub a: i64,
    /// In what it is compared with.
    pub b: i64,
}

/// Base and cum on both sides of a comparison.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorPathSides {
    /// The base.
    pub base: NavigatorSides,
    /// The cum.
    pub cum: NavigatorSides,
}

/// How certain base and cum are in a comparison of several runs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorPathSpread {
    /// The base's.
    pub base: NavigatorSpread,
    /// The cum's.
    pub cum: NavigatorSpread,
}

/// How certain a difference is: Welch's t-test.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorSpread {
    /// Lower end of the 95 % interval of A - B.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How probable a difference so great is when there is none, two-sided.
    pub p: f64,
    /// It is told from noise: p is below 0.01.
    pub significant: bool,
}

/// What the rows are.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum NavigatorListing {
    /// The suggester's starting paths.
    Suggestions,
    /// Functions whose names hold a text.
    Found {
        /// The text.
        text: String,
    },
    /// What is one step from the current path.
    Nearby,
}

/// The current path.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorCurrent {
    /// Its names, outermost first.
    pub frames: Vec<NavigatorFrame>,
    /// The cost of the path itself.
    pub base: i64,
    /// The cost of the path and everything that it calls.
    pub cum: i64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// How certain the difference is, with several runs on each side.
    pub spread: Option<NavigatorPathSpread>,
    /// Why base or cum look wrong and are not; whole sentences.
    pub paradox: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// What it shares with each label, in the labels' order.
    pub overlaps: Vec<NavigatorLabelOverlap>,
    /// What it shares with all labels together.
    pub overlap: NavigatorOverlap,
    /// What zooming left out.
    pub hidden: NavigatorHidden,
    /// Why there are no extensions although the program may have made further calls; a whole sentence.
    pub limit: Option<String>,
}

/// One name of a path.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFrame {
    /// The name.
    pub name: String,
    /// `FILE:LINE` or `FILE` as the profile has it; null when it knows only the name. `fulcrum/navigator/frame` may find it
    /// all the same.
    pub recorded: Option<String>,
}

/// What the current path shares with a label.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLabelOverlap {
    /// The label.
    pub label: String,
    /// Of the base.
    pub base: i64,
    /// Of the cum.
    pub cum: i64,
}

/// What the current path shares with others.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorOverlap {
    /// Of the base.
    pub base: i64,
    /// Of the cum.
    pub cum: i64,
}

/// What zooming left out at both ends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorHidden {
    /// Callers.
    pub top: NavigatorHiddenEnd,
    /// Callees.
    pub bottom: NavigatorHiddenEnd,
}

/// What zooming left out at one end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorHiddenEnd {
    /// How many extensions.
    pub count: u32,
    /// The cum that only those hold, as a fraction of the current path's; in a comparison it may be negative.
    pub share: f64,
}

/// How many rows there are of a sort.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorRowCount {
    /// The sort.
    pub step: NavigatorStep,
    /// How many.
    pub count: u32,
}

/// How a row came about.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorStep {
    /// The suggester's, or found by name.
    Suggestion,
    /// Callers before the current path.
    ExtendTop,
    /// Callees behind the current path.
    ExtendBottom,
    /// The current path without its first names.
    TrimTop,
    /// The current path without its last names.
    TrimBottom,
}

/// A label.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLabel {
    /// Its name.
    pub name: String,
    /// The paths that have it.
    pub paths: Vec<Vec<String>>,
    /// Their base together, without overlap.
    pub base: i64,
    /// Their cum together, without overlap.
    pub cum: i64,
    /// The part of the cum that no label before covers.
    pub marginal: i64,
}

/// What all labels cover together, without overlap.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorCoverage {
    /// Base.
    pub base: i64,
    /// Cum: what could go at most.
    pub cum: i64,
    /// The cum as a fraction of the total; null when that is 0. In a comparison it may be above 1: other paths became cheaper.
    pub share: Option<f64>,
    /// By Amdahl, how much more the program would do in the same time without it: 0.25 is a quarter. In a comparison, than A
    /// does. Null when all of the time would go.
    pub gain: Option<f64>,
    /// In a comparison, the cum as a fraction of B's total: the paper's Table 3.
    pub table3: Option<f64>,
}

/// The paths that were current.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorHistory {
    /// The position of the first of `paths`: only the nearest hundred are sent.
    pub first: u32,
    /// The oldest first.
    pub paths: Vec<Vec<String>>,
    /// The current path's position in the whole history; null before the first.
    pub at: Option<u32>,
    /// How many paths the whole history has.
    pub count: u32,
}

/// Parameters of `fulcrum/navigator/rows`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorRowsParams {
    /// The navigator.
    pub id: u32,
    /// The view's. Rows of another are refused with LSP's `ContentModified`.
    pub revision: u32,
    /// Which sort.
    pub step: NavigatorStep,
    /// The first row, from 0 within its sort.
    pub from: u32,
    /// How many, at most 1,000.
    pub count: u32,
}

/// Answer to `fulcrum/navigator/rows`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorRows {
    /// As many as there are in the range.
    pub rows: Vec<NavigatorRow>,
}

/// A path that can be selected.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorRow {
    /// What `select` takes.
    pub number: u32,
    /// For suggestions the path; for extensions the names that are added, for trims those that go; outermost first.
    pub names: Vec<String>,
    /// The cost of the path itself.
    pub base: i64,
    /// The cost of the path and everything that it calls.
    pub cum: i64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// How certain the difference is, with several runs on each side.
    pub spread: Option<NavigatorPathSpread>,
    /// The labels of exactly this path.
    pub labels: Vec<String>,
}

/// Parameters of `fulcrum/navigator/automatic`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorAutomaticParams {
    /// The navigator.
    pub id: u32,
    /// How many paths at most; absent: 14.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub count: Option<u32>,
    /// The part of the cost that they should cover; absent: 0.85.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub coverage: Option<f64>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// What the automatic search found beside the labels. Nothing is labelled yet: see the command `accept`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorAutomatic {
    /// The denominator of the fractions.
    pub total: i64,
    /// The cum of labels and suggestions together, as a fraction of the total.
    pub coverage: f64,
    /// The part of it that labels covered before.
    pub labelled: f64,
    /// The greatest marginal coverage first.
    pub suggestions: Vec<NavigatorSuggestion>,
}

/// A call sequence that the automatic search found.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorSuggestion {
    /// A name for it that no label has.
    pub label: String,
    /// The path.
    pub path: Vec<String>,
    /// The cost of the path itself.
    pub base: i64,
    /// The cost of the path and everything that it calls.
    pub cum: i64,
    /// The part of its cum that neither labels nor suggestions before cover, as a fraction of the total.
    pub marginal: f64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// How certain the difference is, with several runs on each side.
    pub spread: Option<NavigatorPathSpread>,
    /// Why it was chosen; a whole sentence.
    pub why: String,
}

/// Parameters of `fulcrum/navigator/flame`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlameParams {
    /// The navigator.
    pub id: u32,
    /// What to draw.
    pub what: NavigatorFlameWhat,
    /// In a comparison, what makes boxes wide; absent: `a`.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub width: Option<NavigatorFlameWidth>,
    /// The visible part of the root, 0 to 1.
    pub left: f64,
    /// Its right end, 0 to 1.
    pub right: f64,
    /// Narrower boxes are left out: a fraction of the root. At least a 20,000th of the visible part.
    pub minimum: f64,
    /// The first level that is sent, from 0, the root's; absent: 0.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub from_depth: Option<u32>,
    /// How many levels are sent, at most 1,000; absent: 200.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub depths: Option<u32>,
}

/// What a flame graph shows.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum NavigatorFlameWhat {
    /// The whole call tree, or what is below one node of it.
    Tree {
        /// A box's `node`; null for the whole tree.
        root: Option<u32>,
    },
    /// A path merged over all its contexts.
    Merged {
        /// The path.
        path: Vec<String>,
        /// What stands on it.
        side: NavigatorFlameSide,
        /// The names from the path outwards to the box that is the root; empty: the path itself.
        #[serde(default)]
        along: Vec<String>,
    },
}

/// Callers or callees of a merged path.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorFlameSide {
    /// Who calls it: the nearest caller at depth 1.
    Callers,
    /// What it calls.
    Callees,
}

/// What makes boxes wide in a comparison. Without one it is the cost, whatever is asked for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorFlameWidth {
    /// The cost in A.
    #[default]
    A,
    /// The cost in B: what A no longer has is seen here.
    B,
    /// How much each call's own cost changed, signs dropped: what became dearer and what became cheaper do not cancel.
    Change,
}

/// The boxes of a flame graph that can be seen, as columns: position n of each is box n. Parents come before children.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlame {
    /// The names that `name` counts.
    pub names: Vec<String>,
    /// The labels that `label` counts.
    pub labels: Vec<String>,
    /// The names from the graph's own root to the root that was asked for, this one included: for a breadcrumb.
    pub trail: Vec<String>,
    /// The nodes of the trail, for `root`; null is the whole tree. Empty for a merged path.
    pub trail_nodes: Vec<Option<u32>>,
    /// The root's cost; what fractions are of when nothing is negative.
    pub total: i64,
    /// The root's cost on both sides of a comparison.
    pub sides: Option<NavigatorSides>,
    /// How many levels there are of what is wide enough within the visible part, the root's included, sent or not.
    pub levels: u32,
    /// 0 is the root.
    pub depth: Vec<u32>,
    /// Left end, a fraction of the root.
    pub x: Vec<f64>,
    /// A fraction of the root.
    pub width: Vec<f64>,
    /// A position in `names`.
    pub name: Vec<u32>,
    /// A position in `labels`, or -1. Within several, the innermost.
    pub label: Vec<i32>,
    /// The node, for `root`; -1 is the whole tree. Empty for a merged path.
    pub node: Vec<i64>,
    /// The box that it stands on, a position in these columns; -1 when that is not sent.
    pub parent: Vec<i32>,
    /// The cost with everything that stands on it: in a comparison A's.
    pub cost: Vec<i64>,
    /// The cost of its own: in a comparison A's.
    pub own: Vec<i64>,
    /// In a comparison, B's cost with everything that stands on it; else null.
    pub against: Option<Vec<i64>>,
}

/// Parameters of `fulcrum/navigator/flameSearch`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlameSearchParams {
    /// The navigator.
    pub id: u32,
    /// A part of a name. Upper and lower case are the same.
    pub text: String,
    /// Only below this node of the tree; absent: the whole tree.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub root: Option<u32>,
}

/// What a text matches in the whole tree.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlameSearchResult {
    /// Names that hold the text.
    pub count: u32,
    /// The first hundred of them, those that cost most first.
    pub names: Vec<String>,
    /// The cost of all matched calls with what they call; what lies within another counts once. In a comparison A - B.
    pub cost: i64,
    /// That as a fraction of the cost of what was searched; null when that is 0.
    pub share: Option<f64>,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorSides>,
}

/// Parameters of `fulcrum/navigator/frame`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFrameParams {
    /// The navigator.
    pub id: u32,
    /// A name of the profile.
    pub name: String,
}

/// Answer to `fulcrum/navigator/frame`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFrameResult {
    /// Best first: where the profile says that it is, then definitions by name.
    pub locations: Vec<NavigatorLocation>,
    /// Why there is none, or may be more; a whole sentence.
    pub note: Option<String>,
}

/// A place in the workspace.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLocation {
    /// The file.
    pub uri: String,
    /// 0-based line in the file as it is now.
    pub line: u32,
    /// 0-based, in the negotiated encoding.
    pub character: u32,
    /// How it was found.
    pub how: NavigatorLocationHow,
}

/// How a place was found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorLocationHow {
    /// The profile has the file and the line.
    Recorded,
    /// The profile has the file, and a definition of this name is in it.
    RecordedFile,
    /// A definition of this name is in the workspace.
    Definition,
}

/// Parameters of `fulcrum/navigator/lines`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLinesParams {
    /// The navigator.
    pub id: u32,
    /// The document, open or not.
    pub uri: String,
}

/// Answer to `fulcrum/navigator/lines`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLines {
    /// Ascending by line; one a function of the profile that is declared in this document.
    pub lines: Vec<NavigatorLine>,
}

/// What a function of a document costs, at the line that declares it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLine {
    /// 0-based line in the document as it is now.
    pub line: u32,
    /// 1-based line as recorded; null when the profile has only the name.
    pub recorded_line: Option<u32>,
    /// `exact`: declared where the profile says; `moved`: elsewhere, or the profile says only the name; `stale`: not found
    /// any more.
    pub state: LineState,
    /// The name in the profile.
    pub name: String,
    /// The function's own cost.
    pub base: i64,
    /// Its cost with everything that it calls.
    pub cum: i64,
    /// The base as a fraction of the total.
    pub base_share: f64,
    /// The cum as a fraction of the total.
    pub cum_share: f64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// The gutter's shape, by the greater of base and a tenth of cum.
    pub heat: NavigatorHeat,
    /// In words: `12 % here, 40 % with calls`.
    pub text: String,
}

/// How much a function costs. In a comparison, how much dearer or cheaper it became.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "lowercase")]
pub enum NavigatorHeat {
    /// Below half a percent.
    Cold,
    /// From half a percent.
    Hot1,
    /// From 2 %.
    Hot2,
    /// From 5 %.
    Hot3,
    /// From 15 %.
    Hot4,
    /// Cheaper, from half a percent.
    Less1,
    /// Cheaper, from 2 %.
    Less2,
    /// Cheaper, from 5 %.
    Less3,
}

/// Parameters of `fulcrum/navigator/report`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorReportParams {
    /// The navigator.
    pub id: u32,
}

/// Answer to `fulcrum/navigator/report`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorReport {
    /// The labels with paths, costs, overlap and estimate.
    pub markdown: String,
}

/// Parameters of `fulcrum/navigator/close`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorCloseParams {
    /// The navigator.
    pub id: u32,
}
