//! An immutable snapshot of the server's state, for requests on any thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::causal::profile::OpenCausalProfile;
use crate::documents::{Document, Documents, path_of_uri};
use crate::filters::LogCache;
use crate::protocol::config::Config;
use crate::protocol::uri;
use crate::protocol::{ProfileFile, ProfileKind, ProfileSummary};
use crate::transactions::OpenRuns;

/// A read-only view of the state at one moment. Cheap to make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// What the client can do.
    pub config: Config,
    /// The open profile.
    pub profile: Option<Arc<OpenCausalProfile>>,
    /// The open documents.
    pub documents: Arc<Documents>,
    /// The workspace's folders.
    pub folders: Arc<Vec<PathBuf>>,
    /// What was read of the workspace's event logs.
    pub logs: Arc<LogCache>,
    /// The runs of transactions that are kept open.
    pub transactions: Arc<OpenRuns>,
}

impl Snapshot {
    /// The document of a URI: as open in the editor, else from disk. `None` when it is in neither.
    pub(crate) fn document(&self, uri: &str) -> Option<Arc<Document>> {
        if let Some(document) = self.documents.by_uri(uri) {
            return Some(Arc::clone(document));
        }
        let path = path_of_uri(uri)?;
        let text = self.documents.current_text(&path)?;
        let language = fulcrum_source::Language::from_path(&path);
        Some(Arc::new(Document::new(
            uri,
            Some(path),
            0,
            language,
            text.into(),
        )))
    }

    /// The URI of a file; of an open file, as the client spells it.
    pub(crate) fn uri(&self, path: &Path) -> String {
        self.documents
            .by_path(path)
            .map_or_else(|| uri::from_path(path), |d| d.uri.clone())
    }

    /// What the client is told of the open profile.
    pub(crate) fn summary(&self) -> Option<ProfileSummary> {
        self.profile
            .as_ref()
            .map(|profile| self.summary_of(profile))
    }

    /// What the client is told of a profile.
    pub(crate) fn summary_of(&self, open: &OpenCausalProfile) -> ProfileSummary {
        let points = &open.profile.progress_points;
        let mut lines: Vec<_> = points
            .iter()
            .flat_map(|p| &p.targets)
            .map(|t| &t.id.location)
            .collect();
        lines.sort();
        lines.dedup();
        ProfileSummary {
            path: open.path.to_string_lossy().into_owned(),
            title: open.title.clone(),
            kind: ProfileKind::Causal,
            progress_points: points
                .iter()
                .map(fulcrum_answers::causal::progress_point)
                .collect(),
            targets: lines.len() as u32,
            files: open
                .sources
                .files
                .iter()
                .map(|file| ProfileFile {
                    location: file.recorded.clone(),
                    uri: file.resolution.path().map(|path| self.uri(path)),
                })
                .collect(),
            live: open.live,
            notes: open.notes.clone(),
        }
    }
}
