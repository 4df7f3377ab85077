//! Places and edits of documents, from the engine's types to the protocol's.

use fulcrum_source::{Edit, State};

use crate::protocol::position::{Encoding, position};
use crate::protocol::{DocumentRange, FileEdit, LineState};

pub(crate) fn state(state: State) -> LineState {
    match state {
        State::Exact => LineState::Exact,
        State::Moved => LineState::Moved,
        State::Stale => LineState::Stale,
    }
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
