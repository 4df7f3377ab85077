//! Ranking: targets with something to gain, then those without, then those that are not known yet; within each the steepest
//! slope first (COZ §2), equal slopes by location.
//!
//! Unknown slopes are often steep: by slope alone, rows without an answer would stand above the row with one.

use fulcrum_model::causal::{Shape, Target};
use fulcrum_model::{Location, TargetId};

pub(crate) fn rank(targets: &mut [Target]) {
    targets.sort_by(|a, b| {
        tier(a)
            .cmp(&tier(b))
            .then_with(|| b.slope.total_cmp(&a.slope))
            .then_with(|| order(a).cmp(&order(b)))
    });
}

/// What is known of a target, in the order in which readers want it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Gain,
    NoGain,
    Unknown,
}

fn tier(target: &Target) -> Tier {
    match target.shape {
        Shape::Gain1 | Shape::Gain2 | Shape::Gain3 | Shape::Gain4 => Tier::Gain,
        Shape::Flat | Shape::Harm1 | Shape::Harm2 | Shape::Harm3 => Tier::NoGain,
        Shape::Unknown => Tier::Unknown,
    }
}

/// By place, then by kind and name.
fn order(target: &Target) -> (&Location, &TargetId) {
    (&target.id.location, &target.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_with_a_verdict_stand_above_those_without() {
        let target = |line: u32, shape, slope| Target {
            id: format!("a.c:{line}").parse().expect("a target"),
            slope,
            slope_interval: None,
            contention: false,
            experiments: 9,
            minimum_effect: None,
            in_call: None,
            flags: Vec::new(),
            shape,
            points: Vec::new(),
        };
        let mut targets = vec![
            target(1, Shape::Unknown, 0.9),
            target(2, Shape::Harm1, -0.2),
            target(3, Shape::Gain1, 0.1),
            target(4, Shape::Flat, 0.01),
            target(5, Shape::Unknown, -0.7),
            target(7, Shape::Gain3, 0.3),
            target(6, Shape::Gain2, 0.3),
        ];
        rank(&mut targets);
        let lines: Vec<u32> = targets.iter().map(|it| it.id.location.line).collect();
        assert_eq!(lines, [6, 7, 3, 4, 2, 1, 5]);
    }
}
