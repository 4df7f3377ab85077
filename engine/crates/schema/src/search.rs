//! Bottleneck search in the terminal: `fulcrum navigate`, `suggest` and `profile`. Costs are in the profile's unit.

use serde::Serialize;
use ts_rs::TS;

use super::{
    NavigatorAutomatic, NavigatorEstimate, NavigatorHidden, NavigatorLabelOverlap,
    NavigatorOverlap, NavigatorPathSides, NavigatorPathSpread, NavigatorRenamed, NavigatorSides,
    NavigatorStep, NavigatorSuggester, NavigatorWhole,
};

/// What one command of `fulcrum navigate --json` answers, on one line.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchAnswer {
    /// The command as it was given.
    pub command: String,
    /// What it answers.
    #[serde(flatten)]
    pub body: SearchBody,
}

/// What a command answers, by its sort.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(untagged)]
pub enum SearchBody {
    /// `suggest`, `find`.
    Rows(SearchRows),
    /// `select` and whatever else changes or shows the current path.
    Details(Box<SearchDetails>),
    /// `set suggester`, `zoom`, `cutoff`.
    Settings(SearchSettings),
    /// `label`, `unlabel`.
    Labels(SearchPathLabels),
    /// `labels`.
    Reports(SearchLabels),
    /// `overlap`.
    Overlaps(SearchOverlaps),
    /// `estimate`.
    Estimate(SearchEstimate),
    /// `history`.
    History(SearchHistory),
    /// `auto`.
    Automatic(NavigatorAutomatic),
    /// `save`.
    Saved(SearchSaved),
    /// `load`.
    Loaded(SearchLoaded),
    /// `help`.
    Help(SearchHelp),
    /// A command that cannot be done.
    Refused(SearchRefused),
}

/// Numbered paths.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchRows {
    /// The paths.
    pub rows: Vec<SearchRow>,
    /// How many `--top` left out.
    pub more: u64,
}

/// A numbered path.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchRow {
    /// What `select` takes.
    pub number: u32,
    /// How it came about.
    pub step: NavigatorStep,
    /// The path, outermost name first.
    pub path: Vec<String>,
    /// The cost of the path itself.
    pub base: i64,
    /// The cost of the path and everything that it calls.
    pub cum: i64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// How certain the difference is, with several runs on each side.
    pub spread: Option<NavigatorPathSpread>,
}

/// The current path.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchDetails {
    /// Its labels.
    pub labels: Vec<String>,
    /// What it costs and shares with labels.
    #[serde(flatten)]
    pub overlaps: SearchOverlaps,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// How certain the difference is, with several runs on each side.
    pub spread: Option<NavigatorPathSpread>,
    /// Why base or cum look wrong and are not; whole sentences.
    pub paradox: Option<String>,
    /// Paths one step away.
    pub nearby: Vec<SearchRow>,
    /// What zooming left out.
    pub hidden: NavigatorHidden,
    /// Why there are no extensions although the program may have made further calls; a whole sentence.
    pub limit: Option<String>,
    /// How many of the nearby paths `--top` left out.
    pub more: u64,
}

/// What the current path costs and shares with labels.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchOverlaps {
    /// The path, outermost name first.
    pub path: Vec<String>,
    /// The cost of the path itself.
    pub base: i64,
    /// The cost of the path and everything that it calls.
    pub cum: i64,
    /// The denominator of shares.
    pub total: i64,
    /// What that is.
    pub of: NavigatorWhole,
    /// What it shares with each label.
    pub overlaps: Vec<NavigatorLabelOverlap>,
    /// What it shares with all labels together.
    pub overlap: NavigatorOverlap,
}

/// The settings, after one was changed.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchSettings {
    /// How `suggest` ranks.
    pub suggester: NavigatorSuggester,
    /// Whether nearby paths are zoomed.
    pub zoom: bool,
    /// What zooming keeps.
    pub cutoff: f64,
}

/// The current path and its labels.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchPathLabels {
    /// The path.
    pub path: Vec<String>,
    /// Its labels.
    pub labels: Vec<String>,
}

/// Every label.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchLabels {
    /// In the order of their first use.
    pub labels: Vec<SearchLabel>,
    /// The base of all together, without overlap.
    pub base: i64,
    /// The cum of all together, without overlap.
    pub cum: i64,
}

/// A label.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchLabel {
    /// Its name.
    pub name: String,
    /// How many paths have it.
    pub summaries: u32,
    /// Their base together, without overlap.
    pub base: i64,
    /// Their cum together, without overlap.
    pub cum: i64,
    /// The part of the cum that no label before covers.
    pub marginal: i64,
}

/// What could be gained by labelled paths.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchEstimate {
    /// The labels.
    pub labels: Vec<String>,
    /// What could be gained.
    pub estimate: NavigatorEstimate,
}

/// The paths that were current.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchHistory {
    /// The oldest first.
    pub history: Vec<Vec<String>>,
    /// What each of them costs.
    pub costs: Vec<SearchCosts>,
    /// The position of the current one; null before the first.
    pub current: Option<u32>,
}

/// What a path costs.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchCosts {
    /// The cost of the path itself.
    pub base: i64,
    /// The cost of the path and everything that it calls.
    pub cum: i64,
}

/// Where labels were written.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchSaved {
    /// The file.
    pub saved: String,
}

/// Labels that were read.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchLoaded {
    /// What a reader should know, whole sentences.
    pub notes: Vec<String>,
}

/// All commands.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchHelp {
    /// Each with what it does.
    pub commands: Vec<SearchCommand>,
}

/// A command of the search.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchCommand {
    /// How it is written.
    pub usage: String,
    /// What it does.
    pub what: String,
}

/// Why a command cannot be done.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchRefused {
    /// One sentence.
    pub error: String,
}

/// Answer of `fulcrum suggest --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchSuggestions {
    /// What was found.
    #[serde(flatten)]
    pub found: NavigatorAutomatic,
    /// The value type that was searched.
    pub value: String,
    /// Its unit.
    pub unit: String,
    /// In a comparison, the cost of both sides.
    pub sides: Option<NavigatorSides>,
}

/// Answer of `fulcrum profile top --json`. In a comparison costs are A - B.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTop {
    /// The value type.
    pub value: String,
    /// Its unit.
    pub unit: String,
    /// The profile's total.
    pub total: i64,
    /// In a comparison, the cost of both sides.
    pub sides: Option<NavigatorSides>,
    /// The most costly first.
    pub functions: Vec<ProfileFunction>,
    /// What a reader should know, whole sentences.
    pub notes: Vec<String>,
}

/// A function's costs.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileFunction {
    /// Its name.
    pub name: String,
    /// Its own cost.
    pub base: i64,
    /// Its cost with everything that it calls.
    pub cum: i64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
}

/// Answer of `fulcrum profile info --json`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileInfo {
    /// The file's format.
    pub format: String,
    /// `tree` or `graph`.
    pub kind: ProfileCalls,
    /// What was measured.
    pub value_types: Vec<ProfileValueType>,
    /// The name of the value type that is shown first.
    pub default_value: String,
    /// How large it is.
    #[serde(flatten)]
    pub size: ProfileSize,
    /// What became of names.
    pub names: ProfileNames,
    /// What a reader should know, whole sentences.
    pub notes: Vec<String>,
}

/// What a profile knows of calls.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ProfileCalls {
    /// Whole stacks.
    Tree,
    /// Callers and callees.
    Graph,
}

/// A value type and its total.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileValueType {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The sum over the functions' own costs.
    pub total: i64,
}

/// How large a profile is.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(untagged)]
pub enum ProfileSize {
    /// A call tree.
    Tree {
        /// Nodes.
        nodes: u64,
        /// Different frames.
        frames: u64,
        /// The longest path.
        depth: u64,
    },
    /// A call graph.
    Graph {
        /// Functions.
        functions: u64,
        /// Pairs of caller and callee.
        calls: u64,
    },
}

/// What rules made of names.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileNames {
    /// The version of the rules. Under another one labels may not find their paths.
    pub version: u32,
    /// The rules that were applied, in this order.
    pub rules: Vec<String>,
    /// Names that they changed.
    pub renamed: Vec<NavigatorRenamed>,
}
