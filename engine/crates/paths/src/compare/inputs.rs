//! The inputs of a comparison: one or several call trees on each side, and how their costs become one number.

use std::sync::Arc;

use crate::compare::observations::Observations;
use crate::compare::spread::Spread;
use crate::profile::call_tree::index::Index;
use crate::profile::interface::Sides;

/// How the costs of different inputs are made comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Normalisation {
    /// Costs as they were measured.
    #[default]
    None,
    /// Scales every input to the mean total of B, so that shares are compared.
    Totals,
    /// Multiplies the costs of A by a factor, for instance by how many more requests B served.
    Factor(f64),
}

/// The call trees of both sides.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// The trees of A, then those of B.
    trees: Vec<Index>,
    /// The number of trees of A.
    of_a: usize,
    /// The factor for each tree's costs. `None` if all are 1, so that sums stay exact.
    scales: Option<Vec<f64>>,
    /// If units of work are compared, the observations of the one tree on each side.
    observed: Option<[Arc<Observations>; 2]>,
}

impl Inputs {
    /// Each side needs at least one tree.
    pub(crate) fn new(a: Vec<Index>, b: Vec<Index>, normalisation: Normalisation) -> Self {
        assert!(!a.is_empty() && !b.is_empty(), "both sides have inputs");
        let of_a = a.len();
        let trees: Vec<Index> = a.into_iter().chain(b).collect();
        let scales = match normalisation {
            Normalisation::None => None,
            Normalisation::Factor(factor) => {
                let scale = |n| if n < of_a { factor } else { 1.0 };
                Some((0..trees.len()).map(scale).collect())
            }
            Normalisation::Totals => {
                let totals = trees.iter().map(|tree| tree.total() as f64);
                let totals: Vec<f64> = totals.collect();
                let b = &totals[of_a..];
                let wanted = b.iter().sum::<f64>() / b.len() as f64;
                // An input without cost has nothing to scale.
                let scale = |&total: &f64| if total == 0.0 { 1.0 } else { wanted / total };
                Some(totals.iter().map(scale).collect())
            }
        };
        Inputs {
            trees,
            of_a,
            scales,
            observed: None,
        }
    }

    /// One tree on each side, with the costs of several units of work. The mean cost of a unit is compared.
    pub(crate) fn of_units(trees: [Index; 2], observed: [Arc<Observations>; 2]) -> Self {
        let scale = |it: &Arc<Observations>| 1.0 / it.units().max(1) as f64;
        Inputs {
            trees: trees.into(),
            of_a: 1,
            scales: Some(observed.iter().map(scale).collect()),
            observed: Some(observed),
        }
    }

    /// The observations of single units of work on both sides.
    pub(crate) fn observed(&self) -> Option<&[Arc<Observations>; 2]> {
        self.observed.as_ref()
    }

    /// All trees, those of A first.
    pub(crate) fn trees(&self) -> &[Index] {
        &self.trees
    }

    /// The weight of a tree's cost in the difference of the means.
    pub(crate) fn weight(&self, tree: usize) -> f64 {
        let scale = self.scales.as_ref().map_or(1.0, |it| it[tree]);
        match tree < self.of_a {
            true => scale / self.of_a as f64,
            false => -scale / (self.trees.len() - self.of_a) as f64,
        }
    }

    /// The mean cost on each side, rounded to whole units. `costs` has the cost in each tree.
    pub(crate) fn sides(&self, costs: &[i64]) -> Sides {
        let (a, b) = costs.split_at(self.of_a);
        let mean = |costs: &[i64], first: usize| match &self.scales {
            None => rounded(
                costs.iter().map(|&it| i128::from(it)).sum(),
                costs.len() as i128,
            ),
            Some(scales) => {
                let scaled = costs.iter().zip(&scales[first..]);
                let sum: f64 = scaled.map(|(&cost, scale)| cost as f64 * scale).sum();
                half_away(sum / costs.len() as f64)
            }
        };
        Sides {
            a: mean(a, 0),
            b: mean(b, self.of_a),
        }
    }

    /// How certain the difference is. `None` unless both sides have several inputs.
    pub(crate) fn spread(&self, costs: &[i64]) -> Option<Spread> {
        let scaled: Vec<f64> = match &self.scales {
            None => costs.iter().map(|&it| it as f64).collect(),
            Some(scales) => {
                let each = costs.iter().zip(scales);
                each.map(|(&cost, scale)| cost as f64 * scale).collect()
            }
        };
        let (a, b) = scaled.split_at(self.of_a);
        Spread::of(a, b)
    }
}

/// Rounds to the nearest whole number, halves away from 0. Scaling may have moved a half by a last digit, and on one side of a
/// comparison only, so what is that close to a half counts as a half.
fn half_away(mean: f64) -> i64 {
    let half = (mean * 2.0).round() / 2.0;
    let near = (mean - half).abs() <= 1e-12 * mean.abs();
    (if near { half } else { mean }).round() as i64
}

/// The rounded quotient, halves away from 0.
fn rounded(sum: i128, count: i128) -> i64 {
    let half = count / 2 * sum.signum();
    // The mean of i64 values fits in i64.
    ((sum + half) / count) as i64
}

#[cfg(test)]
mod tests {
    use super::{half_away, rounded};

    #[test]
    fn halves_are_halves_whatever_scaling_made_of_them() {
        for (mean, expected) in [
            (66.5, 67),
            (66.5 / 70.0 * 70.0, 67),
            (66.499_999_999_999_99, 67),
            (66.499, 66),
            (-66.499_999_999_999_99, -67),
            (0.0, 0),
            (0.499_999, 0),
        ] {
            assert_eq!(half_away(mean), expected, "{mean}");
        }
    }

    #[test]
    fn means_are_rounded_to_the_nearest_and_those_of_one_are_exact() {
        for (sum, count, expected) in [
            (7, 2, 4),
            (-7, 2, -4),
            (7, 3, 2),
            (8, 3, 3),
            (-8, 3, -3),
            (i64::MAX as i128, 1, i64::MAX),
        ] {
            assert_eq!(rounded(sum, count), expected, "{sum} / {count}");
        }
    }
}
