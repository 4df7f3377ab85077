//! `textDocument/completion`: in filters of event traces.

use gen_lsp_types::{CompletionParams, CompletionResponse};

use super::standard::CompletionMethod;
use crate::filters;
use crate::protocol::DocumentPosition;
use crate::protocol::failure::Failure;
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum Completions {}

impl Pooled for Completions {
    type Method = CompletionMethod;

    fn run(
        snapshot: &Snapshot,
        params: CompletionParams,
    ) -> Result<Option<CompletionResponse>, Failure> {
        let place = &params.text_document_position_params;
        let document = snapshot.document(place.text_document.uri.as_ref());
        let Some(document) = document.filter(|document| document.is_filter) else {
            return Ok(None);
        };
        let observed = snapshot.logs.observed(&snapshot.folders);
        let at = DocumentPosition {
            line: place.position.line,
            character: place.position.character,
        };
        let items = filters::complete(&document.text, at, &observed, snapshot.config.encoding);
        Ok(Some(CompletionResponse::CompletionItemList(items)))
    }
}
