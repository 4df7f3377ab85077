//! A renamed function.

use super::rules::Rule;

/// A name that rules changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The name in the file.
    pub raw: String,
    /// The name in paths.
    pub name: String,
    /// The rules that changed it, in order.
    pub rules: Vec<Rule>,
}
