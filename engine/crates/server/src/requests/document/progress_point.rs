//! `fulcrum/progressPoint/edit`: inserts or removes a progress point at a position.

use std::collections::BTreeMap;

use fulcrum_source::ProgressPointKind;

use crate::documents::Document;
use crate::protocol::convert;
use crate::protocol::failure::Failure;
use crate::protocol::position::{Encoding, offset};
use crate::protocol::{
    DocumentPosition, FileEdits, ProgressPointEdit, ProgressPointEditKind, ProgressPointEditParams,
    ProgressPointEditResult,
};
use crate::requests::Immediate;
use crate::snapshot::Snapshot;

pub(crate) enum Edit {}

impl Immediate for Edit {
    type Method = ProgressPointEdit;

    fn run(
        snapshot: &Snapshot,
        params: ProgressPointEditParams,
    ) -> Result<ProgressPointEditResult, Failure> {
        let Some(document) = snapshot.document(&params.uri) else {
            let message = format!(
                "{} could not be read: save the file and try again.",
                params.uri
            );
            return Ok(ProgressPointEditResult {
                edit: None,
                message: Some(message),
            });
        };
        let encoding = snapshot.config.encoding;
        Ok(
            match edit(&document, params.position, params.kind, encoding) {
                Ok(edit) => ProgressPointEditResult {
                    edit: Some(edit),
                    message: None,
                },
                Err(message) => ProgressPointEditResult {
                    edit: None,
                    message: Some(message),
                },
            },
        )
    }
}

/// The edit, or a sentence that says why there is none. Code actions use it too.
pub(crate) fn edit(
    document: &Document,
    at: DocumentPosition,
    kind: ProgressPointEditKind,
    encoding: Encoding,
) -> Result<FileEdits, String> {
    let Some(source) = document.source() else {
        return Err(
            "Progress points can be inserted into C, C++ and Rust files: open one of those.".into(),
        );
    };
    let at = offset(&document.text, at, encoding);
    let kind = match kind {
        ProgressPointEditKind::Throughput => ProgressPointKind::Throughput,
        ProgressPointEditKind::LatencyBegin => ProgressPointKind::LatencyBegin,
        ProgressPointEditKind::LatencyEnd => ProgressPointKind::LatencyEnd,
        ProgressPointEditKind::Remove => ProgressPointKind::Remove,
    };
    let edits = source
        .progress_point(at, kind)
        .map_err(|refused| refused.to_string())?;
    let edits = convert::edits(&document.text, &edits, encoding);
    Ok(FileEdits {
        changes: BTreeMap::from([(document.uri.clone(), edits)]),
    })
}
