//! Opening, commanding and closing a navigator; the automatic search; the report.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{NavigatorPathSides, NavigatorPathSpread, NavigatorView, NavigatorWhole};
use crate::{NavigatorId, ProgressToken};

/// Parameters of `fulcrum/navigator/open`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
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
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorNormalisation {
    /// Every run is scaled to the mean total of B.
    Totals,
    /// The costs of A are multiplied by this, above 0.
    Factor(f64),
}

/// An open navigator.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorOpened {
    /// What the other requests take.
    pub id: NavigatorId,
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
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorValueType {
    /// As the profile names it: `cpu`.
    pub name: String,
    /// As the profile names it: `ns`; empty for plain counts.
    pub unit: String,
}

/// Parameters of `fulcrum/navigator/command`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorCommandParams {
    /// The navigator.
    pub id: NavigatorId,
    /// What to do.
    pub command: NavigatorCommand,
}

/// What an analyst does.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
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
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorEnd {
    /// Callers.
    Top,
    /// Callees.
    Bottom,
}

/// A path and the label that it gets.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorAccepted {
    /// The label.
    pub label: String,
    /// The path.
    pub path: Vec<String>,
}

/// Parameters of `fulcrum/navigator/automatic`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorAutomaticParams {
    /// The navigator.
    pub id: NavigatorId,
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

/// What the automatic search found in addition to the labels. It labels nothing itself: see the command `accept`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorAutomatic {
    /// The denominator of the fractions.
    pub total: i64,
    /// What that is.
    pub of: NavigatorWhole,
    /// The cum of labels and suggestions together, as a fraction of it.
    pub coverage: f64,
    /// The part of it that labels covered before.
    pub labelled: f64,
    /// The greatest marginal coverage first.
    pub suggestions: Vec<NavigatorSuggestion>,
}

/// A call sequence that the automatic search found.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
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
    /// The part of its cum that neither labels nor suggestions before cover, as a fraction of the denominator.
    pub marginal: f64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// How certain the difference is, with several runs on each side.
    pub spread: Option<NavigatorPathSpread>,
    /// Why it was chosen; a whole sentence.
    pub why: String,
}

/// Parameters of `fulcrum/navigator/names`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorNamesParams {
    /// The navigator.
    pub id: NavigatorId,
    /// How many names to send at most.
    pub count: u32,
}

/// Answer to `fulcrum/navigator/names`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorNames {
    /// The version of the rules. Under another one labels may not find their paths.
    pub version: u32,
    /// All rules, in the order in which they are applied.
    pub rules: Vec<NavigatorNameRule>,
    /// Names that they changed, sorted by what they were.
    pub renamed: Vec<NavigatorRenamed>,
    /// How many were not sent.
    pub more: u32,
}

/// A rule that makes names alike.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorNameRule {
    /// As `names` of `fulcrum/navigator/open` takes it.
    pub name: String,
    /// An example, and what becomes of it.
    pub before: String,
    /// What becomes of the example.
    pub after: String,
    /// It is applied unless another choice is made.
    pub by_default: bool,
    /// It was applied to this profile.
    pub applied: bool,
    /// Different names of this profile that it changed.
    pub names: u32,
}

/// A name that rules changed.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorRenamed {
    /// As the file has it.
    pub raw: String,
    /// As paths know it.
    pub name: String,
    /// The rules that changed it, in this order.
    pub rules: Vec<String>,
}

/// Parameters of `fulcrum/navigator/report`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorReportParams {
    /// The navigator.
    pub id: NavigatorId,
}

/// Answer to `fulcrum/navigator/report`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorReport {
    /// The labels with paths, costs, overlap and estimate.
    pub markdown: String,
}

/// Parameters of `fulcrum/navigator/close`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorCloseParams {
    /// The navigator.
    pub id: NavigatorId,
}
