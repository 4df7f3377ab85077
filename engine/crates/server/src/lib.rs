//! The language server: the only crate that knows LSP or JSON-RPC.
//!
//! The loop (`main_loop`) owns the state (`state`). Each file under `requests/` handles one request; the trait that it
//! implements says whether it changes the state, reads a snapshot, or works on a thread of its own. Each layer knows only
//! those below it: the loop with its dispatch, requests, the state, navigators, the snapshot, and what these are made of.
//! Standard requests come first, so that any LSP editor shows the results; `fulcrum/…` is in [`fulcrum_schema`].

#![forbid(unsafe_code)]

mod causal;
mod documents;
mod events;
mod filters;
mod main_loop;
mod navigator;
mod pool;
mod protocol;
mod recording;
mod requests;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod transactions;

use std::sync::Arc;

use gen_lsp_types as lsp;
use lsp_server::Connection;
use serde_json::json;

use protocol::config::{self, Config, InitializeParams};
pub use protocol::error::ServerError;
use protocol::position::Encoding;
use protocol::transport::{self, Client};
use protocol::{FulcrumServerCapabilities, PROTOCOL_VERSION, REQUESTS};
pub use recording::recorder::{Real, Recorder};
pub use recording::script::Scripted;

/// `fulcrum lsp`: serves one client on standard input and output until it leaves. Nothing else may write to standard
/// output meanwhile.
pub fn run_stdio(recorder: Arc<dyn Recorder>) -> Result<(), ServerError> {
    let (connection, client, threads) =
        transport::stdio().map_err(|error| ServerError::new("cannot start threads", &error))?;
    let served = serve(&connection, client, recorder);
    // The writer ends when the last sender is gone.
    drop(connection);
    let written = threads
        .join()
        .map_err(|error| ServerError::new("the connection broke", &error));
    served.and(written)
}

/// Serves one client; `recorder` runs the programs.
pub fn run(connection: &Connection, recorder: Arc<dyn Recorder>) -> Result<(), ServerError> {
    let client = Client::Here(connection.sender.clone());
    serve(connection, client, recorder)
}

fn serve(
    connection: &Connection,
    client: Client,
    recorder: Arc<dyn Recorder>,
) -> Result<(), ServerError> {
    let (id, params) = connection
        .initialize_start()
        .map_err(|e| ServerError::new("no initialize request came", &e))?;
    let params: InitializeParams = serde_json::from_value(params)
        .map_err(|e| ServerError::new("the parameters of initialize could not be read", &e))?;
    let config = Config::new(&params);
    let result = lsp::InitializeResult {
        capabilities: capabilities(config),
        server_info: Some(lsp::ServerInfo {
            name: "fulcrum".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        }),
    };
    let result = serde_json::to_value(result)
        .map_err(|e| ServerError::new("initialize could not be answered", &e))?;
    connection
        .initialize_finish(id, result)
        .map_err(|e| ServerError::new("the client left at once", &e))?;
    let folders = config::folders(&params);
    main_loop::serve((client, &connection.receiver), config, folders, recorder)
}

fn capabilities(config: Config) -> lsp::ServerCapabilities {
    let fulcrum = FulcrumServerCapabilities {
        version: PROTOCOL_VERSION,
        requests: REQUESTS.iter().map(|&name| name.to_owned()).collect(),
    };
    lsp::ServerCapabilities {
        position_encoding: Some(match config.encoding {
            Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
            Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(lsp::TextDocumentSync::Options(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::Incremental),
                ..lsp::TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(lsp::HoverProvider::Bool(true)),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: Some(vec![" ".into(), ".".into()]),
            ..lsp::CompletionOptions::default()
        }),
        inlay_hint_provider: Some(lsp::InlayHintProvider::Bool(true)),
        code_action_provider: Some(lsp::CodeActionProvider::CodeActionOptions(
            lsp::CodeActionOptions {
                code_action_kinds: Some(vec![
                    lsp::CodeActionKind::QuickFix,
                    lsp::CodeActionKind::from(requests::document::code_action::KIND.to_owned()),
                ]),
                ..lsp::CodeActionOptions::default()
            },
        )),
        workspace: Some(lsp::WorkspaceOptions {
            workspace_folders: Some(lsp::WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(lsp::ChangeNotifications::Bool(true)),
            }),
            ..lsp::WorkspaceOptions::default()
        }),
        experimental: Some(json!({ "fulcrum": fulcrum })),
        ..lsp::ServerCapabilities::default()
    }
}
