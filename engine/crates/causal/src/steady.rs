//! Processors that are faster in one experiment than in the next: by the clock's frequency, by what a sibling hyperthread
//! or a neighbour on the same host does. That is most of the noise of experiments on a machine that does nothing else.
//!
//! Each experiment says how fast a fixed piece of arithmetic was meanwhile. Virtual speedups are drawn at random, so they
//! have nothing to do with it, and what the two have in common within experiments of the same line and speedup is the
//! machine's doing: by how many percent a visit takes longer where the arithmetic is one percent slower. That is taken out
//! of every experiment (analysis of covariance, Fisher 1932). A program that the arithmetic says nothing about has a
//! coefficient near 0 and is left as it is.

use std::collections::HashMap;

/// Degrees of freedom from which on a coefficient is worth using.
const FEWEST: usize = 12;
/// No program suffers more than this many times as much as arithmetic does.
const MOST: f64 = 3.0;

/// What one experiment says about one progress point.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// Experiments with the same number differ in nothing but chance.
    pub group: usize,
    /// Logarithm of the speed.
    pub speed: f64,
    /// Logarithm of the period.
    pub period: f64,
    /// How much it counts: visits.
    pub weight: f64,
}

/// By how many percent a period grows where speed falls by one, and the mean logarithm of speed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dependence {
    coefficient: f64,
    usual: f64,
}

impl Dependence {
    /// Of one progress point's experiments. None at all when they are too few.
    pub fn of(said: &[Said]) -> Dependence {
        let mut groups: HashMap<usize, (f64, f64, f64)> = HashMap::new();
        for one in said {
            let (weight, speed, period) = groups.entry(one.group).or_default();
            *weight += one.weight;
            *speed += one.weight * one.speed;
            *period += one.weight * one.period;
        }
        if said.len() < groups.len() + FEWEST {
            return Dependence::default();
        }
        let (mut shared, mut own) = (0.0, 0.0);
        for one in said {
            let (weight, speed, period) = groups[&one.group];
            let from_mean = one.speed - speed / weight;
            shared += one.weight * from_mean * (one.period - period / weight);
            own += one.weight * from_mean * from_mean;
        }
        let weight: f64 = said.iter().map(|one| one.weight).sum();
        let usual = said.iter().map(|one| one.weight * one.speed).sum::<f64>() / weight;
        if own > 0.0 {
            Dependence {
                coefficient: (-shared / own).clamp(0.0, MOST),
                usual,
            }
        } else {
            Dependence::default()
        }
    }

    /// What turns a time that was measured at `speed` (a logarithm) into what it would have been at the usual one.
    pub fn factor(&self, speed: Option<f64>) -> f64 {
        speed.map_or(1.0, |it| (self.coefficient * (it - self.usual)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five groups of eight, whose machine slows by up to 7 %, and periods by `coefficient` times that.
    fn said(coefficient: f64) -> Vec<Said> {
        let each = (0..40_u32).map(|n| {
            let group = (n % 5) as usize;
            let speed = -0.01 * f64::from((n * 3) % 8);
            Said {
                group,
                speed,
                period: 2.0 - 0.1 * group as f64 - coefficient * speed,
                weight: 10.0 + f64::from(n % 3),
            }
        });
        each.collect()
    }

    #[test]
    fn the_machines_part_is_taken_out_whatever_the_groups_differ_in() {
        for coefficient in [0.0, 0.4, 1.7] {
            let said = said(coefficient);
            let found = Dependence::of(&said);
            assert!((found.coefficient - coefficient).abs() < 1e-9, "{found:?}");
            for one in &said {
                let steadied = one.period + found.factor(Some(one.speed)).ln();
                let group = 2.0 - 0.1 * one.group as f64;
                assert!((steadied - (group - coefficient * found.usual)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        // Faster where the machine is slower: chance.
        assert_eq!(Dependence::of(&said(-0.5)).coefficient, 0.0);
        assert_eq!(Dependence::of(&said(9.0)).coefficient, MOST);
        let few = &said(1.0)[..16];
        assert_eq!(Dependence::of(few), Dependence::default());
        assert_eq!(Dependence::of(&[]), Dependence::default());
        let constant: Vec<Said> = said(1.0)
            .iter()
            .map(|it| Said { speed: 5.0, ..*it })
            .collect();
        assert_eq!(Dependence::of(&constant).coefficient, 0.0);
        assert_eq!(Dependence::of(&said(1.0)).factor(None), 1.0);
    }
}
