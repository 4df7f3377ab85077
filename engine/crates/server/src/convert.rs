//! From the inner types to those of the protocol.

use fulcrum_model::causal::{Point, PointKind, PointProfile, Shape, Target};
use fulcrum_model::{TargetId, TargetKind as Kind};
use fulcrum_source::{Edit, State};

use crate::position::{Encoding, position};
use crate::protocol::{
    DocumentRange, FileEdit, LineShape, LineState, ProgressPoint, ProgressPointKind, SpeedupPoint,
    TargetKind,
};

pub(crate) fn progress_point(point: &PointProfile) -> ProgressPoint {
    ProgressPoint {
        name: point.name.clone(),
        kind: point_kind(point.kind),
    }
}

pub(crate) fn point_kind(kind: PointKind) -> ProgressPointKind {
    match kind {
        PointKind::Throughput => ProgressPointKind::Throughput,
        PointKind::Latency => ProgressPointKind::Latency,
    }
}

pub(crate) fn shape(shape: Shape) -> LineShape {
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

pub(crate) fn kind(kind: Kind) -> TargetKind {
    match kind {
        Kind::Line => TargetKind::Line,
        Kind::Function => TargetKind::Function,
        Kind::Inclusive => TargetKind::Inclusive,
        Kind::Path => TargetKind::Path,
        Kind::Blocked => TargetKind::Blocked,
    }
}

/// A line has no name.
pub(crate) fn name(id: &TargetId) -> Option<String> {
    (id.kind != Kind::Line).then(|| id.name.clone())
}

pub(crate) fn state(state: State) -> LineState {
    match state {
        State::Exact => LineState::Exact,
        State::Moved => LineState::Moved,
        State::Stale => LineState::Stale,
    }
}

pub(crate) fn speedup_point(point: &Point) -> SpeedupPoint {
    SpeedupPoint {
        speedup: point.speedup,
        program_speedup: point.program_speedup,
        low: point.interval.map(|(low, _)| low),
        high: point.interval.map(|(_, high)| high),
        visits: point.visits,
        duration_ns: point.duration_ns,
    }
}

/// The point with the largest program speedup, the baseline aside.
pub(crate) fn best(target: &Target) -> Option<SpeedupPoint> {
    let measured = target.points.iter().filter(|point| point.speedup > 0.0);
    measured
        .max_by(|a, b| a.program_speedup.total_cmp(&b.program_speedup))
        .map(speedup_point)
}

pub(crate) fn edits(text: &str, edits: &[Edit], encoding: Encoding) -> Vec<FileEdit> {
    edits
        .iter()
        .map(|edit| FileEdit {
            range: DocumentRange {
                start: position(text, edit.start, encoding),
                end: position(text, edit.end, encoding),
            },
            new_text: edit.new_text.clone(),
        })
        .collect()
}
