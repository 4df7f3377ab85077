//! The profile of a run while the run goes on: it is shown as the open one. The counters are in [`crate::causal::live`].

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_model::causal::CausalProfile;
use lsp_server::RequestId;

use crate::causal::profile::OpenCausalProfile;
use crate::pool::guarded;
use crate::protocol::{CausalRun, LIVE, LiveParams, Method};
use crate::state::{State, Task};

/// The loop: reports how a run stands.
pub(crate) fn progress(state: &State, id: &RequestId, live: Box<LiveParams>) {
    // A report that was under way when its run ended comes too late.
    if state.running.contains_key(id) {
        state.progress_report(&live);
        state.notify(LIVE, live);
    }
}

/// The loop: the recorder has analysed the run anew. The pool looks for the files, of one analysis at a time. An analysis that
/// comes meanwhile is left out, because another follows within seconds.
pub(crate) fn analysed(
    state: &mut State,
    id: RequestId,
    run: PathBuf,
    profile: Arc<CausalProfile>,
) {
    let Some(running) = state.running.get_mut(&id) else {
        return;
    };
    if std::mem::replace(&mut running.preparing, true) {
        return;
    }
    let before = running.latest.clone();
    let (snapshot, tasks) = (state.snapshot(), state.tasks());
    state.pool.spawn(move || {
        let profile = guarded(CausalRun::NAME, || {
            OpenCausalProfile::live(
                &run,
                profile,
                before.as_deref(),
                &snapshot.folders,
                &snapshot.documents,
            )
        });
        // The loop is gone only when the server is.
        let _ = tasks.send(Task::Live {
            id,
            profile: profile.ok().map(Box::new),
        });
    });
}

/// The loop: shows the analysis, unless the user has opened something else.
pub(crate) fn prepared(state: &mut State, id: &RequestId, profile: Option<Box<OpenCausalProfile>>) {
    let Some(running) = state.running.get_mut(id) else {
        return;
    };
    running.preparing = false;
    // Before there is anything to show, what was shown stays.
    let Some(profile) = profile.filter(|profile| profile.has_results()) else {
        return;
    };
    let profile = Arc::<OpenCausalProfile>::from(profile);
    running.latest = Some(Arc::clone(&profile));
    if running.followed {
        state.show(Some(profile));
    }
}
