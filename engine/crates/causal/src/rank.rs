//! Ranking (COZ §2): steepest slope first, equal slopes by location.

use fulcrum_model::causal::Target;

pub fn rank(targets: &mut [Target]) {
    targets.sort_by(|a, b| {
        b.slope
            .total_cmp(&a.slope)
            .then_with(|| a.location.cmp(&b.location))
    });
}
