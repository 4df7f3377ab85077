//! Methods that were left out and are looked at again: what was cheap beside its callees may not be without their probes.

use std::collections::BTreeSet;

use super::MethodName;

/// Draws so many of the excluded methods, each as likely as any other. The same seed and iteration draw the same ones.
pub fn recheck(
    excluded: &BTreeSet<MethodName>,
    count: usize,
    seed: u64,
    iteration: u64,
) -> BTreeSet<MethodName> {
    let mut rest: Vec<&MethodName> = excluded.iter().collect();
    let mut random = Random(seed ^ iteration.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut drawn = BTreeSet::new();
    while drawn.len() < count && !rest.is_empty() {
        let at = random.below(rest.len() as u64) as usize;
        drawn.insert(rest.swap_remove(at).clone());
    }
    drawn
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The upper half of the product is uniform but for one part in 2^64 divided by the end.
        ((u128::from(it ^ (it >> 31)) * u128::from(end)) >> 64) as u64
    }
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
