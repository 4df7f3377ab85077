//! What all requests share that open a navigator: the thread that opens it then does its commands.

use lsp_server::RequestId;

use crate::navigator::{Navigation, Navigator};
use crate::pool::{guarded, thread};
use crate::protocol::failure::Failure;
use crate::protocol::{Method, NavigatorOpened, ProgressToken};
use crate::state::{Pending, State, Task, Work};

/// Opens a navigator on a thread of its own, which then does the navigator's commands until it is closed.
pub(crate) fn open_and_serve<M: Method>(
    state: &mut State,
    pending: Pending,
    token: Option<ProgressToken>,
    title: &str,
    open: impl FnOnce(&Work) -> Result<(Navigation, NavigatorOpened), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let work = state.begin(pending, token);
    work.begin(title);
    thread(move || {
        let opened = guarded(M::NAME, || open(&work));
        work.end();
        let (navigator, serve) = Navigator::new();
        let (opened, navigation) = match opened {
            Ok((navigation, opened)) => (Ok((navigator, Box::new(opened))), Some(navigation)),
            Err(failure) => (Err(failure), None),
        };
        work.send(|id| Task::NavigatorOpened { id, opened });
        if let Some(navigation) = navigation {
            serve(navigation);
        }
    })
}

/// The loop: a navigator is open.
pub(crate) fn opened(
    state: &mut State,
    id: RequestId,
    opened: Result<(Navigator, Box<NavigatorOpened>), Failure>,
) {
    // One that was cancelled meanwhile is dropped, and its thread ends.
    let wanted = !state.requests.incoming.is_completed(&id);
    let opened = opened.map(|(navigator, mut opened)| {
        if wanted {
            opened.id = state.add_navigator(navigator);
        }
        opened
    });
    state.answer(id, opened);
}
