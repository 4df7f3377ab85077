//! `fulcrum/navigator/*`: bottleneck search.

use std::path::PathBuf;

use fulcrum_model::Progress;
use fulcrum_paths::Options;
use fulcrum_profiles::{Files, named_rules};
use lsp_server::RequestId;

use super::{Looking, Mutating, Navigated};
use crate::dispatch::response;
use crate::failure::Failure;
use crate::main_loop::{State, Task, Working};
use crate::navigator::{Look, Navigator, Session, Work, convert, flame, hot_lines, places, report};
use crate::pool::guarded;
use crate::protocol::{
    Method, NavigatorAutomaticParams, NavigatorClose, NavigatorCloseParams, NavigatorCommandParams,
    NavigatorDo, NavigatorFlame, NavigatorFlameParams, NavigatorFlameSearch,
    NavigatorFlameSearchParams, NavigatorFlameSearchResult, NavigatorFrameParams,
    NavigatorFrameResult, NavigatorGetFlame, NavigatorGetFrame, NavigatorGetLines,
    NavigatorGetNames, NavigatorGetReport, NavigatorGetRows, NavigatorLines, NavigatorLinesParams,
    NavigatorNames, NavigatorNamesParams, NavigatorOpen, NavigatorOpenParams, NavigatorReport,
    NavigatorReportParams, NavigatorRows, NavigatorRowsParams, NavigatorSearch, NavigatorView,
};
use crate::state::Snapshot;

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
    let work = begin(state, &id, params.work_done_token, request);
    work.begin("Opening profile");
    thread(move || {
        let opened = guarded(NavigatorOpen::NAME, || {
            Session::open(&files, folder.as_deref(), &work)
        });
        work.end();
        let (navigator, serve) = Navigator::new();
        let (opened, session) = match opened {
            Ok((session, opened)) => (Ok((navigator, Box::new(opened))), Some(session)),
            Err(failure) => (Err(failure), None),
        };
        // The loop is gone only when the server is.
        let _ = work.tasks.send(Task::NavigatorOpened { id, opened });
        if let Some(session) = session {
            serve(session);
        }
    })
}

pub(super) fn begin(
    state: &mut State,
    id: &RequestId,
    token: Option<crate::protocol::ProgressToken>,
    request: &Progress,
) -> Work {
    let working = Working {
        token: token.clone(),
        progress: request.clone(),
        keeps: false,
    };
    state.working.insert(id.clone(), working);
    Work::new(token, state.tasks(), request)
}

pub(super) fn thread(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = std::thread::Builder::new().name("fulcrum-navigator".into());
    let started = thread.spawn(work);
    started.map(drop).map_err(|error| {
        Failure::environment(
            format!("cannot start a thread for a profile: {error}"),
            None,
        )
    })
}

pub(crate) enum Command {}

impl Navigated for Command {
    type Method = NavigatorDo;

    fn navigator(params: &NavigatorCommandParams) -> u32 {
        params.id
    }

    fn run(
        session: &mut Session,
        params: NavigatorCommandParams,
    ) -> Result<NavigatorView, Failure> {
        session.command(params.command)
    }
}

pub(crate) enum Rows {}

impl Navigated for Rows {
    type Method = NavigatorGetRows;

    fn navigator(params: &NavigatorRowsParams) -> u32 {
        params.id
    }

    fn run(session: &mut Session, params: NavigatorRowsParams) -> Result<NavigatorRows, Failure> {
        session.rows(&params)
    }
}

/// Searches on a thread of its own, so that the navigator's commands go on.
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
    let work = begin(state, &id, params.work_done_token, &request);
    work.begin("Finding bottlenecks");
    state.navigators[&params.id].send(move |session| {
        let search = session.search();
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

macro_rules! looking {
    ($($name:ident = $method:ident ($params:ident) -> $result:ident: $run:expr;)*) => {
        $(
            pub(crate) enum $name {}

            impl Looking for $name {
                type Method = $method;

                fn navigator(params: &$params) -> u32 {
                    params.id
                }

                fn run(look: &Look, snapshot: &Snapshot, params: $params) -> Result<$result, Failure> {
                    $run(look, snapshot, &params)
                }
            }
        )*
    };
}

looking! {
    Flame = NavigatorGetFlame (NavigatorFlameParams) -> NavigatorFlame: |look, _, params| flame::flame(look, params);
    FlameSearch = NavigatorFlameSearch (NavigatorFlameSearchParams) -> NavigatorFlameSearchResult:
        |look, _, params| flame::search(look, params);
    Frame = NavigatorGetFrame (NavigatorFrameParams) -> NavigatorFrameResult: places::frame;
    Lines = NavigatorGetLines (NavigatorLinesParams) -> NavigatorLines: hot_lines::lines;
    Names = NavigatorGetNames (NavigatorNamesParams) -> NavigatorNames:
        |look: &Look, _, params: &NavigatorNamesParams| Ok(look.naming.answer(params.count));
    Report = NavigatorGetReport (NavigatorReportParams) -> NavigatorReport: |look, _, _| Ok(report::report(look));
}

pub(crate) enum Close {}

impl Mutating for Close {
    type Method = NavigatorClose;

    fn run(state: &mut State, params: NavigatorCloseParams) -> Result<(), Failure> {
        match state.navigators.remove(&params.id) {
            Some(_) => Ok(()),
            None => Err(Navigator::absent(params.id)),
        }
    }
}
