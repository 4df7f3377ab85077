//! What the client is shown of the state: the open profile, and diagnostics, which are computed on the pool.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use gen_lsp_types::Diagnostic;
use serde_json::json;

use super::diagnostics::{Checked, Published, diagnostics};
use super::{State, Task};
use crate::causal::profile::OpenCausalProfile;
use crate::filters;
use crate::protocol::{DID_CHANGE_RESULTS, DidChangeResultsParams};

impl State {
    /// Shows a profile, or none, in place of the one that was open.
    pub(crate) fn show(&mut self, profile: Option<Arc<OpenCausalProfile>>) {
        self.shown_order = self.next_order();
        self.profile = profile;
        let summary = self.snapshot().summary();
        self.notify(DID_CHANGE_RESULTS, DidChangeResultsParams { summary });
        self.refresh_diagnostics(None);
    }

    /// Computes diagnostics on the pool: of all files, or of one document.
    pub(crate) fn refresh_diagnostics(&mut self, only: Option<PathBuf>) {
        let Some(profile) = &self.profile else {
            for uri in std::mem::take(&mut self.published) {
                self.clear_diagnostics(&uri);
            }
            return;
        };
        let of = Arc::downgrade(profile);
        let (snapshot, tasks) = (self.snapshot(), self.tasks());
        self.pool.spawn(move || {
            let work = || Ok(diagnostics(&snapshot, only.as_deref()));
            if let Ok(published) = crate::pool::guarded("textDocument/publishDiagnostics", work) {
                let _ = tasks.send(Task::Diagnostics {
                    of,
                    checked: match only {
                        None => Checked::AllFiles,
                        Some(_) => Checked::OneFile,
                    },
                    published,
                });
            }
        });
    }

    /// Checks a filter's text on the pool.
    pub(crate) fn check_filter(&self, uri: &str) {
        let (snapshot, tasks, uri) = (self.snapshot(), self.tasks(), uri.to_owned());
        self.pool.spawn(move || {
            let Some(document) = snapshot.documents.by_uri(&uri) else {
                return;
            };
            let work = || {
                let observed = snapshot.logs.observed(&snapshot.folders);
                Ok(filters::check(
                    &document.text,
                    &observed,
                    snapshot.config.encoding,
                ))
            };
            if let Ok(diagnostics) = crate::pool::guarded("textDocument/publishDiagnostics", work) {
                let _ = tasks.send(Task::FilterChecked {
                    version: document.version,
                    uri,
                    diagnostics,
                });
            }
        });
    }

    /// Shows the diagnostics of a filter, unless its text was changed or closed meanwhile.
    pub(crate) fn publish_filter(&self, uri: &str, version: i32, diagnostics: &[Diagnostic]) {
        let document = self.documents.by_uri(uri);
        if document.is_some_and(|document| document.version == version) {
            let params = json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
            self.notify("textDocument/publishDiagnostics", params);
        }
    }

    /// Removes all diagnostics of a document.
    pub(crate) fn clear_diagnostics(&self, uri: &str) {
        let params = json!({ "uri": uri, "diagnostics": [] });
        self.notify("textDocument/publishDiagnostics", params);
    }

    /// Whether a profile is the one that is open.
    pub(crate) fn is_open(&self, profile: &Weak<OpenCausalProfile>) -> bool {
        let open = self.profile.as_ref();
        open.is_some_and(|open| Weak::ptr_eq(profile, &Arc::downgrade(open)))
    }

    /// Shows the diagnostics that were computed, and removes those that no longer hold.
    pub(crate) fn publish(&mut self, checked: Checked, published: &[Published]) {
        let now: BTreeSet<String> = published
            .iter()
            .filter(|p| !p.diagnostics.is_empty())
            .map(|p| p.uri.clone())
            .collect();
        let cleared: Vec<String> = match checked {
            Checked::AllFiles => self.published.difference(&now).cloned().collect(),
            Checked::OneFile => published
                .iter()
                .map(|p| p.uri.clone())
                .filter(|uri| !now.contains(uri))
                .collect(),
        };
        for document in published {
            if document.diagnostics.is_empty() {
                continue;
            }
            let mut params = json!({ "uri": document.uri, "diagnostics": document.diagnostics });
            if let Some(version) = document.version {
                params["version"] = version.into();
            }
            self.notify("textDocument/publishDiagnostics", params);
        }
        for uri in cleared {
            if self.published.remove(&uri) {
                self.clear_diagnostics(&uri);
            }
        }
        self.published.extend(now);
    }
}
