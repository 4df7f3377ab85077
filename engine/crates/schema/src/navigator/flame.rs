//! Flame graphs.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::NavigatorSides;
use crate::NavigatorId;

/// Parameters of `fulcrum/navigator/flame`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlameParams {
    /// The navigator.
    pub id: NavigatorId,
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
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorFlameSide {
    /// Who calls it: the nearest caller at depth 1.
    Callers,
    /// What it calls.
    Callees,
}

/// What makes boxes wide in a comparison. Without one it is the cost, whatever is asked for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlame {
    /// The names that `name` counts.
    pub names: Vec<String>,
    /// Those of `names` that are processes or threads: no part of a path.
    pub containers: Vec<u32>,
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
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlameSearchParams {
    /// The navigator.
    pub id: NavigatorId,
    /// A part of a name. Upper and lower case are the same.
    pub text: String,
    /// Only below this node of the tree; absent: the whole tree.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub root: Option<u32>,
}

/// What a text matches in the whole tree.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFlameSearchResult {
    /// Names that hold the text.
    pub count: u32,
    /// The first hundred of them, those that cost most first.
    pub names: Vec<String>,
    /// The cost of all matched calls with what they call; what lies within another counts once. In a comparison A - B.
    pub cost: i64,
    /// That as a fraction of the cost of what was searched, in a comparison of the view's `total`; null when that is 0.
    pub share: Option<f64>,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorSides>,
}
