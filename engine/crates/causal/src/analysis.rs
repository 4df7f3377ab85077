//! The analysis of a recording, from its experiments to the ranking.

use std::collections::BTreeMap;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{
    CausalProfile, InCall, Note, Point, PointProfile, Recording, Target, is_end_to_end,
};

use crate::estimate::baseline::{self, Measured};
use crate::estimate::bootstrap::{Pool, Replicates};
use crate::estimate::combine::{self, Combined, Line, Series};
use crate::estimate::intervals::{self, Intervals};
use crate::estimate::latency::{self, Stability};
use crate::estimate::phase::{Correction, Rates};
use crate::estimate::placebo::{Cost, Evidence};
use crate::estimate::point::PointKey;
use crate::estimate::{linear, slope};
use crate::experiments::disturbance::{self, Kept};
use crate::experiments::steady;
use crate::notes::{self, LeftOutCounts, Reason};
use crate::prediction::Curve;
use crate::programs;
use crate::ranking::verdict::Verdict;
use crate::ranking::{calls, flags, power, rank};

/// How to analyse. The default is what every surface of Fulcrum shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Apply eq. 8, which scales a line's effect by the part of the run in which the line runs at all.
    pub phase_correction: bool,
    /// How many different speedups a line must have, the baseline counted. `None`: 5, as in COZ, which draws from twenty;
    /// or the baseline and half of the levels, when the recording says that it drew from fewer than eight. The intervals
    /// show how little so few points say.
    pub min_points: Option<usize>,
    /// How many visits a point, and the baseline, must rest on.
    pub min_visits: u64,
    /// Also count experiments during which other programs were unusually busy.
    pub keep_disturbed: bool,
    /// How far a prediction may be off although its experiments agree, as a fraction of the program's time; see
    /// [`ALLOWANCE`]. Every interval of a point contains it.
    pub allowance: f64,
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
            allowance: ALLOWANCE,
            replicates: 400,
        }
    }
}

/// What no repetition of experiments shows, as a fraction of the program's time: work that is left out also leaves caches, memory
/// and the processor's power to others, and pauses do not. Where experiments find no effect at all, leaving out the work really gains
/// up to about one percent (docs/accuracy.md).
pub const ALLOWANCE: f64 = 0.01;

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
    programs::analyse_each(recording, &programs, |part| analyse_program(part, options))
}

/// Analyses what one program recorded.
fn analyse_program(recording: &Recording, options: &Options) -> CausalProfile {
    let kept = if options.keep_disturbed {
        Kept::all(recording)
    } else {
        disturbance::undisturbed(recording)
    };
    let current = steady::up_to_date(recording, &kept.kept);
    let run = RunAnalysis {
        recording,
        options,
        unsettled: steady::unsettled(recording, &current),
        in_calls: calls::dominant_calls(recording),
        combined: combine::combine(recording, &current),
        correction: if options.phase_correction {
            Correction::of(recording)
        } else {
            Correction::Off
        },
    };
    let mut left_out = LeftOutCounts::new(run.min_points(), options.min_visits);
    let said = recording.notes.iter().cloned().map(Note::Recording);
    let mut profile = CausalProfile {
        progress_points: Vec::new(),
        notes: said.chain(kept.notes).collect(),
    };
    for (key, lines) in &run.combined.points {
        let (targets, notes) = run.point(key, lines, &mut left_out);
        profile.notes.extend(notes);
        profile.progress_points.push(PointProfile {
            name: key.name.clone(),
            kind: key.kind,
            targets,
        });
    }
    profile.notes.extend(run.correction.note());
    let points = run.combined.points.len();
    profile.notes.extend(left_out.notes(points));
    profile.notes.extend(notes::why_empty(recording, &profile));
    profile
}

/// What all progress points of a program share.
struct RunAnalysis<'a> {
    recording: &'a Recording,
    options: &'a Options,
    unsettled: Vec<&'a TargetId>,
    in_calls: BTreeMap<&'a TargetId, InCall>,
    combined: Combined<'a>,
    correction: Correction<'a>,
}

impl RunAnalysis<'_> {
    fn min_points(&self) -> usize {
        self.options.min_points_for(self.recording)
    }

    /// The ranked targets of one progress point, and what is to be known of it. Counts those that have no result.
    fn point(
        &self,
        key: &PointKey,
        lines: &BTreeMap<usize, Series>,
        left_out: &mut LeftOutCounts,
    ) -> (Vec<Target>, Vec<Note>) {
        let end_to_end = is_end_to_end(&key.name);
        let point = PointAnalysis {
            run: self,
            pool: Pool::of_point(key.kind, lines),
            rates: self.correction.at(&key.name),
            // A repetition of the whole program is one visit: there never are many.
            min_points: if end_to_end { 2 } else { self.min_points() },
            min_visits: if end_to_end {
                1
            } else {
                self.options.min_visits
            },
            replicates: self.options.replicates.max(FEWEST_REPLICATES),
            end_to_end,
            stability: latency::stability(self.recording, key),
        };
        let mut measured = Vec::new();
        for (&line, series) in lines {
            let line = &self.combined.lines[line];
            match point.measure(line, series) {
                Ok(it) => measured.push(it),
                Err(reason) => left_out.add(&key.name, line.id, reason),
            }
        }
        let cost = point.cost(&measured);
        let mut targets = Vec::new();
        for it in &measured {
            match point.target(it, cost.as_ref()) {
                Ok(target) => targets.push(target),
                Err(reason) => left_out.add(&key.name, it.line.id, reason),
            }
        }
        rank::rank(&mut targets);
        let mut notes = Vec::new();
        if !targets.is_empty() {
            notes.extend(point.stability.note(&key.name));
            let placebos = measured.iter().flat_map(|it| &it.placebos);
            notes.extend(cost.and_then(|cost| cost.note(&key.name, placebos)));
        }
        (targets, notes)
    }
}

/// What all targets of one progress point share.
struct PointAnalysis<'a> {
    run: &'a RunAnalysis<'a>,
    pool: Pool,
    rates: Rates<'a>,
    min_points: usize,
    min_visits: u64,
    replicates: usize,
    end_to_end: bool,
    stability: Stability,
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
    ) -> Result<MeasuredLine<'a>, Reason> {
        let mut points = baseline::measure(series, self.min_visits)?;
        // coz's own profiles are shown as its viewer shows them.
        if !self.run.recording.levels.is_empty() {
            baseline::leave_out_unmet(&mut points);
        }
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

    /// One line's result, or why there is none.
    fn target(&self, it: &MeasuredLine<'_>, cost: Option<&Cost>) -> Result<Target, Reason> {
        let (line, measured) = (it.line, &it.points);
        if measured.len() < self.min_points {
            return Err(Reason::FewPoints);
        }
        let factors = self.rates.factors(line, measured)?;
        let drawn = self.replicates_of(it);
        let intervals = intervals::intervals(drawn, measured, cost, self.replicates);
        let points = points(
            measured,
            &intervals,
            &factors,
            cost,
            self.run.options.allowance,
        );
        let slope = slope::slope(points.iter().map(|p| (p.speedup, p.program_speedup)));
        let slope_interval = Some(intervals.slope.including(slope));
        let pausing: Vec<f64> = measured
            .iter()
            .map(|it| cost.map_or(0.0, |cost| cost.variance(it)))
            .collect();
        let costly_pauses = cost.is_some_and(|cost| cost.is_large(measured));
        let verdict = if costly_pauses {
            Verdict::UNKNOWN
        } else {
            Verdict::on(&Curve {
                points: &points,
                slope,
                slope_interval,
            })
        };
        let facts = flags::Facts {
            line,
            points: &points,
            end_to_end: self.end_to_end,
            shared: self.run.recording.shared.contains(line.id),
            bends: linear::bends(
                &noisy(&points, &intervals.noise, &factors, &pausing),
                intervals.noise[0].max(one_visit(&points[0])),
            ),
            unstable: !self.stability.holds(),
            unsettled: self.run.unsettled.contains(&line.id),
            costly_pauses,
            contradictory: verdict.contradictory,
        };
        Ok(Target {
            id: line.id.clone(),
            slope,
            slope_interval,
            contention: verdict.contention,
            experiments: measured
                .iter()
                .map(|m| m.group.observations.len() as u64)
                .sum(),
            minimum_effect: power::minimum_effect(slope_interval),
            in_call: self.run.in_calls.get(line.id).cloned(),
            flags: flags::flags(&facts),
            shape: verdict.shape,
            points,
        })
    }
}

/// The curve. Intervals contain the `allowance`, too. A percentile interval need not contain the estimate; one that is
/// shown beside it should.
fn points(
    measured: &[Measured<'_>],
    intervals: &Intervals,
    factors: &[f64],
    cost: Option<&Cost>,
    allowance: f64,
) -> Vec<Point> {
    measured
        .iter()
        .zip(&intervals.points)
        .zip(factors)
        .map(|((m, &interval), factor)| {
            let paused = cost.map_or(0.0, |cost| cost.share(m));
            let program_speedup = (m.program_speedup + paused) * factor;
            let interval = interval.including(program_speedup);
            // Nothing is left out in the baseline.
            let unseen = if m.group.speedup > 0.0 {
                allowance
            } else {
                0.0
            };
            Point {
                speedup: m.group.speedup,
                program_speedup,
                interval: Some(interval.with_margin(program_speedup, unseen)),
                measured: Some(interval),
                visits: m.group.visits,
                duration_ns: m.group.duration_ns,
            }
        })
        .collect()
}

/// The points after the baseline with their noise: that of their periods, as relative variances, and that of the cost of
/// pausing, as variances. No count is known to better than one visit.
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
