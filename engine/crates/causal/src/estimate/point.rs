//! What tells progress points apart.

use fulcrum_model::causal::PointKind;

/// A progress point. The same name can count both ways; those are two points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PointKey {
    pub name: String,
    pub kind: PointKind,
}
