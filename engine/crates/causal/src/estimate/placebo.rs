//! What pausing itself costs, and how results are freed of it.
//!
//! A placebo experiment makes the pauses of a virtual speedup in every thread, including the one that runs the target. All
//! threads are then delayed alike, and a program whose pauses cost nothing keeps its baseline period. If it takes longer (late
//! wake-ups, cold caches, our own work), speedups pay for that too, once for each pause. Placebos make more pauses than the
//! speedups that they stand for: with two threads twice as many; with one thread, where a speedup makes none, one for each
//! sample. So the cost of *one pause* is estimated, and the cost of its own pauses is added back to every result.
//!
//! With `r` pauses a nanosecond, a period `p` holds pauses that cost `r · p · c`. So the placebos of one target at one speedup
//! `s` say `p_placebo − p_0 = r · p_placebo · c(s)`. Over all targets of a progress point, `c(s) = a + b · (s − ⅝)` is fitted by
//! weighted least squares, with a normal prior around 0 for `a` and for `b`, [`USUAL_NS`] wide: a handful of placebos claims
//! nothing absurd. Replicates of the bootstrap draw the placebos, the baselines and the prior anew, so intervals include what
//! the placebos leave open.
//!
//! No pause gives time back. A program may gain from placebos in another way: a thread that pauses is not waiting, so nobody has to
//! wake it. That is no part of the cost, which is at least 0.
//!
//! In a placebo every thread pauses, including one that others wait for. In a speedup the others pause, and the cost may fall
//! into time in which they wait anyway. How much of it does is not observable. So half of the cost of its pauses is added back to
//! a result, and to each replicate, by the toss of a coin, nothing or all of it: intervals include both.

use fulcrum_model::causal::{Note, PauseCost};
use fulcrum_stats::{Random, bootstrap};

use crate::estimate::baseline::Measured;
use crate::estimate::bootstrap::Replicates;

/// What a pause costs on machines that were measured: 0 to 80 µs.
const USUAL_NS: f64 = 50_000.0;
/// Many threads may pause at a time, but all pauses of a placebo cost no more than about this share of the program's time.
const USUAL_SHARE: f64 = 0.05;
/// The middle of the speedups that are drawn.
const MIDDLE: f64 = 0.625;
/// The share of a speedup's pauses that the program is assumed to pay for.
const PAID: f64 = 0.5;
/// A correction by this share of the program's time is too large to be trusted.
const LARGE: f64 = 0.10;
/// The cost is worth a note if it is credibly at least this share of the program's time.
const WORTH_SAYING: f64 = 0.0005;

/// The cost of a pause at one progress point.
pub(crate) struct Cost {
    estimate: Fit,
    replicates: Vec<Fit>,
}

/// What one pause costs, by the virtual speedup that it is for; in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fit {
    at_middle: f64,
    by_speedup: f64,
    /// The share of it that speedups pay.
    paid: f64,
}

impl Fit {
    fn at(self, speedup: f64) -> f64 {
        (self.at_middle + self.by_speedup * (speedup - MIDDLE)).max(0.0)
    }

    /// What the pauses behind a point with this period cost if they are all paid for, as a fraction of the baseline's.
    fn cost(self, measured: &Measured<'_>, relative_period: f64) -> f64 {
        measured.group.pause_rate() * relative_period * self.at(measured.group.speedup)
    }

    fn paid(self, measured: &Measured<'_>, relative_period: f64) -> f64 {
        self.paid * self.cost(measured, relative_period)
    }
}

/// One target's experiments at the progress point.
pub(crate) struct Evidence<'a> {
    /// The placebos' points.
    pub placebos: &'a [Measured<'a>],
    pub replicates: Replicates<'a>,
}

/// The normal equations of the fit, scaled so that the prior has weight 1.
#[derive(Clone, Copy)]
struct Equations {
    /// How wide the prior is, nanoseconds.
    usual_ns: f64,
    left: [f64; 3],
    right: [f64; 2],
}

impl Equations {
    /// With this prior mean of both parameters, in units of `usual_ns`.
    fn new(usual_ns: f64, prior: [f64; 2]) -> Self {
        Equations {
            usual_ns,
            left: [1.0, 0.0, 1.0],
            right: prior,
        }
    }

    /// A placebo's period relative to the baseline's, whose difference from 1 is known to a variance of `1 / weight`.
    fn add(&mut self, placebo: &Measured<'_>, relative_period: f64, weight: f64) {
        let u = placebo.group.speedup - MIDDLE;
        let x = placebo.group.pause_rate() * relative_period * self.usual_ns;
        let y = relative_period - 1.0;
        let [aa, ab, bb] = &mut self.left;
        *aa += weight * x * x;
        *ab += weight * x * x * u;
        *bb += weight * x * x * u * u;
        self.right[0] += weight * x * y;
        self.right[1] += weight * x * y * u;
    }

    fn solve(&self, paid: f64) -> Fit {
        let [aa, ab, bb] = self.left;
        let [ra, rb] = self.right;
        // The prior keeps it above 0.
        let determinant = aa * bb - ab * ab;
        Fit {
            at_middle: self.usual_ns * (ra * bb - rb * ab) / determinant,
            by_speedup: self.usual_ns * (rb * aa - ra * ab) / determinant,
            paid,
        }
    }
}

impl Cost {
    /// From the placebos of all targets. `None` when there are none.
    pub(crate) fn measure(targets: Vec<Evidence<'_>>, replicates: usize) -> Option<Cost> {
        let placebos = targets.iter().flat_map(|it| it.placebos);
        let highest = placebos.map(|it| it.group.pause_rate()).reduce(f64::max)?;
        let usual_ns = USUAL_NS.min(USUAL_SHARE / highest);
        let mut random = Random::of(&[b"placebo"]);
        let mut estimate = Equations::new(usual_ns, [0.0; 2]);
        let mut drawn: Vec<Equations> = (0..replicates)
            .map(|_| Equations::new(usual_ns, [random.normal(), random.normal()]))
            .collect();
        for Evidence {
            placebos,
            replicates: mut periods,
        } in targets
        {
            let weights = periods.weights_of_placebos();
            for (it, weight) in placebos.iter().zip(&weights) {
                estimate.add(it, 1.0 - it.program_speedup, *weight);
            }
            for equations in &mut drawn {
                let replicate = periods.next();
                for ((it, weight), period) in placebos.iter().zip(&weights).zip(replicate.placebos)
                {
                    equations.add(it, period / replicate.periods[0], *weight);
                }
            }
        }
        let nothing_or_all = |it: &Equations| it.solve(random.below(2) as f64);
        Some(Cost {
            estimate: estimate.solve(PAID),
            replicates: drawn.iter().map(nothing_or_all).collect(),
        })
    }

    /// What the pauses behind a point cost the program, as a fraction of its time.
    pub(crate) fn share(&self, measured: &Measured<'_>) -> f64 {
        self.estimate.paid(measured, 1.0 - measured.program_speedup)
    }

    /// The same in one replicate, where the period is this, relative to the baseline's.
    pub(crate) fn share_in(
        &self,
        replicate: usize,
        measured: &Measured<'_>,
        relative_period: f64,
    ) -> f64 {
        self.replicates[replicate].paid(measured, relative_period)
    }

    /// The variance of [`Cost::share`].
    pub(crate) fn variance(&self, measured: &Measured<'_>) -> f64 {
        let share = self.share(measured);
        let squares = self.shares(measured).map(|it| (it - share).powi(2));
        squares.sum::<f64>() / self.replicates.len().max(1) as f64
    }

    fn shares(&self, measured: &Measured<'_>) -> impl Iterator<Item = f64> {
        let relative_period = 1.0 - measured.program_speedup;
        let paid = move |it: &Fit| it.paid(measured, relative_period);
        self.replicates.iter().map(paid)
    }

    /// Whether correcting some point takes more, or may take more, than can be trusted.
    pub(crate) fn is_large(&self, measured: &[Measured<'_>]) -> bool {
        measured.iter().skip(1).any(|it| {
            let mut shares: Vec<f64> = self.shares(it).collect();
            let interval = bootstrap::interval(&mut shares);
            self.share(it).abs() >= LARGE || interval.half_width() >= LARGE
        })
    }

    /// A note on it, if it is credible, from the placebos of all targets.
    pub(crate) fn note<'a>(
        &self,
        point: &str,
        placebos: impl Iterator<Item = &'a Measured<'a>>,
    ) -> Option<Note> {
        let cost = |it: &Measured<'_>, fit: &Fit| fit.cost(it, 1.0 - it.program_speedup);
        let size = |it: &&Measured<'_>| cost(it, &self.estimate);
        let largest = placebos.max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let mut costs: Vec<f64> = self
            .replicates
            .iter()
            .map(|fit| cost(largest, fit))
            .collect();
        let interval = bootstrap::interval(&mut costs);
        let speedup = largest.group.speedup;
        (interval.low >= WORTH_SAYING).then(|| {
            Note::PauseCost(PauseCost {
                point: point.to_owned(),
                pause_ns: self.estimate.at(speedup),
                speedup,
                slower: cost(largest, &self.estimate),
                margin: interval.half_width(),
            })
        })
    }
}
