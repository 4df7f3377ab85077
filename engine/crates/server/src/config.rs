//! What the client told about itself.

use std::path::PathBuf;

use gen_lsp_types::{InitializeParams, PositionEncodingKind, WorkspaceFolders};

use crate::position::Encoding;
use crate::protocol::FulcrumClientCapabilities;
use crate::uri;

/// Fixed by `initialize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// What positions count.
    pub encoding: Encoding,
    /// Hovers may hold images and command links.
    pub rich_hover: bool,
}

impl Config {
    /// From the client's capabilities.
    pub fn new(params: &InitializeParams) -> Config {
        let general = params.capabilities.general.as_ref();
        let encodings = general
            .and_then(|g| g.position_encodings.as_deref())
            .unwrap_or_default();
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
            encoding: match encodings.contains(&PositionEncodingKind::UTF8) {
                true => Encoding::Utf8,
                false => Encoding::Utf16,
            },
            rich_hover: ours.and_then(|ours| ours.rich_hover).unwrap_or(marked),
        }
    }
}

/// The folders of the workspace.
#[allow(
    deprecated,
    reason = "clients without workspace folders still send rootUri"
)]
pub fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    match &params.workspace_folders_initialize_params.workspace_folders {
        Some(WorkspaceFolders::WorkspaceFolderList(list)) => list
            .iter()
            .filter_map(|folder| uri::to_path(folder.uri.as_ref()))
            .collect(),
        _ => params
            .root_uri
            .iter()
            .filter_map(|root| uri::to_path(root.as_ref()))
            .collect(),
    }
}
