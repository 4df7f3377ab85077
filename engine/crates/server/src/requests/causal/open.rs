//! `fulcrum/causal/open`: loads and analyses on the pool, then shows the result on the loop.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use lsp_server::RequestId;

use crate::causal::profile::OpenCausalProfile;
use crate::pool::guarded;
use crate::protocol::failure::Failure;
use crate::protocol::{CausalOpen, Method, OpenParams};
use crate::requests::Deferred;
use crate::state::{OpenOrder, Pending, State, Task};

pub(crate) enum Open {}

impl Deferred for Open {
    type Method = CausalOpen;

    /// Answers when the profile is open, so that a request sent after the answer sees it.
    fn start(state: &mut State, pending: Pending, params: OpenParams) -> Result<(), Failure> {
        let order = state.next_order();
        state.set_followed(Some(Path::new(&params.path)));
        let snapshot = state.snapshot();
        let tasks = state.tasks();
        state.pool.spawn(move || {
            let path = PathBuf::from(params.path);
            let profile = guarded(CausalOpen::NAME, || {
                OpenCausalProfile::open(&path, &snapshot.folders, &snapshot.documents)
            });
            // The loop is gone only when the server is.
            let _ = tasks.send(Task::Opened {
                id: pending.id,
                order,
                profile: profile.map(Box::new),
            });
        });
        Ok(())
    }
}

/// The loop: answers a request to open a profile, and shows the profile.
pub(crate) fn opened(
    state: &mut State,
    id: RequestId,
    order: OpenOrder,
    profile: Result<Box<OpenCausalProfile>, Failure>,
) {
    let profile = profile.map(Arc::<OpenCausalProfile>::from);
    let summary = profile
        .as_ref()
        .map(|p| state.snapshot().summary_of(p))
        .map_err(Clone::clone);
    // A cancelled request, or one that another has overtaken, must not replace what is shown.
    let wanted = !state.requests.incoming.is_completed(&id) && order > state.shown_order;
    state.answer(id, summary);
    if let (Ok(profile), true) = (profile, wanted) {
        state.show(Some(profile));
    }
}

/// The loop: shows a profile that was read again, if it is still the open one.
pub(crate) fn reopened(
    state: &mut State,
    was: &Weak<OpenCausalProfile>,
    profile: Box<OpenCausalProfile>,
) {
    if state.is_open(was) {
        state.show(Some(Arc::from(profile)));
    }
}

/// The workspace's folders changed.
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

/// Opens the profile again, because other files may be found now.
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
