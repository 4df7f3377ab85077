//! Ranking (COZ §2): steepest slope first, equal slopes by location.

use fulcrum_model::causal::Target;
use fulcrum_model::{Location, TargetId};

pub fn rank(targets: &mut [Target]) {
    targets.sort_by(|a, b| {
        b.slope
            .total_cmp(&a.slope)
            .then_with(|| order(a).cmp(&order(b)))
    });
}

/// By place, then by kind and name.
fn order(target: &Target) -> (&Location, &TargetId) {
    (&target.id.location, &target.id)
}
