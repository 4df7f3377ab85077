//! `textDocument/publishDiagnostics`: contention, and a run that visited no progress point.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fulcrum_causal::program_speedup_at;
use fulcrum_source::State;
use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message, Position, Range};

use crate::position::line_range;
use crate::profile::OpenCausalProfile;
use crate::snapshot::Snapshot;
use crate::sources::current_text;
use crate::wording::plain_percent;

const CONTENTION: &str = "contention";
const NO_PROGRESS_POINT: &str = "noProgressPoint";

/// What one document shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The document.
    pub uri: String,
    /// Of the text that was looked at, when it is open.
    pub version: Option<i32>,
    /// May be empty, which clears.
    pub diagnostics: Vec<Diagnostic>,
}

/// The diagnostics of the profile's files, or of one of them. Files without any are left out.
pub fn diagnostics(snapshot: &Snapshot, only: Option<&Path>) -> Vec<Published> {
    // While a run goes on its results come and go; the list of problems is for what is known.
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
            let text = current_text(&path, &snapshot.documents)?;
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
    // One a line: several progress points often see the same contention.
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
        found.push(diagnostic(
            snapshot,
            text,
            line,
            DiagnosticSeverity::Warning,
            CONTENTION,
            message,
        ));
    }
    if let Some(Some((file, line))) = open.unvisited
        && open.sources.files[file].resolution.path() == Some(path)
    {
        let placed = open.sources.place(file, line, Some(text));
        let message = "The last run visited no progress point, so nothing could be measured. Insert one into the loop \
                       whose pace matters (most time was spent near here), build again and run again.";
        found.push(diagnostic(
            snapshot,
            text,
            placed.line,
            DiagnosticSeverity::Warning,
            NO_PROGRESS_POINT,
            message.into(),
        ));
    }
    found
}

fn diagnostic(
    snapshot: &Snapshot,
    text: &str,
    line: u32,
    severity: DiagnosticSeverity,
    code: &str,
    message: String,
) -> Diagnostic {
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
        severity: Some(severity),
        code: Some(Code::String(code.into())),
        code_description: None,
        source: Some("Fulcrum".into()),
        message: Message::String(message),
        tags: None,
        related_information: None,
        data: None,
    }
}

/// Whether a diagnostic that the client sends back is ours and asks for a progress point.
pub(crate) fn is_no_progress_point(diagnostic: &Diagnostic) -> bool {
    diagnostic.source.as_deref() == Some("Fulcrum")
        && diagnostic.code == Some(Code::String(NO_PROGRESS_POINT.into()))
}
