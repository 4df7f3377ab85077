//! `textDocument/hover`: what the result means, the plot, the same numbers as text, what to do next.

use std::fmt::Write as _;

use fulcrum_model::TargetKind;
use fulcrum_model::causal::{PointProfile, Target};
use fulcrum_source::State as LineState;
use gen_lsp_types::{Contents, Hover, HoverParams, MarkupContent, MarkupKind, Position, Range};

use super::standard::HoverMethod;
use crate::causal::profile::Placement;
use crate::causal::wording::{fine_percent, plain_percent};
use crate::causal::{plot, wording};
use crate::filters;
use crate::protocol::DocumentPosition;
use crate::protocol::failure::Failure;
use crate::protocol::markdown::code;
use crate::protocol::position::line_range;
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

/// Targets that a hover shows for one progress point.
const MOST_SECTIONS: usize = 3;

pub(crate) enum HoverRequest {}

impl Pooled for HoverRequest {
    type Method = HoverMethod;

    fn run(snapshot: &Snapshot, params: HoverParams) -> Result<Option<Hover>, Failure> {
        Ok(filter(snapshot, &params).or_else(|| hover(snapshot, &params)))
    }
}

/// The hover of a filter of event traces.
fn filter(snapshot: &Snapshot, params: &HoverParams) -> Option<Hover> {
    let place = &params.text_document_position_params;
    let document = snapshot.document(place.text_document.uri.as_ref())?;
    if !document.is_filter {
        return None;
    }
    let at = DocumentPosition {
        line: place.position.line,
        character: place.position.character,
    };
    let observed = snapshot.logs.observed(&snapshot.folders);
    filters::hover(&document.text, at, &observed, snapshot.config.encoding)
}

fn hover(snapshot: &Snapshot, params: &HoverParams) -> Option<Hover> {
    let place = &params.text_document_position_params;
    let open = snapshot.profile.as_ref()?;
    let document = snapshot.document(place.text_document.uri.as_ref())?;
    let path = document.path.as_ref()?;
    let line = place.position.line;
    let mut value = String::new();
    for point in &open.profile.progress_points {
        let placements = open.placements(point, path, &document.text);
        let mut shown: Vec<(TargetKind, &str)> = Vec::new();
        for placement in placements.iter().filter(|p| p.placed.line == line) {
            // Of two results that met on one line, only the better is shown. The ranking has both, and all others.
            let id = &placement.target.id;
            let what = (id.kind, id.name.as_str());
            if shown.contains(&what) || shown.len() == MOST_SECTIONS {
                continue;
            }
            shown.push(what);
            if !value.is_empty() {
                value.push_str("\n\n---\n\n");
            }
            section(&mut value, snapshot, point, placement);
        }
    }
    if value.is_empty() {
        return None;
    }
    if snapshot.config.rich_hover {
        value.push_str(
            "\n\n[Show Ranking](command:fulcrum.ranking.open) · [Run Again…](command:fulcrum.causal.run) · \
             [Clear Results](command:fulcrum.clearResults)",
        );
    }
    let (start, end) = line_range(&document.text, line, snapshot.config.encoding);
    let position = |p: DocumentPosition| Position {
        line: p.line,
        character: p.character,
    };
    Some(Hover {
        contents: Contents::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: Some(Range {
            start: position(start),
            end: position(end),
        }),
    })
}

/// One progress point's result: first what it means, since a hover may have room for little more; then the plot and its
/// numbers. Writing into a String cannot fail.
fn section(out: &mut String, snapshot: &Snapshot, point: &PointProfile, placement: &Placement<'_>) {
    let target = placement.target;
    let _ = write!(
        out,
        "**{}** · rank {} of {} for {}\n\n{}\n\n",
        headline(target),
        placement.rank,
        point.targets.len(),
        code(&point.name),
        wording::sentences(target, &point.name.replace('`', "'"), point.kind)
    );
    if target.contention {
        let _ = write!(out, "{}\n\n", wording::CONTENTION);
    }
    if snapshot.config.rich_hover {
        let svg = plot::base64(plot::svg(target).as_bytes());
        let _ = write!(
            out,
            "![{}](data:image/svg+xml;base64,{svg}|width={},height={})\n\n",
            plot::description(target),
            plot::WIDTH,
            plot::HEIGHT
        );
    }
    points(out, target);
    for caution in wording::cautions(target) {
        let _ = write!(out, "\n\n{caution}");
    }
    origin(out, placement);
}

/// The speedups that were tried, as the plot shows them.
fn points(out: &mut String, target: &Target) {
    let _ = writeln!(
        out,
        "| {} | Program faster by | 95\u{a0}% interval | Visits |\n|---:|---:|:---:|---:|",
        wording::faster_by(target.id.kind)
    );
    for measured in &target.points {
        let interval = measured.interval.map_or_else(
            || "unknown".to_owned(),
            |it| format!("{} to {}", fine_percent(it.low), fine_percent(it.high)),
        );
        let _ = writeln!(
            out,
            "| {} | {} | {interval} | {} |",
            plain_percent(measured.speedup),
            fine_percent(measured.program_speedup),
            measured.visits
        );
    }
    let _ = write!(
        out,
        "\n{} experiments on this {}.",
        target.experiments,
        wording::noun(target.id.kind)
    );
}

/// Whether the line is still the one that was measured.
fn origin(out: &mut String, placement: &Placement<'_>) {
    let recorded = placement.target.id.location.line;
    match placement.placed.state {
        LineState::Exact => {}
        LineState::Moved => {
            let _ = write!(
                out,
                "\n\nThis line was line {recorded} when the profile was recorded."
            );
        }
        LineState::Stale => {
            let _ = write!(
                out,
                "\n\n**The line was changed since the profile was recorded** (it was line {recorded}): run again for \
                 results that fit the code."
            );
        }
    }
    if placement.file.written_since {
        out.push_str(
            "\n\nThe source was not recorded with this profile, and the file is newer: this may not be the line that was measured.",
        );
    }
}

/// The result in a few words, with the target's name unless it is the line itself.
fn headline(target: &Target) -> String {
    match target.id.kind {
        TargetKind::Line => wording::short(target),
        TargetKind::Inclusive => format!(
            "{} with its callees: {}",
            code(&target.id.name),
            wording::short(target)
        ),
        _ => format!("{}: {}", code(&target.id.name), wording::short(target)),
    }
}
