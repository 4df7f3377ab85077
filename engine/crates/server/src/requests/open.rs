//! `fulcrum/causal/open`: loads and analyses on the pool, then shows the result on the loop.

use std::path::PathBuf;
use std::sync::Arc;

use lsp_server::RequestId;

use crate::pool::guarded;
use crate::profile::OpenCausalProfile;
use crate::protocol::{CausalOpen, Method, OpenParams};
use crate::state::{State, Task};

/// Answers when the profile is open, so that a request sent after the answer sees it.
pub(crate) fn open(state: &mut State, id: RequestId, params: OpenParams) {
    let order = state.next_order();
    state.look_at(Some(std::path::Path::new(&params.path)));
    let snapshot = state.snapshot();
    let tasks = state.tasks();
    state.pool.spawn(move || {
        let path = PathBuf::from(params.path);
        let profile = guarded(CausalOpen::NAME, || {
            OpenCausalProfile::open(&path, &snapshot.folders, &snapshot.documents)
        });
        // The loop is gone only when the server is.
        let _ = tasks.send(Task::Opened {
            id,
            order,
            profile: profile.map(Box::new),
        });
    });
}

/// Reads the workspace again: another folder came or went.
pub(crate) fn folders_changed(state: &mut State, added: Vec<PathBuf>, removed: &[PathBuf]) {
    let mut folders: Vec<PathBuf> = state
        .folders
        .iter()
        .filter(|f| !removed.contains(f))
        .cloned()
        .collect();
    folders.extend(added);
    state.folders = Arc::new(folders);
    reopen(state);
}

/// Opens the profile again: the workspace's folders changed, so other files may be found.
fn reopen(state: &State) {
    let Some(open) = &state.profile else { return };
    let (path, was) = (open.path.clone(), Arc::downgrade(open));
    let snapshot = state.snapshot();
    let tasks = state.tasks();
    state.pool.spawn(move || {
        let profile = guarded(CausalOpen::NAME, || {
            OpenCausalProfile::open(&path, &snapshot.folders, &snapshot.documents)
        });
        if let Ok(profile) = profile {
            let _ = tasks.send(Task::Reopened {
                was,
                profile: Box::new(profile),
            });
        }
    });
}
