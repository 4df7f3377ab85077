//! `fulcrum/causal/open`: loads and analyses on the pool, then shows the result on the loop.

use std::path::PathBuf;

use lsp_server::RequestId;

use crate::main_loop::{State, Task};
use crate::pool::guarded;
use crate::profile::OpenProfile;
use crate::protocol::{CausalOpen, Method, OpenParams};

/// Answers when the profile is open, so that a request sent after the answer sees it.
pub(crate) fn open(state: &mut State, id: RequestId, params: OpenParams) {
    let order = state.next_order();
    state.look_at(Some(std::path::Path::new(&params.path)));
    let snapshot = state.snapshot();
    let tasks = state.tasks();
    state.pool.spawn(move || {
        let path = PathBuf::from(params.path);
        let profile = guarded(CausalOpen::NAME, || {
            OpenProfile::open(&path, &snapshot.folders, &snapshot.documents)
        });
        // The loop is gone only when the server is.
        let _ = tasks.send(Task::Opened {
            id,
            order,
            profile: profile.map(Box::new),
        });
    });
}

/// Opens the profile again: the workspace's folders changed, so other files may be found.
pub(crate) fn reopen(state: &State) {
    let Some(open) = &state.profile else { return };
    let (path, was) = (open.path.clone(), std::sync::Arc::downgrade(open));
    let snapshot = state.snapshot();
    let tasks = state.tasks();
    state.pool.spawn(move || {
        let profile = guarded(CausalOpen::NAME, || {
            OpenProfile::open(&path, &snapshot.folders, &snapshot.documents)
        });
        if let Ok(profile) = profile {
            let _ = tasks.send(Task::Reopened {
                was,
                profile: Box::new(profile),
            });
        }
    });
}
