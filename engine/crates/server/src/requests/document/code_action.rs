//! `textDocument/codeAction`: insert, mark, remove progress points.

use std::collections::HashMap;

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeActionResponse, Diagnostic, Position, Range,
    TextEdit, Uri, WorkspaceEdit,
};

use super::standard::CodeActionMethod;
use crate::protocol::failure::Failure;
use crate::protocol::position::offset;
use crate::protocol::{DocumentPosition, FileEdits, ProgressPointEditKind as Kind};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;
use crate::state::is_no_progress_point;

pub(crate) enum CodeActions {}

/// The kind of all these actions; clients can ask for it alone.
pub(crate) const KIND: &str = "refactor.rewrite.progressPoint";

impl Pooled for CodeActions {
    type Method = CodeActionMethod;

    fn run(
        snapshot: &Snapshot,
        params: CodeActionParams,
    ) -> Result<Option<Vec<CodeActionResponse>>, Failure> {
        Ok(actions(snapshot, params))
    }
}

fn actions(snapshot: &Snapshot, params: CodeActionParams) -> Option<Vec<CodeActionResponse>> {
    let document = snapshot.document(params.text_document.uri.as_ref())?;
    let source = document.source()?;
    let encoding = snapshot.config.encoding;
    let start = params.range.start;
    let at = DocumentPosition {
        line: start.line,
        character: start.character,
    };

    let fixes: Vec<Diagnostic> = params
        .context
        .diagnostics
        .into_iter()
        .filter(is_no_progress_point)
        .collect();
    let only = params.context.only.unwrap_or_default();
    let wanted = |kind: &str| {
        only.is_empty()
            || only.iter().any(|only| {
                let only = only.to_string();
                kind == only || kind.starts_with(&format!("{only}."))
            })
    };
    let here = source.has_progress_point(offset(&document.text, at, encoding));
    let kinds: &[(Kind, &str)] = if here {
        &[(Kind::Remove, "Remove Progress Point")]
    } else {
        &[
            (Kind::Throughput, "Insert Progress Point"),
            (Kind::LatencyBegin, "Mark as Latency Begin"),
            (Kind::LatencyEnd, "Mark as Latency End"),
        ]
    };
    let mut actions = Vec::new();
    for &(kind, title) in kinds {
        let fix = kind == Kind::Throughput && !fixes.is_empty();
        let name = if fix { "quickfix" } else { KIND };
        if !wanted(name) {
            continue;
        }
        let Ok(edit) = super::progress_point::edit(&document, at, kind, encoding) else {
            continue;
        };
        actions.push(CodeActionResponse::CodeAction(CodeAction {
            title: title.into(),
            kind: Some(CodeActionKind::from(name.to_owned())),
            diagnostics: fix.then(|| fixes.clone()),
            is_preferred: fix.then_some(true),
            edit: Some(workspace_edit(edit)),
            ..CodeAction::default()
        }));
    }
    Some(actions)
}

fn workspace_edit(edit: FileEdits) -> WorkspaceEdit {
    let position = |p: DocumentPosition| Position {
        line: p.line,
        character: p.character,
    };
    let changes: HashMap<Uri, Vec<TextEdit>> = edit
        .changes
        .into_iter()
        .map(|(uri, edits)| {
            let edits = edits
                .into_iter()
                .map(|edit| TextEdit {
                    range: Range {
                        start: position(edit.range.start),
                        end: position(edit.range.end),
                    },
                    new_text: edit.new_text,
                })
                .collect();
            (Uri::from(uri), edits)
        })
        .collect();
    WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    }
}
