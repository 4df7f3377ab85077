//! Causal profiles and their comparisons.

use fulcrum_causal::{largest_effect, wording};
use fulcrum_model::causal::{
    CallDoes, CausalProfile, Flag, InCall, Point, PointKind, PointProfile, Shape, Target,
};
use fulcrum_model::comparison::{Comparison, Estimate, PointComparison, TargetComparison};
use fulcrum_model::{TargetId, TargetKind};
use fulcrum_schema::{
    self as schema, CausalComparison, CausalComparisonPoint, CausalPoint, CausalTarget, LineShape,
    PointChange, ProgressPoint, ProgressPointKind, SpeedupPoint, TargetChange, TargetFlag,
    TargetName, TargetResult,
};

/// A profile for scripts. `top` limits the targets of each progress point; 0 is all.
pub fn profile(
    profile: &CausalProfile,
    title: &str,
    phase_correction: bool,
    top: usize,
) -> schema::CausalProfile {
    let point = |point: &PointProfile| CausalPoint {
        name: point.name.clone(),
        kind: point_kind(point.kind),
        targets: first(&point.targets, top).iter().map(target).collect(),
    };
    schema::CausalProfile {
        title: title.to_owned(),
        phase_correction,
        progress_points: profile.progress_points.iter().map(point).collect(),
        notes: profile.notes.iter().map(wording::note).collect(),
    }
}

fn first<T>(all: &[T], top: usize) -> &[T] {
    match top {
        0 => all,
        top => &all[..top.min(all.len())],
    }
}

fn target(target: &Target) -> CausalTarget {
    CausalTarget {
        result: result(target),
        experiments: target.experiments,
        minimum_effect: target.minimum_effect,
        flags: target.flags.iter().map(|&it| flag(it)).collect(),
        points: points(target),
    }
}

/// What the command line and the editor both show of a target.
pub fn result(target: &Target) -> TargetResult {
    TargetResult {
        name: name(&target.id),
        slope: target.slope,
        slope_low: target.slope_interval.map(|it| it.low),
        slope_high: target.slope_interval.map(|it| it.high),
        contention: target.contention,
        shape: shape(target.shape),
        in_call: target.in_call.as_ref().map(in_call),
        largest: largest_effect(target).map(point),
    }
}

fn in_call(call: &InCall) -> schema::InCall {
    schema::InCall {
        function: call.function.clone(),
        processor: call.processor,
        waiting: call.waiting,
        does: match call.does {
            CallDoes::Works => schema::CallDoes::Works,
            CallDoes::Waits => schema::CallDoes::Waits,
            CallDoes::Unseen => schema::CallDoes::Unseen,
        },
        holder: call.holder.as_ref().map(|it| it.location.to_string()),
    }
}

/// What a target is.
pub fn name(id: &TargetId) -> TargetName {
    TargetName {
        location: id.location.to_string(),
        kind: match id.kind {
            TargetKind::Line => schema::TargetKind::Line,
            TargetKind::Function | TargetKind::Inclusive => schema::TargetKind::Function,
            TargetKind::Path => schema::TargetKind::Path,
            TargetKind::Blocked => schema::TargetKind::Blocked,
        },
        name: (id.kind != TargetKind::Line).then(|| id.name.clone()),
        inclusive: id.kind == TargetKind::Inclusive,
    }
}

/// A target's curve.
pub fn points(target: &Target) -> Vec<SpeedupPoint> {
    target.points.iter().map(point).collect()
}

fn point(point: &Point) -> SpeedupPoint {
    SpeedupPoint {
        speedup: point.speedup,
        program_speedup: point.program_speedup,
        low: point.interval.map(|it| it.low),
        high: point.interval.map(|it| it.high),
        visits: point.visits,
        duration_ns: point.duration_ns,
    }
}

/// A progress point without its targets.
pub fn progress_point(point: &PointProfile) -> ProgressPoint {
    ProgressPoint {
        name: point.name.clone(),
        kind: point_kind(point.kind),
    }
}

fn point_kind(kind: PointKind) -> ProgressPointKind {
    match kind {
        PointKind::Throughput => ProgressPointKind::Throughput,
        PointKind::Latency => ProgressPointKind::Latency,
    }
}

fn shape(shape: Shape) -> LineShape {
    match shape {
        Shape::Gain1 => LineShape::Gain1,
        Shape::Gain2 => LineShape::Gain2,
        Shape::Gain3 => LineShape::Gain3,
        Shape::Gain4 => LineShape::Gain4,
        Shape::Flat => LineShape::Flat,
        Shape::Harm1 => LineShape::Harm1,
        Shape::Harm2 => LineShape::Harm2,
        Shape::Harm3 => LineShape::Harm3,
        Shape::Unknown => LineShape::Unknown,
    }
}

fn flag(flag: Flag) -> TargetFlag {
    match flag {
        Flag::RunQueue => TargetFlag::RunQueue,
        Flag::FewVisits => TargetFlag::FewVisits,
        Flag::Shared => TargetFlag::Shared,
        Flag::RegimeChange => TargetFlag::RegimeChange,
        Flag::Unstable => TargetFlag::Unstable,
        Flag::Unsettled => TargetFlag::Unsettled,
        Flag::CostlyPauses => TargetFlag::CostlyPauses,
        Flag::Contradictory => TargetFlag::Contradictory,
    }
}

/// Two runs for scripts. `top` limits the targets of each progress point; 0 is all.
pub fn comparison(
    comparison: &Comparison,
    (before, after): (&str, &str),
    top: usize,
) -> CausalComparison {
    let point = |point: &PointComparison| CausalComparisonPoint {
        change: point_change(point),
        targets: first(&point.targets, top)
            .iter()
            .map(target_change)
            .collect(),
    };
    CausalComparison {
        before: before.to_owned(),
        after: after.to_owned(),
        progress_points: comparison.progress_points.iter().map(point).collect(),
        notes: comparison
            .notes
            .iter()
            .map(wording::comparison_note)
            .collect(),
    }
}

/// How a progress point changed.
pub fn point_change(point: &PointComparison) -> PointChange {
    PointChange {
        name: point.name.clone(),
        kind: point_kind(point.kind),
        before_rate: point.before_rate,
        after_rate: point.after_rate,
        before_ns: point.before_ns.map(estimate),
        after_ns: point.after_ns.map(estimate),
        actual: point.actual.map(estimate),
    }
}

/// How a target changed.
pub fn target_change(target: &TargetComparison) -> TargetChange {
    TargetChange {
        name: name(&target.before),
        after: target.after.as_ref().map(|id| id.location.to_string()),
        cost_before_ns: target.cost_before.map(estimate),
        cost_after_ns: target.cost_after.map(estimate),
        speedup: target.speedup.map(estimate),
        predicted: target.predicted.map(estimate),
        extrapolated: target.extrapolated,
        changed: target.changed,
        verdict: target.verdict.clone(),
    }
}

fn estimate(given: Estimate) -> schema::Estimate {
    schema::Estimate {
        value: given.value,
        low: given.interval.map(|it| it.low),
        high: given.interval.map(|it| it.high),
    }
}
