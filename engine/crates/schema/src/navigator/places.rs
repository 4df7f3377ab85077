//! Names of a profile and places in the workspace.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::NavigatorPathSides;
use crate::{LineState, NavigatorId};

/// Parameters of `fulcrum/navigator/frame`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFrameParams {
    /// The navigator.
    pub id: NavigatorId,
    /// A name of the profile.
    pub name: String,
}

/// Answer to `fulcrum/navigator/frame`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorFrameResult {
    /// Best first: where the profile says that it is, then definitions by name.
    pub locations: Vec<NavigatorLocation>,
    /// Why there is none, or may be more; a whole sentence.
    pub note: Option<String>,
}

/// A place in the workspace.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
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
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLinesParams {
    /// The navigator.
    pub id: NavigatorId,
    /// The document, open or not.
    pub uri: String,
}

/// Answer to `fulcrum/navigator/lines`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLines {
    /// Ascending by line: those that ran, when the profile knows lines of this document, else one a function of the profile
    /// that is declared in it. In a comparison lines need both sides to have run the same code of the document.
    pub lines: Vec<NavigatorLine>,
    /// Why there are no lines that ran: they could not be read, or the sides of a comparison ran different code. A whole
    /// sentence, which the hovers of functions have, too.
    pub note: Option<String>,
}

/// What a line costs.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum NavigatorLineKind {
    /// It declares a function, whose cost it is.
    Function,
    /// It ran.
    Line,
}

/// What a line of a document, or the function that it declares, costs.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct NavigatorLine {
    /// 0-based line in the document as it is now.
    pub line: u32,
    /// Whose cost it is.
    pub kind: NavigatorLineKind,
    /// 1-based line as recorded; null when the profile has only the name.
    pub recorded_line: Option<u32>,
    /// `exact`: declared where the profile says, or a line that ran, in a function that is still there; `moved`: elsewhere, or
    /// the profile says only the name; `stale`: not found any more.
    pub state: LineState,
    /// The function's name in the profile.
    pub name: String,
    /// Its own cost, in the unit of the value type; in a comparison, A's less B's.
    pub base: i64,
    /// Its cost with everything that it calls; in a comparison, A's less B's.
    pub cum: i64,
    /// The base as a fraction of the view's `total`. 0 when that is 0.
    pub base_share: f64,
    /// The cum as a fraction of the same.
    pub cum_share: f64,
    /// Both sides in a comparison.
    pub sides: Option<NavigatorPathSides>,
    /// The gutter's shape, by the greater of base and a tenth of cum.
    pub heat: NavigatorHeat,
    /// In words: `12 (30.0 %) here, 40 (100 %) with calls`; in a comparison `+40 here (A 90 − B 50)`.
    pub text: String,
    /// Markdown for a hover: what it costs, of what, in which profile, and what that does not say.
    pub hover: String,
}

/// How much a function costs. In a comparison, how much dearer or cheaper it became.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
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
