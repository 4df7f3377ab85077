//! What the client says of itself in `initialize`.

use std::path::PathBuf;

use gen_lsp_types::PositionEncodingKind;
use serde::Deserialize;
use serde_json::Value;

use crate::protocol::FulcrumClientCapabilities;
use crate::protocol::position::Encoding;
use crate::protocol::uri;

/// The part of the parameters of `initialize` that the server reads. (LSP's own type has every capability that a client may
/// have; reading it would be a fifth of the server's code.)
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InitializeParams {
    capabilities: Capabilities,
    workspace_folders: Option<Vec<Folder>>,
    root_uri: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Capabilities {
    general: Option<General>,
    experimental: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct General {
    position_encodings: Option<Vec<PositionEncodingKind>>,
    markdown: Option<Markdown>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Markdown {
    parser: String,
}

#[derive(Debug, Deserialize)]
struct Folder {
    uri: String,
}

/// What `initialize` settles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// What positions count in.
    pub encoding: Encoding,
    /// Hovers may hold images and command links.
    pub rich_hover: bool,
}

impl Config {
    /// From the client's capabilities.
    pub(crate) fn new(params: &InitializeParams) -> Config {
        let general = params.capabilities.general.as_ref();
        let utf8 = |g: &General| {
            let all = g.position_encodings.as_deref().unwrap_or_default();
            all.contains(&PositionEncodingKind::UTF8)
        };
        let ours: Option<FulcrumClientCapabilities> = params
            .capabilities
            .experimental
            .as_ref()
            .and_then(|e| e.get("fulcrum"))
            .and_then(|value| serde_json::from_value(value.clone()).ok());
        let marked = general
            .and_then(|g| g.markdown.as_ref())
            .is_some_and(|m| m.parser == "marked");
        Config {
            encoding: match general.is_some_and(utf8) {
                true => Encoding::Utf8,
                false => Encoding::Utf16,
            },
            rich_hover: ours.and_then(|ours| ours.rich_hover).unwrap_or(marked),
        }
    }
}

/// The folders of the workspace. Clients without workspace folders still send `rootUri`.
pub(crate) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    match &params.workspace_folders {
        Some(list) => list
            .iter()
            .filter_map(|folder| uri::to_path(&folder.uri))
            .collect(),
        None => params
            .root_uri
            .iter()
            .filter_map(|root| uri::to_path(root))
            .collect(),
    }
}
