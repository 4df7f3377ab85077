//! `fulcrum/navigator/open`: opens profiles on a thread that then does the navigator's commands.

use std::path::PathBuf;

use fulcrum_model::Progress;
use fulcrum_profiles::{Files, named_rules};
use lsp_server::RequestId;

use crate::failure::Failure;
use crate::navigator::{Navigation, Navigator, convert};
use crate::pool::{guarded, thread};
use crate::protocol::{Method, NavigatorOpen, NavigatorOpenParams, NavigatorOpened};
use crate::state::{State, Task, Work};

/// Opens on a thread that then does the navigator's commands.
pub(crate) fn open(
    state: &mut State,
    id: RequestId,
    params: NavigatorOpenParams,
    request: &Progress,
) -> Result<(), Failure> {
    let paths = |all: &[String]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    let rules = params.names.as_deref().unwrap_or("default");
    let files = Files {
        files: paths(&params.files),
        against: paths(&params.against),
        value: params.value,
        normalisation: convert::to_normalisation(params.normalisation)?,
        rules: named_rules(rules).map_err(|error| Failure::user(error, None))?,
        ..Files::default()
    };
    if files
        .files
        .iter()
        .chain(&files.against)
        .any(|path| path == "-")
    {
        return Err(Failure::user(
            "standard input is not the server's to read: name a file",
            None,
        ));
    }
    let folder = params.workspace.map(PathBuf::from);
    let folder = folder.or_else(|| state.folders.first().cloned());
    let work = state.begin(&id, params.work_done_token, request);
    work.begin("Opening profile");
    thread(move || {
        let opened = guarded(NavigatorOpen::NAME, || {
            Navigation::open(&files, folder.as_deref(), &work.progress)
        });
        serve(id, &work, opened);
    })
}

/// Tells the loop what was opened, then does the navigator's commands until it is closed.
pub(crate) fn serve(
    id: RequestId,
    work: &Work,
    opened: Result<(Navigation, NavigatorOpened), Failure>,
) {
    work.end();
    let (navigator, serve) = Navigator::new();
    let (opened, navigation) = match opened {
        Ok((navigation, opened)) => (Ok((navigator, Box::new(opened))), Some(navigation)),
        Err(failure) => (Err(failure), None),
    };
    // The loop is gone only when the server is.
    let _ = work.tasks.send(Task::NavigatorOpened { id, opened });
    if let Some(navigation) = navigation {
        serve(navigation);
    }
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
