//! Intervals by bootstrap over experiments (95 %, percentile, deterministic).
//!
//! Each replicate draws the experiments of every (line, speedup) group anew and repeats the analysis: periods, program
//! speedups, eq. 8, slope. What it draws are *residuals*: by how much an experiment's count differs from what its group's
//! rate gives for its duration, as a fraction. A residual that stands in for an experiment with fewer visits grows by the
//! square root, as counting noise does; with more visits it keeps its size, as a machine's noise may.
//!
//! A group draws from its own residuals when it has enough of them. Most groups of a real recording have one to three
//! experiments, whose own residuals say nothing. They draw from all residuals of the line, or else of the progress point; those
//! draws are smoothed, because a handful of residuals has no tails. Residuals are scaled by √(n/(n−1)), because the group's own
//! mean was subtracted, and widened by Student's t for their degrees of freedom. When even the progress point has too few, counts
//! are assumed to scatter at least as Poisson counts do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fulcrum_model::TargetKind;
use fulcrum_model::causal::PointKind;
use fulcrum_stats::{Random, student};

use crate::estimate::baseline::Measured;
use crate::estimate::combine::{Group, Line, Series};
use crate::estimate::phase::Rates;

/// Residuals with fewer degrees of freedom than this are no sample to draw from.
const ENOUGH: usize = 7;

/// The width of a smoothed residual, in standard deviations of all.
const SMOOTHING: f64 = 0.5;

/// Residuals to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    kind: PointKind,
    residuals: Vec<Residual>,
    /// How many of them are independent.
    freedom: usize,
}

/// By how much an experiment differs from its group's rate.
#[derive(Clone, Copy, Debug)]
struct Residual {
    /// As a fraction of the expected count, scaled by √(n/(n−1)).
    relative: f64,
    /// √ of the expected count.
    root: f64,
}

impl Pool {
    /// All residuals of a progress point.
    pub(crate) fn of_point(kind: PointKind, lines: &BTreeMap<usize, Series>) -> Self {
        Pool::of(kind, lines.values().flat_map(Series::all))
    }

    fn of<'a>(kind: PointKind, groups: impl Iterator<Item = &'a Group>) -> Self {
        let mut pool = Pool {
            kind,
            residuals: Vec::new(),
            freedom: 0,
        };
        for group in groups {
            let n = group.observations.len();
            let sums =
                group.denominator > 0.0 && group.numerator > 0.0 && group.numerator.is_finite();
            if n < 2 || group.damaged || !sums {
                continue;
            }
            let scale = (n as f64 / (n - 1) as f64).sqrt();
            pool.freedom += n - 1;
            pool.residuals.extend(
                expected(group)
                    .zip(&group.observations)
                    .map(|(expected, o)| {
                        let found = match kind {
                            PointKind::Throughput => o.denominator - expected,
                            // The numerator's error in units of the latency: requests too many, as it were.
                            PointKind::Latency => {
                                o.numerator * group.denominator / group.numerator - o.denominator
                            }
                        };
                        Residual {
                            relative: scale * found / expected,
                            root: (expected / o.count).sqrt(),
                        }
                    }),
            );
        }
        pool
    }

    fn is_enough(&self) -> bool {
        self.freedom >= ENOUGH
    }

    /// The factor that widens its spread because so few residuals determine it. `freedom` must not be 0.
    fn widening(&self) -> f64 {
        student::widening(self.freedom as f64)
    }

    /// Root mean square of `size` over the residuals.
    fn spread(&self, size: impl Fn(&Residual) -> f64) -> f64 {
        spread(&self.residuals, size)
    }

    /// Standard deviation of a count of 1, for intervals of so few residuals.
    fn counting(&self) -> f64 {
        if self.freedom == 0 {
            return self.poisson();
        }
        (self.spread(|r| r.relative * r.root) * self.widening()).max(self.poisson())
    }

    /// What Poisson arrivals would scatter: for latency both the arrivals and the requests in progress do.
    fn poisson(&self) -> f64 {
        match self.kind {
            PointKind::Throughput => 1.0,
            PointKind::Latency => std::f64::consts::SQRT_2,
        }
    }
}

/// Root mean square of `size` over these residuals.
fn spread(residuals: &[Residual], size: impl Fn(&Residual) -> f64) -> f64 {
    let squares: f64 = residuals.iter().map(|r| size(r).powi(2)).sum();
    (squares / residuals.len().max(1) as f64).sqrt()
}

/// What the group's rate gives for each experiment's duration.
fn expected(group: &Group) -> impl Iterator<Item = f64> {
    let total: f64 = group.observations.iter().map(|o| o.duration).sum();
    group
        .observations
        .iter()
        .map(move |o| group.denominator * o.duration / total)
}

/// How one group is drawn.
struct Draw<'a> {
    source: ReplicateSource<'a>,
    /// Each experiment's expected count, and √ of it without how often the experiment counts.
    expected: Vec<(f64, f64)>,
    /// The group's whole count.
    total: f64,
    /// The number of equally weighted visits that say as much.
    effective: f64,
    /// Σ numerator / Σ denominator.
    period: f64,
}

enum ReplicateSource<'a> {
    /// From these residuals, widened by this; smoothed when their spread is given.
    Residuals {
        residuals: Cow<'a, [Residual]>,
        widening: f64,
        smooth: Option<f64>,
    },
    /// Normal, with this standard deviation for a count of 1.
    Normal(f64),
}

impl Draw<'_> {
    /// About the variance of the period's relative error.
    fn variance(&self) -> f64 {
        match &self.source {
            ReplicateSource::Residuals {
                residuals,
                widening,
                ..
            } => {
                let squares: f64 = self.expected.iter().map(|(count, _)| count * count).sum();
                let spread = spread(residuals, |r| r.relative) * widening;
                spread * spread * squares / (self.total * self.total)
            }
            ReplicateSource::Normal(spread) => spread * spread / self.effective,
        }
    }

    /// The group's period in one replicate.
    fn period(&self, kind: PointKind, random: &mut Random) -> f64 {
        let error = match &self.source {
            ReplicateSource::Residuals {
                residuals,
                widening,
                smooth,
            } => {
                let mut sum = 0.0;
                for (expected, root) in &self.expected {
                    let residual = residuals[random.index(residuals.len())];
                    let relative = match smooth {
                        Some(spread) => smoothed(residual.relative, *spread, random),
                        None => residual.relative,
                    };
                    // relative · max(1, root of its own count / root of this one) · this count
                    sum += relative * expected * (residual.root / root).max(1.0);
                }
                sum / self.total * widening
            }
            ReplicateSource::Normal(spread) => spread * random.normal() / self.effective.sqrt(),
        };
        // A count cannot fall to nothing: the points have visits.
        let scale = (1.0 + error).max(0.1);
        match kind {
            PointKind::Throughput => self.period / scale,
            PointKind::Latency => self.period * scale,
        }
    }
}

/// A residual with tails: it scatters as much as the residuals do, whose spread is given.
fn smoothed(relative: f64, spread: f64, random: &mut Random) -> f64 {
    (relative + SMOOTHING * spread * random.normal()) / (1.0 + SMOOTHING * SMOOTHING).sqrt()
}

/// Replicates of one line's measurements. Those of one line are the same each time.
pub(crate) struct Replicates<'a> {
    line: &'a Line<'a>,
    rates: &'a Rates<'a>,
    kind: PointKind,
    draws: Vec<Draw<'a>>,
    placebo_draws: Vec<Draw<'a>>,
    random: Random,
    placebo_random: Random,
    periods: Vec<f64>,
    placebos: Vec<f64>,
}

/// One replicate.
pub(crate) struct Replicate<'r> {
    /// Eq. 8's factor.
    pub factor: f64,
    /// Of each point, the baseline's first.
    pub periods: &'r [f64],
    /// Of each of the placebos' points.
    pub placebos: &'r [f64],
}

impl<'a> Replicates<'a> {
    /// Of a line whose points are `measured`, the first of which is the baseline.
    pub(crate) fn new(
        line: &'a Line<'a>,
        measured: &[Measured<'_>],
        placebos: &[Measured<'_>],
        point: &'a Pool,
        rates: &'a Rates<'a>,
    ) -> Self {
        let all = measured.iter().chain(placebos).map(|m| m.group);
        let of_line = Pool::of(point.kind, all);
        let draws = |of: &[Measured<'_>]| -> Vec<Draw<'a>> {
            of.iter().map(|m| draw(m.group, &of_line, point)).collect()
        };
        let id = line.id;
        let number = id.location.line.to_le_bytes();
        let mut names = vec![id.location.file.as_bytes(), &number];
        if id.kind != TargetKind::Line {
            names.extend([id.kind.word().as_bytes(), id.name.as_bytes()]);
        }
        let random = Random::of(&names);
        names.push(b"placebo");
        let placebo_random = Random::of(&names);
        Replicates {
            line,
            rates,
            kind: point.kind,
            draws: draws(measured),
            placebo_draws: draws(placebos),
            random,
            placebo_random,
            periods: Vec::with_capacity(measured.len()),
            placebos: Vec::with_capacity(placebos.len()),
        }
    }

    /// The periods that were measured, the baseline's first.
    pub(crate) fn found(&self) -> Vec<f64> {
        self.draws.iter().map(|it| it.period).collect()
    }

    /// The part of each point's effect that is the line's own, see [`Rates::shares`].
    pub(crate) fn shares(&self, measured: &[Measured<'_>]) -> Vec<f64> {
        self.rates.shares(self.line, measured).collect()
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Replicate<'_> {
        let factor = phase_factor(self.line, self.rates, &mut self.random);
        let (kind, random) = (self.kind, &mut self.random);
        self.periods.clear();
        let periods = self.draws.iter().map(|it| it.period(kind, random));
        self.periods.extend(periods);
        let random = &mut self.placebo_random;
        self.placebos.clear();
        let placebos = self.placebo_draws.iter().map(|it| it.period(kind, random));
        self.placebos.extend(placebos);
        Replicate {
            factor,
            periods: &self.periods,
            placebos: &self.placebos,
        }
    }

    /// How much each of the placebos' points says, set against the baseline that all of them share: about the inverse of
    /// its variance. No count is known to better than one visit.
    pub(crate) fn weights_of_placebos(&self) -> Vec<f64> {
        let variance = |it: &Draw<'_>| it.variance().max(it.effective.max(1.0).powi(-2));
        let shared = self.placebo_draws.len() as f64;
        let baseline = self.draws.first().map_or(0.0, variance) * shared;
        let weight = |it: &Draw<'_>| 1.0 / (baseline + variance(it));
        self.placebo_draws.iter().map(weight).collect()
    }
}

fn draw<'a>(group: &Group, of_line: &Pool, point: &'a Pool) -> Draw<'a> {
    let own = Pool::of(point.kind, std::iter::once(group));
    let few = group.observations.len() <= ENOUGH;
    let from = |residuals, pool: &Pool| ReplicateSource::Residuals {
        residuals,
        widening: pool.widening(),
        smooth: few.then(|| pool.spread(|r| r.relative)),
    };
    let source = if own.is_enough() {
        from(own.residuals.clone().into(), &own)
    } else if of_line.is_enough() {
        from(of_line.residuals.clone().into(), of_line)
    } else if point.is_enough() {
        from((&point.residuals).into(), point)
    } else {
        ReplicateSource::Normal(point.counting())
    };
    Draw {
        source,
        expected: expected(group)
            .zip(&group.observations)
            .map(|(expected, o)| (expected, (expected / o.count).sqrt()))
            .collect(),
        total: group.denominator,
        effective: group.denominator * group.denominator / group.squares,
        period: group.numerator / group.denominator,
    }
}

/// Eq. 8's factor in one replicate: `t_obs / s_obs` over experiments drawn anew; few experiments scatter as Poisson counts.
fn phase_factor(line: &Line<'_>, rates: &Rates<'_>, random: &mut Random) -> f64 {
    let Some(rate) = rates.rate(line) else {
        return 1.0;
    };
    let n = line.observed.len();
    let (mut t_obs, mut s_obs) = (0.0, 0.0);
    if n > ENOUGH {
        for _ in 0..n {
            let (duration, samples) = line.observed[random.index(n)];
            t_obs += duration;
            s_obs += samples;
        }
    } else {
        for (duration, samples) in &line.observed {
            t_obs += duration;
            s_obs += samples;
        }
        s_obs += s_obs.sqrt() * random.normal();
    }
    // At least half a sample: the line was seen, and a factor must stay finite.
    t_obs / s_obs.max(0.5) * rate
}
