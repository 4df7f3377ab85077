//! Intervals of a target, from replicates of its measurements.

use fulcrum_stats::{Interval, bootstrap};

use crate::estimate::baseline::Measured;
use crate::estimate::bootstrap::Replicates;
use crate::estimate::placebo::Cost;
use crate::estimate::slope::slope;

/// Intervals of one target.
pub(crate) struct Intervals {
    pub points: Vec<Interval>,
    pub slope: Interval,
    /// Variance of each group's relative error, the baseline first.
    pub noise: Vec<f64>,
}

/// The intervals of a target whose points are `measured`, the first of which is the baseline.
pub(crate) fn intervals(
    mut drawn: Replicates<'_>,
    measured: &[Measured<'_>],
    cost: Option<&Cost>,
    replicates: usize,
) -> Intervals {
    let shares = drawn.shares(measured);
    let found = drawn.found();
    let mut values = vec![Vec::with_capacity(replicates); measured.len()];
    let mut slopes = Vec::with_capacity(replicates);
    let mut effects = vec![0.0; measured.len()];
    let mut noise = vec![0.0; measured.len()];
    for k in 0..replicates {
        let replicate = drawn.next();
        let p0 = replicate.periods[0];
        for (n, period) in replicate.periods.iter().enumerate() {
            noise[n] += (period / found[n] - 1.0).powi(2) / replicates as f64;
            if n > 0 {
                let paused = cost.map_or(0.0, |cost| cost.share_in(k, &measured[n], period / p0));
                effects[n] = ((p0 - period) / p0 + paused) * replicate.factor * shares[n];
            }
        }
        for (value, effect) in values.iter_mut().zip(&effects) {
            value.push(*effect);
        }
        slopes.push(slope(
            measured
                .iter()
                .map(|m| m.group.speedup)
                .zip(effects.iter().copied()),
        ));
    }
    Intervals {
        points: values
            .into_iter()
            .map(|mut it| bootstrap::interval(&mut it))
            .collect(),
        slope: bootstrap::interval(&mut slopes),
        noise,
    }
}
