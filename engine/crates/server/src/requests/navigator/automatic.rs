//! `fulcrum/navigator/automatic`: searches on a thread of its own, so that the navigator's commands go on.

use fulcrum_paths::Options;

use crate::navigator::{Navigator, convert};
use crate::pool::{guarded, thread};
use crate::protocol::failure::Failure;
use crate::protocol::{Method, NavigatorAutomaticParams, NavigatorSearch};
use crate::requests::Deferred;
use crate::state::{Pending, State};

pub(crate) enum Automatic {}

impl Deferred for Automatic {
    type Method = NavigatorSearch;

    fn start(
        state: &mut State,
        pending: Pending,
        params: NavigatorAutomaticParams,
    ) -> Result<(), Failure> {
        automatic(state, pending, params)
    }
}

/// Starts the search.
fn automatic(
    state: &mut State,
    pending: Pending,
    params: NavigatorAutomaticParams,
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
    let pending = pending.within(navigator.open());
    let work = state.begin(pending, params.work_done_token);
    work.begin("Finding bottlenecks");
    state.navigators[&params.id].send(move |navigation| {
        let search = navigation.search();
        let failed = work.clone();
        let started = thread(move || {
            let found = guarded(NavigatorSearch::NAME, || {
                let progress = work.progress.with_phase("searching");
                Ok(convert::automatic(search.automatic(&options, &progress)?))
            });
            work.end();
            work.answer(found);
        });
        if let Err(failure) = started {
            failed.end();
            failed.answer::<()>(Err(failure));
        }
    });
    Ok(())
}
