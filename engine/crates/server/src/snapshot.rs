//! The immutable snapshot of what the server knows: requests on any thread read it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::Config;
use crate::documents::{Document, Documents};
use crate::filters::LogCache;
use crate::profile::OpenCausalProfile;
use crate::protocol::{ProfileFile, ProfileKind, ProfileSummary};
use crate::sources::current_text;
use crate::transactions::OpenRuns;
use crate::uri;

/// Read-only view of the state at one moment; cheap to make.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// What the client can do.
    pub config: Config,
    /// The open profile.
    pub profile: Option<Arc<OpenCausalProfile>>,
    /// The open documents.
    pub documents: Arc<Documents>,
    /// The workspace's folders.
    pub folders: Arc<Vec<PathBuf>>,
    /// What is known of the workspace's traces.
    pub traced: Arc<LogCache>,
    /// The runs of transactions that were opened.
    pub transactions: Arc<OpenRuns>,
}

impl Snapshot {
    /// The document of a URI: as open in the editor, else from disk. `None` when it is neither.
    pub fn document(&self, uri: &str) -> Option<Arc<Document>> {
        if let Some(document) = self.documents.by_uri(uri) {
            return Some(Arc::clone(document));
        }
        let path = crate::sources::path_of(uri)?;
        let text = current_text(&path, &self.documents)?;
        let language = fulcrum_source::Language::from_path(&path);
        Some(Arc::new(Document::new(
            uri,
            Some(path),
            0,
            language,
            text.into(),
        )))
    }

    /// The URI of a file, spelt as the client does when it is open.
    pub fn uri(&self, path: &Path) -> String {
        self.documents
            .by_path(path)
            .map_or_else(|| uri::from_path(path), |d| d.uri.clone())
    }

    /// The open profile in a few words.
    pub fn summary(&self) -> Option<ProfileSummary> {
        self.profile
            .as_ref()
            .map(|profile| self.summary_of(profile))
    }

    /// A profile in a few words.
    pub fn summary_of(&self, open: &OpenCausalProfile) -> ProfileSummary {
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
