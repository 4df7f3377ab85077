//! Requests that work on a thread of their own and keep nothing when they are cancelled.

use crate::pool::{guarded, thread};
use crate::protocol::failure::Failure;
use crate::protocol::{Method, ProgressToken};
use crate::state::{Pending, State, Work};

/// Does the work of a request on a thread of its own; its result is the answer. `title` is shown with the progress.
pub(crate) fn answer<M: Method>(
    state: &mut State,
    pending: Pending,
    token: Option<ProgressToken>,
    title: &str,
    run: impl FnOnce(&Work) -> Result<M::Result, Failure> + Send + 'static,
) -> Result<(), Failure> {
    let work = state.begin(pending, token);
    work.begin(title);
    thread(move || {
        let result = guarded(M::NAME, || run(&work));
        work.end();
        work.answer(result);
    })
}
