//! The documents that the editor has open, and where in the workspace the files are that a profile names.

pub(crate) mod resolve;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fulcrum_source::{Language, SourceFile};
use gen_lsp_types::TextDocumentContentChangeEvent as Change;

use crate::protocol::DocumentPosition;
use crate::protocol::position::{Encoding, offset};
use crate::protocol::uri;

/// The id of the filter language of event traces in editors.
const FILTER_LANGUAGE: &str = "fulcrum-filter";
/// How the names of filter files end.
const FILTER_SUFFIX: &str = ".fulcrum-filter";

/// One open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// As the client spells it.
    pub uri: String,
    /// The path of a `file:` URI, with links resolved when the file exists.
    pub path: Option<PathBuf>,
    /// The client's version of the text.
    pub version: i32,
    /// By the client's language id, else by the file's extension.
    pub language: Option<Language>,
    /// Whether it is a filter of event traces: by the client's language id, else by the file's extension.
    pub is_filter: bool,
    /// The text as it is on the screen.
    pub text: Arc<str>,
    /// The parsed text, once something needs it.
    source: OnceLock<Arc<SourceFile>>,
}

impl Document {
    /// A document with this text.
    pub(crate) fn new(
        uri: &str,
        path: Option<PathBuf>,
        version: i32,
        language: Option<Language>,
        text: Arc<str>,
    ) -> Document {
        let source = OnceLock::new();
        Document {
            uri: uri.to_owned(),
            path,
            version,
            language,
            is_filter: uri.ends_with(FILTER_SUFFIX),
            text,
            source,
        }
    }

    /// The parsed text; `None` for a language in which there are no progress points.
    pub(crate) fn source(&self) -> Option<&SourceFile> {
        let language = self.language?;
        Some(
            self.source
                .get_or_init(|| Arc::new(SourceFile::parse(Arc::clone(&self.text), language))),
        )
    }
}

/// All open documents. Cloning is cheap enough to do per request: the texts are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<String, Arc<Document>>,
}

impl Documents {
    /// `textDocument/didOpen`.
    pub(crate) fn open(&mut self, uri: &str, language_id: &str, version: i32, text: String) {
        let path = uri::to_path(uri).map(|path| canonical(&path));
        let by_path = || path.as_deref().and_then(Language::from_path);
        let language = Language::from_id(language_id).or_else(by_path);
        let mut document = Document::new(uri, path, version, language, text.into());
        document.is_filter |= language_id == FILTER_LANGUAGE;
        self.open.insert(uri.to_owned(), Arc::new(document));
    }

    /// `textDocument/didChange`, incremental or full. False when the document is not open.
    pub(crate) fn change(
        &mut self,
        uri: &str,
        version: i32,
        changes: Vec<Change>,
        encoding: Encoding,
    ) -> bool {
        let Some(document) = self.open.get_mut(uri) else {
            return false;
        };
        let mut text = document.text.to_string();
        for change in changes {
            match change {
                Change::TextDocumentContentChangePartial(part) => {
                    let at = |p: gen_lsp_types::Position| {
                        let place = DocumentPosition {
                            line: p.line,
                            character: p.character,
                        };
                        offset(&text, place, encoding)
                    };
                    let (start, end) = (at(part.range.start), at(part.range.end));
                    text.replace_range(start..end.max(start), &part.text);
                }
                Change::TextDocumentContentChangeWholeDocument(whole) => text = whole.text,
            }
        }
        let document = Arc::make_mut(document);
        document.text = text.into();
        document.version = version;
        document.source = OnceLock::new();
        true
    }

    /// `textDocument/didClose`.
    pub(crate) fn close(&mut self, uri: &str) {
        self.open.remove(uri);
    }

    /// An open document by its URI.
    pub(crate) fn by_uri(&self, uri: &str) -> Option<&Arc<Document>> {
        self.open
            .get(uri)
            .or_else(|| self.by_path(&canonical(&uri::to_path(uri)?)))
    }

    /// An open document by its canonical path.
    pub(crate) fn by_path(&self, path: &Path) -> Option<&Arc<Document>> {
        self.open
            .values()
            .find(|document| document.path.as_deref() == Some(path))
    }

    /// The text of a file as it is on the screen, else on disk. `None` when it cannot be read.
    pub(crate) fn current_text(&self, path: &Path) -> Option<String> {
        if let Some(document) = self.by_path(path) {
            return Some(document.text.to_string());
        }
        let bytes = std::fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The canonical paths of all open files, sorted.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<_> = self.open.values().filter_map(|d| d.path.clone()).collect();
        paths.sort();
        paths
    }
}

/// The canonical path of a `file:` URI; `None` for any other URI.
pub(crate) fn path_of_uri(uri: &str) -> Option<PathBuf> {
    uri::to_path(uri).map(|path| canonical(&path))
}

/// The path with links resolved; unchanged when there is no such file.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: (u32, u32), end: (u32, u32), text: &str) -> Change {
        let value = serde_json::json!({
            "range": {
                "start": {"line": start.0, "character": start.1},
                "end": {"line": end.0, "character": end.1},
            },
            "text": text,
        });
        serde_json::from_value(value).expect("a partial change")
    }

    #[test]
    fn changes_apply_one_after_the_other() {
        let mut documents = Documents::default();
        documents.open("file:///no/x.cpp", "cpp", 1, "aü😀\nb\n".into());
        let whole: Change =
            serde_json::from_value(serde_json::json!({"text": "new\n"})).expect("a change");
        for (changes, expect) in [
            (vec![part((0, 2), (0, 4), "c")], "aüc\nb\n"),
            (
                vec![part((0, 0), (0, 0), "x"), part((1, 1), (1, 1), "y")],
                "xaüc\nby\n",
            ),
            (vec![part((0, 4), (1, 0), "")], "xaücby\n"),
            (vec![whole, part((9, 0), (9, 9), "end")], "new\nend"),
        ] {
            assert!(documents.change("file:///no/x.cpp", 2, changes, Encoding::Utf16));
            assert_eq!(
                &*documents.by_uri("file:///no/x.cpp").expect("open").text,
                expect
            );
        }
        documents.close("file:///no/x.cpp");
        assert!(!documents.change("file:///no/x.cpp", 3, vec![], Encoding::Utf16));
    }
}
