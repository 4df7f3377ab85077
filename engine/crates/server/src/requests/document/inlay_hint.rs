//! `textDocument/inlayHint`: the payoff in words at the end of the line.

use fulcrum_model::causal::Shape;
use fulcrum_source::State as LineState;
use gen_lsp_types::{InlayHint, InlayHintParams, Label, Position, Tooltip};

use super::standard::InlayHintMethod;
use crate::causal::wording;
use crate::protocol::failure::Failure;
use crate::protocol::position::line_range;
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum InlayHints {}

impl Pooled for InlayHints {
    type Method = InlayHintMethod;

    fn run(
        snapshot: &Snapshot,
        params: InlayHintParams,
    ) -> Result<Option<Vec<InlayHint>>, Failure> {
        Ok(hints(snapshot, &params))
    }
}

fn hints(snapshot: &Snapshot, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let open = snapshot.profile.as_ref()?;
    let point = open.point(None)?;
    let document = snapshot.document(params.text_document.uri.as_ref())?;
    let path = document.path.as_ref()?;
    let mut hints: Vec<InlayHint> = Vec::new();
    for placement in open.placements(point, path, &document.text) {
        let line = placement.placed.line;
        let in_range = (params.range.start.line..=params.range.end.line).contains(&line);
        // Of two results that met on one line, the better stands; a line without an answer needs no words.
        let taken = hints.last().is_some_and(|hint| hint.position.line == line);
        if !in_range || taken || placement.target.shape == Shape::Unknown {
            continue;
        }
        let mut label = wording::beside_code(placement.target);
        if placement.placed.state == LineState::Stale {
            label.push_str(" (line changed since)");
        }
        let (_, end) = line_range(&document.text, line, snapshot.config.encoding);
        hints.push(InlayHint {
            position: Position {
                line: end.line,
                character: end.character,
            },
            label: Label::String(label),
            kind: None,
            text_edits: None,
            tooltip: Some(Tooltip::String(wording::sentences(
                placement.target,
                &point.name,
                point.kind,
            ))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
    }
    Some(hints)
}
