//! `fulcrum/navigator/automatic`: searches on a thread of its own, so that the navigator's commands go on.

use fulcrum_model::Progress;
use fulcrum_paths::Options;
use lsp_server::RequestId;

use crate::failure::{Failure, response};
use crate::navigator::{Navigator, convert};
use crate::pool::{guarded, thread};
use crate::protocol::{Method, NavigatorAutomaticParams, NavigatorSearch};
use crate::state::{State, Task};

/// Starts the search.
pub(crate) fn automatic(
    state: &mut State,
    id: RequestId,
    params: NavigatorAutomaticParams,
    request: &Progress,
) -> Result<(), Failure> {
    let default = Options::default();
    let options = Options {
        most: params.count.map_or(default.most, |it| it as usize),
        target: params.coverage.unwrap_or(default.target),
        ..default
    };
    if options.most == 0 || !(options.target > 0.0 && options.target <= 1.0) {
        return Err(Failure::user(
            "expected a count of at least 1 and a coverage above 0 and up to 1",
            None,
        ));
    }
    let Some(navigator) = state.navigators.get(&params.id) else {
        return Err(Navigator::absent(params.id));
    };
    let request = navigator.request(request);
    let work = state.begin(&id, params.work_done_token, &request);
    work.begin("Finding bottlenecks");
    state.navigators[&params.id].send(move |navigation| {
        let search = navigation.search();
        let (failed, failed_id) = (work.clone(), id.clone());
        let started = thread(move || {
            let found = guarded(NavigatorSearch::NAME, || {
                let progress = work.progress.with_phase("searching");
                Ok(convert::automatic(search.automatic(&options, &progress)?))
            });
            work.end();
            let _ = work.tasks.send(Task::Respond(response(id, found)));
        });
        if let Err(failure) = started {
            failed.end();
            let _ = failed
                .tasks
                .send(Task::Respond(failure.response(failed_id)));
        }
    });
    Ok(())
}
