//! Draws excluded methods to measure again: a method that was cheap beside its callees may not be cheap without their probes.

use std::collections::BTreeSet;

use fulcrum_stats::Random;
use fulcrum_stats::random::STEP;

use super::MethodName;

/// Draws some of the excluded methods, all with the same probability. The same seed and iteration draw the same methods.
pub fn recheck(
    excluded: &BTreeSet<MethodName>,
    count: usize,
    seed: u64,
    iteration: u64,
) -> BTreeSet<MethodName> {
    let mut rest: Vec<&MethodName> = excluded.iter().collect();
    let mut random = Random::new(seed ^ iteration.wrapping_mul(STEP));
    let mut drawn = BTreeSet::new();
    while drawn.len() < count && !rest.is_empty() {
        let at = random.index(rest.len());
        drawn.insert(rest.swap_remove(at).clone());
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(count: usize) -> BTreeSet<MethodName> {
        let name = |n: usize| MethodName {
            class: "a.B".into(),
            name: format!("m{n}"),
            descriptor: "()V".into(),
        };
        (0..count).map(name).collect()
    }

    #[test]
    fn draws_are_repeatable_and_differ_by_iteration() {
        let all = excluded(1000);
        let first = recheck(&all, 5, 1, 1);
        assert_eq!(first.len(), 5);
        assert_eq!(first, recheck(&all, 5, 1, 1));
        assert_ne!(first, recheck(&all, 5, 1, 2));
        assert_ne!(first, recheck(&all, 5, 2, 1));
        assert_eq!(recheck(&excluded(3), 5, 1, 1), excluded(3));
        assert!(recheck(&excluded(0), 5, 1, 1).is_empty());
    }

    #[test]
    fn every_method_is_as_likely() {
        let all = excluded(10);
        let mut drawn = std::collections::BTreeMap::<MethodName, u32>::new();
        for iteration in 0..2000 {
            for method in recheck(&all, 2, 7, iteration) {
                *drawn.entry(method).or_default() += 1;
            }
        }
        // 400 are expected of each; the standard deviation is 18.
        assert!(
            drawn.values().all(|count| (320..480).contains(count)),
            "{drawn:?}"
        );
        assert_eq!(drawn.len(), 10);
    }
}
