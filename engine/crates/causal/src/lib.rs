//! Experiments to slopes (COZ §2 to §3.4): what a recording says about the payoff of each line.
//!
//! [`analyse`] is the whole path: combine equal experiments, measure against each line's own baseline, correct for
//! phases, fit the slope, bootstrap the intervals, read the shape, rank. Each step is a module with one idea. The result
//! is the same on every machine: the bootstrap's random numbers are seeded by the line's name.

mod anytime;
mod baseline;
mod bootstrap;
mod choice;
mod combine;
mod compare;
mod contention;
mod disturbance;
mod flags;
mod latency;
mod linear;
mod notes;
mod phase;
mod power;
mod prediction;
mod rank;
mod shape;
mod slope;
mod weights;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{END_TO_END, Point, PointProfile, Profile, Recording, Target};

pub use anytime::{Known, known};
pub use choice::{FLOOR, next_weights};
pub use compare::compare;
pub use prediction::{Prediction, predict, program_speedup_at};
pub use shape::{FLAT_HALF_WIDTH, GAINS, HARMS, largest_effect, shape_of};

use combine::{Line, Series};
use disturbance::Kept;
use latency::Stability;
use notes::LeftOut;
use phase::{Correction, Rates};

/// How to analyse. The default is what every surface of Fulcrum shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Apply eq. 8, which scales a line's effect by the part of the run in which the line runs at all.
    pub phase_correction: bool,
    /// How many different speedups a line must have, the baseline counted. `None`: 5, as in COZ, which draws from twenty;
    /// or the baseline and half of the levels, when the recording says that it drew from fewer than eight. What so few
    /// points are worth, the intervals say.
    pub min_points: Option<usize>,
    /// How many visits a point, and the baseline, must rest on.
    pub min_visits: u64,
    /// Count experiments during which other programs were unusually busy too.
    pub keep_disturbed: bool,
    /// Bootstrap replicates. Fewer than 40 cannot give a 95 % interval; 40 are used then.
    pub replicates: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            phase_correction: true,
            min_points: None,
            min_visits: 5,
            keep_disturbed: false,
            replicates: 400,
        }
    }
}

/// COZ's default for the number of different speedups a line must have (§2).
const MIN_POINTS: usize = 5;

impl Options {
    fn min_points_for(&self, recording: &Recording) -> usize {
        self.min_points
            .unwrap_or_else(|| match recording.levels.len() {
                0 => MIN_POINTS,
                levels => MIN_POINTS.min(levels.div_ceil(2) + 1),
            })
    }
}

/// Analyses a recording. Never fails: what cannot be concluded is in the profile's notes.
pub fn analyse(recording: &Recording, options: &Options) -> Profile {
    let kept = if options.keep_disturbed {
        Kept::all(recording)
    } else {
        disturbance::undisturbed(recording)
    };
    let combined = combine::combine(recording, &kept.kept);
    let correction = Correction::of(recording, options.phase_correction);
    let min_points = options.min_points_for(recording);

    let mut profile = Profile {
        progress_points: Vec::new(),
        notes: recording.notes.clone(),
    };
    profile.notes.extend(kept.notes);
    let mut left_out = LeftOut::new(min_points, options.min_visits);
    for (key, lines) in &combined.points {
        let end_to_end = key.name == END_TO_END;
        let context = Context {
            pool: bootstrap::Pool::of_point(key.kind, lines),
            rates: correction.at(&key.name),
            // A repetition of the whole program is one visit: there never are many.
            min_points: if end_to_end { 2 } else { min_points },
            min_visits: if end_to_end { 1 } else { options.min_visits },
            replicates: options.replicates,
            end_to_end,
            stability: latency::stability(recording, key),
            shared: &recording.shared,
        };
        let mut targets = Vec::new();
        for (&line, series) in lines {
            let line = &combined.lines[line];
            match target(line, series, &context) {
                Ok(target) => targets.push(target),
                Err(reason) => left_out.add(&key.name, line.id, reason),
            }
        }
        rank::rank(&mut targets);
        if !targets.is_empty() {
            profile.notes.extend(context.stability.note(&key.name));
        }
        profile.progress_points.push(PointProfile {
            name: key.name.clone(),
            kind: key.kind,
            targets,
        });
    }
    profile.notes.extend(correction.note());
    profile.notes.extend(left_out.notes(combined.points.len()));
    profile.notes.extend(notes::why_empty(recording, &profile));
    profile
}

/// What all targets of one progress point share.
struct Context<'a> {
    pool: bootstrap::Pool,
    rates: Rates<'a>,
    min_points: usize,
    min_visits: u64,
    replicates: usize,
    end_to_end: bool,
    stability: Stability,
    shared: &'a [TargetId],
}

/// One line's profile for one progress point, or why there is none.
fn target(
    line: &Line<'_>,
    series: &Series,
    context: &Context<'_>,
) -> Result<Target, notes::Reason> {
    let measured = baseline::measure(series, context.min_visits)?;
    if measured.len() < context.min_points {
        return Err(notes::Reason::FewPoints);
    }
    let factors = context.rates.factors(line, &measured)?;
    let (pool, rates) = (&context.pool, &context.rates);
    let intervals = bootstrap::intervals(line, &measured, pool, rates, context.replicates);
    let points: Vec<Point> = measured
        .iter()
        .zip(&intervals.points)
        .zip(&factors)
        .map(|((m, &interval), factor)| {
            let program_speedup = m.program_speedup * factor;
            Point {
                speedup: m.group.speedup,
                program_speedup,
                interval: Some(around(interval, program_speedup)),
                visits: m.group.visits,
                duration_ns: m.group.duration_ns,
            }
        })
        .collect();
    let slope = slope::slope(points.iter().map(|p| (p.speedup, p.program_speedup)));
    let slope_interval = Some(around(intervals.slope, slope));
    let facts = flags::Facts {
        line,
        points: &points,
        end_to_end: context.end_to_end,
        shared: context.shared.contains(line.id),
        bends: linear::bends(
            &noisy(&points, &intervals.noise, &factors),
            intervals.noise[0].max(one_visit(&points[0])),
        ),
        unstable: !context.stability.holds(),
    };
    Ok(Target {
        id: line.id.clone(),
        slope,
        slope_interval,
        contention: contention::is_contention(slope_interval, &points),
        experiments: measured
            .iter()
            .map(|m| m.group.observations.len() as u64)
            .sum(),
        minimum_effect: power::minimum_effect(slope_interval),
        flags: flags::flags(&facts),
        shape: shape_of(slope, slope_interval, &points),
        points,
    })
}

/// The points after the baseline with their noise, whose relative variances are `noise`. No count is known to better than
/// one visit.
fn noisy(points: &[Point], noise: &[f64], factors: &[f64]) -> Vec<linear::Noisy> {
    let each = points.iter().zip(noise).zip(factors).skip(1);
    each.map(|((point, variance), factor)| {
        // By how much an error of the period of 1 moves the program speedup: factor · p_s / p_0.
        let reach = factor - point.program_speedup;
        linear::Noisy {
            speedup: point.speedup,
            program_speedup: point.program_speedup,
            own: reach * reach * variance.max(one_visit(point)),
            shared: reach,
        }
    })
    .collect()
}

fn one_visit(point: &Point) -> f64 {
    (1.0 / point.visits.max(1) as f64).powi(2)
}

/// A percentile interval need not hold the estimate; one that is shown beside it should.
fn around((low, high): (f64, f64), estimate: f64) -> (f64, f64) {
    (low.min(estimate), high.max(estimate))
}
