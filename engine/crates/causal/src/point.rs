//! What tells progress points apart.

use fulcrum_model::causal::PointKind;

/// A progress point. The same name can count both ways; those are two points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointKey {
    pub name: String,
    pub kind: PointKind,
}

impl PointKey {
    fn order(&self) -> (&str, u8) {
        (&self.name, matches!(self.kind, PointKind::Latency).into())
    }
}

impl PartialOrd for PointKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PointKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}
