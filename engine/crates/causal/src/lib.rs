//! Experiments to slopes (COZ §2 to §3.4): what a recording says about the payoff of each line.
//!
//! [`analyse`] is the whole path: combine equal experiments, measure against each line's own baseline, correct for
//! phases, fit the slope, bootstrap the intervals, read the shape, rank. Each step is a module with one idea. The result
//! is the same on every machine: the bootstrap's random numbers are seeded by the line's name.

#![forbid(unsafe_code)]

mod anytime;
mod baseline;
mod bootstrap;
mod calls;
mod choice;
mod combine;
mod compare;
mod contention;
mod disturbance;
mod first;
mod flags;
mod intervals;
mod latency;
mod linear;
mod notes;
mod phase;
mod placebo;
mod point;
mod power;
mod prediction;
mod programs;
mod rank;
mod shape;
mod slope;
mod steady;
mod weights;

use std::collections::BTreeMap;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{
    CausalProfile, InCall, Point, PointProfile, Recording, Shape, Target, is_end_to_end,
};

pub use anytime::{Known, known};
pub use choice::{FLOOR, next_weights};
pub use compare::compare;
pub use first::{FirstVerdict, Opening, SPEEDUPS, candidates};
pub use prediction::{Prediction, predict, program_speedup_at};
pub use shape::{FLAT_HALF_WIDTH, GAINS, HARMS, largest_effect, shape_of};
pub use steady::{LONGEST_WARMUP, next_warmups};

use baseline::Measured;
use bootstrap::Replicates;
use combine::{Line, Series};
use disturbance::Kept;
use latency::Stability;
use notes::LeftOut;
use phase::{Correction, Rates};
use placebo::{Cost, Evidence};

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
    /// Bootstrap replicates; at least [`FEWEST_REPLICATES`] are used.
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

/// Fewer replicates cannot give a 95 % interval.
pub const FEWEST_REPLICATES: usize = 40;

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

/// Analyses a recording, each program in it by itself. Never fails: what cannot be concluded is in the profile's notes.
pub fn analyse(recording: &Recording, options: &Options) -> CausalProfile {
    let programs = recording.programs();
    if programs.len() < 2 {
        return analyse_program(recording, options);
    }
    programs::apart(recording, &programs, |part| analyse_program(part, options))
}

/// Analyses what one program recorded.
fn analyse_program(recording: &Recording, options: &Options) -> CausalProfile {
    let kept = if options.keep_disturbed {
        Kept::all(recording)
    } else {
        disturbance::undisturbed(recording)
    };
    let current = steady::up_to_date(recording, &kept.kept);
    let unsettled = steady::unsettled(recording, &current);
    let in_calls = calls::mostly_in_calls(recording);
    let combined = combine::combine(recording, &current);
    let correction = Correction::of(recording, options.phase_correction);
    let min_points = options.min_points_for(recording);

    let mut profile = CausalProfile {
        progress_points: Vec::new(),
        notes: recording.notes.clone(),
    };
    profile.notes.extend(kept.notes);
    let mut left_out = LeftOut::new(min_points, options.min_visits);
    for (key, lines) in &combined.points {
        let end_to_end = is_end_to_end(&key.name);
        let context = PointAnalysis {
            pool: bootstrap::Pool::of_point(key.kind, lines),
            rates: correction.at(&key.name),
            // A repetition of the whole program is one visit: there never are many.
            min_points: if end_to_end { 2 } else { min_points },
            min_visits: if end_to_end { 1 } else { options.min_visits },
            replicates: options.replicates.max(FEWEST_REPLICATES),
            end_to_end,
            stability: latency::stability(recording, key),
            shared: &recording.shared,
            unsettled: &unsettled,
            in_calls: &in_calls,
        };
        let mut measured = Vec::new();
        for (&line, series) in lines {
            let line = &combined.lines[line];
            match context.measure(line, series) {
                Ok(it) => measured.push(it),
                Err(reason) => left_out.add(&key.name, line.id, reason),
            }
        }
        let cost = context.cost(&measured);
        let mut targets = Vec::new();
        for it in &measured {
            match target(it, cost.as_ref(), &context) {
                Ok(target) => targets.push(target),
                Err(reason) => left_out.add(&key.name, it.line.id, reason),
            }
        }
        rank::rank(&mut targets);
        if !targets.is_empty() {
            profile.notes.extend(context.stability.note(&key.name));
            let placebos = measured.iter().flat_map(|it| &it.placebos);
            profile
                .notes
                .extend(cost.and_then(|cost| cost.note(&key.name, placebos)));
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
struct PointAnalysis<'a> {
    pool: bootstrap::Pool,
    rates: Rates<'a>,
    min_points: usize,
    min_visits: u64,
    replicates: usize,
    end_to_end: bool,
    stability: Stability,
    shared: &'a [TargetId],
    unsettled: &'a [&'a TargetId],
    in_calls: &'a BTreeMap<&'a TargetId, InCall>,
}

/// A line's points, before any correction.
struct MeasuredLine<'a> {
    line: &'a Line<'a>,
    /// The first is the baseline.
    points: Vec<Measured<'a>>,
    placebos: Vec<Measured<'a>>,
}

impl PointAnalysis<'_> {
    /// One line's points, or why there are none. What placebos say of pausing counts even if there is no speedup yet.
    fn measure<'a>(
        &self,
        line: &'a Line<'a>,
        series: &'a Series,
    ) -> Result<MeasuredLine<'a>, notes::Reason> {
        let points = baseline::measure(series, self.min_visits)?;
        let placebos = baseline::placebos(series, &points, self.min_visits);
        Ok(MeasuredLine {
            line,
            points,
            placebos,
        })
    }

    fn replicates_of<'a>(&'a self, it: &'a MeasuredLine<'a>) -> Replicates<'a> {
        Replicates::new(it.line, &it.points, &it.placebos, &self.pool, &self.rates)
    }

    /// What pausing costs.
    fn cost(&self, lines: &[MeasuredLine<'_>]) -> Option<Cost> {
        let tested = lines.iter().filter(|it| !it.placebos.is_empty());
        let evidence = tested.map(|it| Evidence {
            placebos: &it.placebos,
            replicates: self.replicates_of(it),
        });
        Cost::measure(evidence.collect(), self.replicates)
    }
}

/// One line's profile for one progress point, or why there is none.
fn target(
    it: &MeasuredLine<'_>,
    cost: Option<&Cost>,
    context: &PointAnalysis<'_>,
) -> Result<Target, notes::Reason> {
    let (line, measured) = (it.line, &it.points);
    if measured.len() < context.min_points {
        return Err(notes::Reason::FewPoints);
    }
    let factors = context.rates.factors(line, measured)?;
    let drawn = context.replicates_of(it);
    let intervals = intervals::intervals(drawn, measured, cost, context.replicates);
    // A percentile interval need not contain the estimate; one that is shown beside it should.
    let points: Vec<Point> = measured
        .iter()
        .zip(&intervals.points)
        .zip(&factors)
        .map(|((m, &interval), factor)| {
            let paused = cost.map_or(0.0, |cost| cost.share(m));
            let program_speedup = (m.program_speedup + paused) * factor;
            Point {
                speedup: m.group.speedup,
                program_speedup,
                interval: Some(interval.including(program_speedup)),
                visits: m.group.visits,
                duration_ns: m.group.duration_ns,
            }
        })
        .collect();
    let slope = slope::slope(points.iter().map(|p| (p.speedup, p.program_speedup)));
    let slope_interval = Some(intervals.slope.including(slope));
    let pausing: Vec<f64> = measured
        .iter()
        .map(|it| cost.map_or(0.0, |cost| cost.variance(it)))
        .collect();
    let facts = flags::Facts {
        line,
        points: &points,
        end_to_end: context.end_to_end,
        shared: context.shared.contains(line.id),
        bends: linear::bends(
            &noisy(&points, &intervals.noise, &factors, &pausing),
            intervals.noise[0].max(one_visit(&points[0])),
        ),
        unstable: !context.stability.holds(),
        unsettled: context.unsettled.contains(&line.id),
        costly_pauses: cost.is_some_and(|cost| cost.is_large(measured)),
    };
    let known = !facts.costly_pauses;
    Ok(Target {
        id: line.id.clone(),
        slope,
        slope_interval,
        contention: known && contention::is_contention(slope_interval, &points),
        experiments: measured
            .iter()
            .map(|m| m.group.observations.len() as u64)
            .sum(),
        minimum_effect: power::minimum_effect(slope_interval),
        in_call: context.in_calls.get(line.id).cloned(),
        flags: flags::flags(&facts),
        shape: if known {
            shape_of(slope, slope_interval, &points)
        } else {
            Shape::Unknown
        },
        points,
    })
}

/// The points after the baseline with their noise: of their periods, as relative variances, and of what pausing cost, as
/// variances. No count is known to better than one visit.
fn noisy(points: &[Point], noise: &[f64], factors: &[f64], pausing: &[f64]) -> Vec<linear::Noisy> {
    let each = points.iter().zip(noise).zip(factors).zip(pausing).skip(1);
    each.map(|(((point, variance), factor), pausing)| {
        // By how much an error of the period of 1 moves the program speedup: factor · p_s / p_0.
        let reach = factor - point.program_speedup;
        linear::Noisy {
            speedup: point.speedup,
            program_speedup: point.program_speedup,
            own: reach * reach * variance.max(one_visit(point)) + factor * factor * pausing,
            shared: reach,
        }
    })
    .collect()
}

fn one_visit(point: &Point) -> f64 {
    (1.0 / point.visits.max(1) as f64).powi(2)
}
