//! Inserts and removes progress points (COZ §3.3).

#[cfg(test)]
mod every_position;
mod include;
mod insert;
mod insertion_point;
pub(crate) mod kind;
mod names;
mod remove;
mod rust;

use std::sync::Arc;

use crate::progress_points::include::Header;
use crate::progress_points::kind::{ProgressPointKind, Refused};
use crate::syntax::language::Language;
use crate::syntax::text::{Edit, apply};
use crate::syntax::tree::{Syntax, parse_tree};

/// A parsed file. Can be used for several requests.
#[derive(Clone, Debug)]
pub struct SourceFile {
    text: Arc<str>,
    language: Language,
    tree: tree_sitter::Tree,
}

impl SourceFile {
    /// Parses a file.
    pub fn parse(text: Arc<str>, language: Language) -> SourceFile {
        let tree = parse_tree(&text, language, None);
        SourceFile {
            text,
            language,
            tree,
        }
    }

    /// The edits for a progress point at byte `at`, ascending and without overlap. Any byte is accepted; one in the white space around
    /// a line's text counts as that text. The edited text parses at least as well as before.
    pub fn progress_point(&self, at: usize, kind: ProgressPointKind) -> Result<Vec<Edit>, Refused> {
        let before = self.syntax();
        let edits = plan(&before, at, kind)?;
        let now = apply(&self.text, &edits);
        if is_as_good(&before, &before.edited(&edits, &now), kind) {
            Ok(edits)
        } else {
            Err(Refused::unparseable(line_of(&self.text, at)))
        }
    }

    /// Whether [`ProgressPointKind::Remove`] at byte `at` finds a progress point.
    pub fn has_progress_point(&self, at: usize) -> bool {
        remove::find(&self.syntax(), floor(&self.text, at)).is_some()
    }

    fn syntax(&self) -> Syntax<'_> {
        Syntax::new(&self.text, self.language, &self.tree)
    }
}

pub(crate) fn plan(
    syntax: &Syntax<'_>,
    at: usize,
    kind: ProgressPointKind,
) -> Result<Vec<Edit>, Refused> {
    let text = syntax.text;
    let at = floor(text, at);
    if kind == ProgressPointKind::Remove {
        let node = remove::find(syntax, at)
            .ok_or_else(|| Refused::nothing_to_remove(line_of(text, at), syntax.language))?;
        return Ok(remove::remove(syntax, node));
    }
    if syntax.language == Language::Rust {
        return rust::insert(syntax, at, kind);
    }
    let target = insertion_point::find(syntax, at, kind)?;
    let header = include::present(syntax);
    let prefix = if header == Some(Header::Coz) {
        "COZ"
    } else {
        "FULCRUM"
    };
    let what = match kind {
        ProgressPointKind::LatencyBegin => {
            format!("{prefix}_BEGIN(\"{}\");", names::latency(syntax, at, kind))
        }
        ProgressPointKind::LatencyEnd => {
            format!("{prefix}_END(\"{}\");", names::latency(syntax, at, kind))
        }
        _ => format!("{prefix}_PROGRESS;"),
    };
    let mut edits = insert::insert(syntax, target, &what)
        .ok_or_else(|| Refused::unparseable(line_of(text, at)))?;
    if header.is_none() {
        edits.insert(0, include::add(syntax));
        if edits.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return Err(Refused::unparseable(line_of(text, at)));
        }
    }
    Ok(edits)
}

/// Whether the edited text parses at least as well, and has exactly one progress point more (or fewer).
pub(crate) fn is_as_good(before: &Syntax<'_>, after: &Syntax<'_>, kind: ProgressPointKind) -> bool {
    let (had, has) = (remove::points(before).len(), remove::points(after).len());
    let counts = if kind == ProgressPointKind::Remove {
        has + 1 == had
    } else {
        has == had + 1
    };
    counts && after.errors() <= before.errors()
}

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn line_of(text: &str, at: usize) -> usize {
    text[..floor(text, at)].matches('\n').count() + 1
}
