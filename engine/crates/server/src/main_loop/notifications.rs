//! Notifications of the client. One that cannot be read changes nothing: it has no answer that could say so.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_model::Cancelled;
use gen_lsp_types::{
    DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, WorkspaceFolder,
};
use lsp_server::{ErrorCode, Notification, RequestId, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::dispatch::read_params;
use crate::documents::path_of_uri;
use crate::protocol::ProgressToken;
use crate::protocol::uri;
use crate::requests::causal::open::folders_changed;
use crate::state::{OnCancel, State};

/// Handles a notification.
pub(super) fn notification(state: &mut State, notification: Notification) {
    match notification.method.as_str() {
        "textDocument/didOpen" => with_params(state, notification, opened),
        "textDocument/didChange" => with_params(state, notification, changed),
        "textDocument/didClose" => with_params(state, notification, closed),
        "workspace/didChangeWorkspaceFolders" => with_params(state, notification, folders),
        "$/cancelRequest" => with_params(state, notification, cancel_request),
        "window/workDoneProgress/cancel" => with_params(state, notification, cancel_progress),
        _ => {}
    }
}

fn with_params<P: DeserializeOwned>(
    state: &mut State,
    notification: Notification,
    handle: fn(&mut State, P),
) {
    if let Ok(params) = read_params(&notification.method, notification.params) {
        handle(state, params);
    }
}

fn opened(state: &mut State, params: DidOpenTextDocumentParams) {
    let item = params.text_document;
    let uri = item.uri.to_string();
    let documents = Arc::make_mut(&mut state.documents);
    documents.open(&uri, &item.language_id.to_string(), item.version, item.text);
    diagnose(state, &uri);
}

fn changed(state: &mut State, params: DidChangeTextDocumentParams) {
    let document = params.text_document;
    let uri = document.text_document_identifier.uri.to_string();
    let encoding = state.config.encoding;
    let documents = Arc::make_mut(&mut state.documents);
    if documents.change(&uri, document.version, params.content_changes, encoding) {
        diagnose(state, &uri);
    }
}

fn closed(state: &mut State, params: DidCloseTextDocumentParams) {
    let uri = params.text_document.uri.to_string();
    let was_filter = is_filter(state, &uri);
    Arc::make_mut(&mut state.documents).close(&uri);
    if was_filter {
        state.clear_diagnostics(&uri);
    } else {
        diagnose(state, &uri);
    }
}

fn folders(state: &mut State, params: DidChangeWorkspaceFoldersParams) {
    let paths = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
        let folders = folders.iter();
        folders
            .filter_map(|it| uri::to_path(it.uri.as_ref()))
            .collect()
    };
    let (added, removed) = (paths(&params.event.added), paths(&params.event.removed));
    folders_changed(state, added, &removed);
}

#[derive(Deserialize)]
struct CancelRequest {
    id: RequestId,
}

fn cancel_request(state: &mut State, params: CancelRequest) {
    cancel(state, params.id);
}

#[derive(Deserialize)]
struct CancelProgress {
    token: ProgressToken,
}

fn cancel_progress(state: &mut State, params: CancelProgress) {
    let long = state.long_requests.iter();
    let long = long.filter(|(_, it)| it.token.as_ref() == Some(&params.token));
    let ids: Vec<RequestId> = long.map(|(id, _)| id.clone()).collect();
    for id in ids {
        cancel(state, id);
    }
}

fn cancel(state: &mut State, id: RequestId) {
    let long = state.long_requests.get(&id);
    if let Some(recording) = long.filter(|it| it.on_cancel == OnCancel::StopProgram) {
        recording.progress.cancel();
    } else if let Some(progress) = state.requests.incoming.complete(&id) {
        state.long_requests.remove(&id);
        progress.cancel();
        let cancelled = ErrorCode::RequestCanceled as i32;
        state.send(Response::new_err(id, cancelled, Cancelled.to_string()).into());
    }
}

fn is_filter(state: &State, uri: &str) -> bool {
    let document = state.documents.by_uri(uri);
    document.is_some_and(|document| document.is_filter)
}

/// Computes the diagnostics of one document after its text changed.
fn diagnose(state: &mut State, uri: &str) {
    if is_filter(state, uri) {
        state.check_filter(uri);
    } else if state.profile.is_some()
        && let Some(path) = path_of_uri(uri)
    {
        state.refresh_diagnostics(Some(path));
    }
}
