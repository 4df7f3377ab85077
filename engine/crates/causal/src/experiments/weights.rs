//! Adaptive choice, undone: how much each experiment counts (inverse probability weighting, Horvitz and Thompson 1952).
//!
//! The recorder tests promising targets more often than settled ones. So a target's experiments cluster where it was promising:
//! in some phase of the program, or after a lucky start. An experiment's *weight* is the relative probability with which a
//! sample of its target was accepted as the choice. Dividing by it restores what choosing by samples alone would have given.
//!
//! The chance that a target is chosen is its weight over the mean weight of all samples at that time, and that mean moves
//! whenever any weight does. It need not be recorded: targets are chosen in proportion to samples × weight, so the mean of
//! 1 / weight over the experiments around is its inverse. So an experiment counts `H / weight`, with `H` the harmonic mean
//! of the weights of its neighbours in time; every stretch of the run then counts as much as it lasted.

use fulcrum_model::causal::Experiment;

/// Neighbours on either side.
const REACH: usize = 24;

/// How much each experiment counts; 1 throughout when the choice was not adaptive.
pub(crate) fn counts(experiments: &[Experiment]) -> Vec<f64> {
    if experiments.iter().all(|it| it.weight == 1.0) {
        return vec![1.0; experiments.len()];
    }
    let inverse: Vec<f64> = experiments.iter().map(|it| 1.0 / it.weight).collect();
    let mut sums = Vec::with_capacity(inverse.len() + 1);
    sums.push(0.0);
    for value in &inverse {
        sums.push(sums[sums.len() - 1] + value);
    }
    let count = |(index, own): (usize, &f64)| {
        let from = index.saturating_sub(REACH);
        let to = (index + REACH + 1).min(inverse.len());
        let mean = (sums[to] - sums[from]) / (to - from) as f64;
        own / mean
    };
    inverse.iter().enumerate().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(weights: &[f64], expected: &[f64]) {
        let experiments: Vec<Experiment> = weights
            .iter()
            .map(|&weight| Experiment {
                weight,
                ..Experiment::on("a.c:1".parse().expect("a target"))
            })
            .collect();
        let found = counts(&experiments);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{weights:?}: {found}");
        }
    }

    #[test]
    fn rarely_accepted_targets_count_more() {
        check(&[1.0, 1.0], &[1.0, 1.0]);
        check(&[0.2, 0.2], &[1.0, 1.0]); // only ratios matter
        check(&[1.0, 0.25], &[0.4, 1.6]);
        check(&[], &[]);
    }

    #[test]
    fn a_stretch_counts_as_much_as_it_lasted() {
        // First everything is accepted, then only the second target as before.
        let mut weights = vec![1.0; 200];
        weights.extend((0..200).map(|n| if n % 4 == 0 { 0.2 } else { 1.0 }));
        let experiments: Vec<Experiment> = weights
            .iter()
            .map(|&weight| Experiment {
                weight,
                ..Experiment::on("a.c:1".parse().expect("a target"))
            })
            .collect();
        let found = counts(&experiments);
        assert!((found[..150].iter().sum::<f64>() - 150.0).abs() < 1e-9);
        let later: f64 = found[250..350].iter().sum();
        assert!((later - 100.0).abs() < 2.0, "{later}");
    }
}
