//! What the client is shown of the state: the open profile, and diagnostics, which are computed on the pool and taken back.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::{State, Task};
use crate::diagnostics::{Published, diagnostics};
use crate::filters;
use crate::profile::OpenCausalProfile;
use crate::protocol::{DID_CHANGE_RESULTS, DidChangeResultsParams};

impl State {
    /// Shows a profile, or none, in place of the one that was open.
    pub fn show(&mut self, profile: Option<Arc<OpenCausalProfile>>) {
        self.shown_order = self.next_order();
        self.profile = profile;
        let summary = self.snapshot().summary();
        self.notify(DID_CHANGE_RESULTS, DidChangeResultsParams { summary });
        self.refresh_diagnostics(None);
    }

    /// Computes diagnostics on the pool: of all files, or of one document.
    pub fn refresh_diagnostics(&mut self, only: Option<PathBuf>) {
        let Some(profile) = &self.profile else {
            for uri in std::mem::take(&mut self.published) {
                self.notify(
                    "textDocument/publishDiagnostics",
                    json!({ "uri": uri, "diagnostics": [] }),
                );
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
                    all: only.is_none(),
                    published,
                });
            }
        });
    }

    /// Checks a filter's text on the pool.
    pub fn check_filter(&self, uri: &str) {
        let (snapshot, tasks, uri) = (self.snapshot(), self.tasks(), uri.to_owned());
        self.pool.spawn(move || {
            let Some(document) = snapshot.documents.by_uri(&uri) else {
                return;
            };
            let work = || {
                let seen = snapshot.traced.seen(&snapshot.folders);
                Ok(filters::check(
                    &document.text,
                    &seen,
                    snapshot.config.encoding,
                ))
            };
            if let Ok(diagnostics) = crate::pool::guarded("textDocument/publishDiagnostics", work) {
                let _ = tasks.send(Task::Checked {
                    version: document.version,
                    uri,
                    diagnostics,
                });
            }
        });
    }

    /// A filter's document was closed: what was said of it goes.
    pub fn forget_filter(&self, uri: &str) {
        let params = json!({ "uri": uri, "diagnostics": [] });
        self.notify("textDocument/publishDiagnostics", params);
    }

    /// Shows what was computed, and takes back what is no longer so.
    pub fn publish(&mut self, all: bool, published: Vec<Published>) {
        let now: BTreeSet<String> = published
            .iter()
            .filter(|p| !p.diagnostics.is_empty())
            .map(|p| p.uri.clone())
            .collect();
        let cleared: Vec<String> = match all {
            true => self.published.difference(&now).cloned().collect(),
            false => published
                .iter()
                .map(|p| p.uri.clone())
                .filter(|uri| !now.contains(uri))
                .collect(),
        };
        for document in &published {
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
                self.notify(
                    "textDocument/publishDiagnostics",
                    json!({ "uri": uri, "diagnostics": [] }),
                );
            }
        }
        self.published.extend(now);
    }
}
