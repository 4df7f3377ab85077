//! `textDocument/publishDiagnostics`: contention, and a run that visited no progress point.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fulcrum_causal::program_speedup_at;
use fulcrum_source::State;
use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message, Position, Range};

use crate::causal::profile::OpenCausalProfile;
use crate::causal::wording::plain_percent;
use crate::protocol::position::line_range;
use crate::snapshot::Snapshot;

const CONTENTION: &str = "contention";
const NO_PROGRESS_POINT: &str = "noProgressPoint";

/// Which files diagnostics were computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// All files of the profile.
    AllFiles,
    /// One of them.
    OneFile,
}

/// The diagnostics of one document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Published {
    /// The document.
    pub uri: String,
    /// The version of the text that was checked, when the document is open.
    pub version: Option<i32>,
    /// An empty list removes those that are shown.
    pub diagnostics: Vec<Diagnostic>,
}

/// The diagnostics of the profile's files, or of one of them. Files without any are left out.
pub(crate) fn diagnostics(snapshot: &Snapshot, only: Option<&Path>) -> Vec<Published> {
    // While a run goes on, its results come and go. The list of problems is for what is known.
    let Some(open) = snapshot.profile.as_ref().filter(|open| !open.live) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = open
        .sources
        .files
        .iter()
        .filter_map(|file| file.resolution.path())
        .map(Path::to_path_buf)
        .collect();
    paths.sort();
    paths.dedup();
    paths
        .into_iter()
        .filter(|path| only.is_none_or(|only| only == path))
        .filter_map(|path| {
            let text = snapshot.documents.current_text(&path)?;
            let document = snapshot.documents.by_path(&path);
            Some(Published {
                uri: snapshot.uri(&path),
                version: document.map(|document| document.version),
                diagnostics: of_file(snapshot, open, &path, &text),
            })
        })
        .filter(|published| only.is_some() || !published.diagnostics.is_empty())
        .collect()
}

fn of_file(
    snapshot: &Snapshot,
    open: &OpenCausalProfile,
    path: &Path,
    text: &str,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // One for each line: several progress points often see the same contention.
    let mut contended: BTreeMap<u32, String> = BTreeMap::new();
    for point in &open.profile.progress_points {
        for placement in open.placements(point, path, text) {
            if !placement.target.contention || placement.placed.state == State::Stale {
                continue;
            }
            let half = program_speedup_at(placement.target, 0.5);
            contended.entry(placement.placed.line).or_insert_with(|| {
                format!(
                    "Contention: making this line 2× faster would slow {} down by {}. Look for the lock or shared \
                     data that it competes for, rather than optimising it.",
                    point.name,
                    plain_percent(half.abs())
                )
            });
        }
    }
    for (line, message) in contended {
        found.push(warning(snapshot, text, line, CONTENTION, message));
    }
    if let Some(hottest) = open.unvisited
        && open.sources[hottest.file].resolution.path() == Some(path)
    {
        let sources = &open.sources;
        let placed = sources.place(hottest.file, hottest.line, Some(text));
        let message = "The last run visited no progress point, so nothing could be measured. Insert one into the loop \
                       whose pace matters (most time was spent near here), build again and run again.";
        let line = placed.line;
        found.push(warning(
            snapshot,
            text,
            line,
            NO_PROGRESS_POINT,
            message.into(),
        ));
    }
    found
}

fn warning(snapshot: &Snapshot, text: &str, line: u32, code: &str, message: String) -> Diagnostic {
    let (start, end) = line_range(text, line, snapshot.config.encoding);
    Diagnostic {
        range: Range {
            start: Position {
                line: start.line,
                character: start.character,
            },
            end: Position {
                line: end.line,
                character: end.character,
            },
        },
        severity: Some(DiagnosticSeverity::Warning),
        code: Some(Code::String(code.into())),
        code_description: None,
        source: Some("Fulcrum".into()),
        message: Message::String(message),
        tags: None,
        related_information: None,
        data: None,
    }
}

/// Whether a diagnostic that the client sends back is our request for a progress point.
pub(crate) fn is_no_progress_point(diagnostic: &Diagnostic) -> bool {
    diagnostic.source.as_deref() == Some("Fulcrum")
        && diagnostic.code == Some(Code::String(NO_PROGRESS_POINT.into()))
}
