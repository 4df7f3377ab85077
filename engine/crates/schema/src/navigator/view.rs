//! A search as it stands, and its rows.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::NavigatorSuggester;
use crate::NavigatorId;

/// A search as it stands, without its rows.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorView {
    /// Rises with each command; rows are asked for with it.
    pub revision: u32,
    /// The value type that is searched.
    pub value: String,
    /// Its unit.
    pub unit: String,
    /// The denominator of shares.
    pub total: i64,
    /// What that is.
    pub of: NavigatorWhole,
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

/// What shares are parts of.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorWhole {
    /// The profile's total.
    Total,
    /// The difference of the totals of a comparison.
    Difference,
    /// What became costlier in a comparison, by functions' own cost, where more than half as much became cheaper.
    Costlier,
}

/// A cost on both sides of a comparison; with several runs, the means.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorSides {
    /// In what is looked at.
    pub a: i64,
    /// In what it is compared with.
    pub b: i64,
}

/// Base and cum on both sides of a comparison.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorPathSides {
    /// The base.
    pub base: NavigatorSides,
    /// The cum.
    pub cum: NavigatorSides,
}

/// How certain base and cum are in a comparison of several runs.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorPathSpread {
    /// The base's.
    pub base: NavigatorSpread,
    /// The cum's.
    pub cum: NavigatorSpread,
}

/// The runs of one side.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorSample {
    /// How many.
    pub runs: u32,
    /// Their mean cost.
    pub mean: f64,
    /// The standard deviation between them.
    pub deviation: f64,
}

/// How certain a difference is: Welch's t-test.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorSpread {
    /// The runs of side A.
    pub a: NavigatorSample,
    /// The runs of side B.
    pub b: NavigatorSample,
    /// Lower end of the 95 % interval of A - B.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How probable a difference so great is when there is none, two-sided.
    pub p: f64,
    /// Whether it is significant: p is below 0.01.
    pub significant: bool,
}

/// What the rows are.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
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
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFrame {
    /// The name.
    pub name: String,
    /// `FILE:LINE` or `FILE` as the profile has it; null when it knows only the name. `fulcrum/navigator/frame` may find it
    /// all the same.
    pub recorded: Option<String>,
}

/// What the current path shares with a label.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorOverlap {
    /// Of the base.
    pub base: i64,
    /// Of the cum.
    pub cum: i64,
}

/// What zooming left out at both ends.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorHidden {
    /// Callers.
    pub top: NavigatorHiddenEnd,
    /// Callees.
    pub bottom: NavigatorHiddenEnd,
}

/// What zooming left out at one end.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorHiddenEnd {
    /// How many extensions.
    pub count: u32,
    /// The cum that only those hold, as a fraction of the current path's; in a comparison it may be negative.
    pub share: f64,
}

/// How many rows there are of a sort.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorCoverage {
    /// Base.
    pub base: i64,
    /// What could be gained.
    #[serde(flatten)]
    pub estimate: NavigatorEstimate,
}

/// What could be gained by optimising labelled paths. An upper bound: it takes all of their cost to go.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorEstimate {
    /// Their cum together, without overlap: what could go at most.
    pub cum: i64,
    /// The cum as a fraction of the denominator; null when that is 0. In a comparison it may be above 1: other paths became
    /// cheaper.
    pub share: Option<f64>,
    /// By Amdahl, how much more the program would do in the same time without it: 0.25 is a quarter. In a comparison, than A
    /// does. Null when all of the time would go.
    pub gain: Option<f64>,
    /// In a comparison, the cum as a fraction of B's total: the paper's Table 3.
    pub table3: Option<f64>,
}

/// The paths that were current.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorRowsParams {
    /// The navigator.
    pub id: NavigatorId,
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
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorRows {
    /// As many as there are in the range.
    pub rows: Vec<NavigatorRow>,
}

/// A path that can be selected.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
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
