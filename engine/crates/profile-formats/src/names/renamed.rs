//! What the rules did to a name.

use super::rules::Rule;

/// A name that rules changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// As the file has it.
    pub raw: String,
    /// As paths know it.
    pub name: String,
    /// What changed it, in this order.
    pub rules: Vec<Rule>,
}
