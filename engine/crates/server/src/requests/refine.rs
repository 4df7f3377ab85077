//! `fulcrum/refine/start`, `open` and `frame`: the refine loop, the table of one that is over, and where its hotspots are.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use fulcrum_events::refine::{MethodName, filter_text, method_of_name, methods_of_names};
use fulcrum_events::{Trace, logs};
use fulcrum_hotspot::Rule;
use fulcrum_model::Progress;
use fulcrum_paths::ProfileInterface as _;
use fulcrum_recorder::{KeepRunning, RefineOptions, Stdio, TraceOptions};
use lsp_server::RequestId;

use super::Pooled;
use super::programs::{self, failure, named};
use crate::failure::Failure;
use crate::navigator::{Navigation, Navigator, Place, places};
use crate::protocol::{
    NavigatorFrameResult, REFINE_LIVE, RefineFrameParams, RefineFrom, RefineGetFrame,
    RefineLiveParams, RefineOpen, RefineOpenParams, RefineOutcome, RefineParams, RefineStart,
};
use crate::refine::outcome_of;
use crate::snapshot::Snapshot;
use crate::state::{State, Task};

/// What gives the names of labels.
type Names = Box<dyn FnOnce() -> Result<Vec<String>, Failure> + Send>;

/// Where the first filter comes from.
enum First {
    All,
    Text(String),
    Run(PathBuf),
    Names(Names),
}

/// Starts the loop on a thread.
pub(crate) fn start(
    state: &mut State,
    id: RequestId,
    params: RefineParams,
    request: &Progress,
) -> Result<(), Failure> {
    named(&params.program)?;
    let rule = match &params.rule {
        None => Rule::default(),
        Some(text) => Rule::parse(text)
            .map_err(|error| Failure::user(format!("the rule is wrong: {error}"), None))?,
    };
    let first = first(state, params.from)?;
    let default = RefineOptions::default();
    let number = |given: Option<u32>, default: usize| given.map_or(default, |it| it as usize);
    let mut options = RefineOptions {
        trace: TraceOptions {
            program: params.program.clone().into(),
            args: params.args.iter().map(Into::into).collect(),
            cwd: Some(PathBuf::from(&params.cwd)),
            workspace: Some(PathBuf::from(&params.workspace)),
            duration: super::trace::seconds(params.duration_seconds)?,
            stdio: Stdio::Files,
            ..TraceOptions::default()
        },
        iterations: number(params.iterations, default.iterations),
        runs: number(params.runs, default.runs),
        recheck: number(params.recheck, default.recheck),
        seed: params.seed.unwrap_or(default.seed),
        unit: params.unit,
        keep_running: super::trace::seconds(params.keep_running_seconds)?.map(|session| {
            KeepRunning {
                session,
                attach: params.attach,
            }
        }),
        rule,
        ..default
    };
    let title = format!("Refining {}", params.program);
    let token = params.work_done_token;
    let recorder = Arc::clone(&state.recorder);
    programs::start::<RefineStart>(state, id, token, request, &title, move |remote, work| {
        options.trace.filter = first_filter(first, &options.rule)?;
        let mut report = |mut live: RefineLiveParams| {
            // The recorder asks for itself whether it was cancelled.
            let _ = work.progress.with_phase(&live.message).at(live.fraction);
            live.token = work.token.clone();
            let params = serde_json::to_value(&live).unwrap_or_default();
            let _ = work.tasks.send(Task::Notify {
                method: REFINE_LIVE,
                params,
            });
        };
        recorder
            .refine(&options, remote, &mut report)
            .map_err(failure)
    })
}

fn first(state: &State, from: Option<RefineFrom>) -> Result<First, Failure> {
    Ok(match from {
        None => First::All,
        Some(RefineFrom::Filter { text }) => First::Text(text),
        Some(RefineFrom::Run { run }) => First::Run(run.into()),
        Some(RefineFrom::Labels { file }) => First::Names(Box::new(move || {
            let saved = fulcrum_profiles::read_labels(Path::new(&file))?;
            let paths = saved.labels.into_iter().flat_map(|label| label.paths);
            Ok(paths.flatten().collect())
        })),
        Some(RefineFrom::Navigator { id }) => {
            let navigator = state
                .navigators
                .get(&id)
                .ok_or_else(|| Navigator::absent(id))?;
            let (answer, labelled) = channel();
            navigator.send(move |navigation| {
                // Whoever asked may have gone.
                let _ = answer.send(labels(navigation));
            });
            First::Names(Box::new(move || {
                labelled.recv().map_err(|_| Navigator::absent(id))
            }))
        }
    })
}

/// The names on a navigator's labelled paths.
fn labels(navigation: &mut Navigation) -> Vec<String> {
    let look = navigation.look();
    let profile = look.search.profile();
    let summaries = look
        .search
        .labels()
        .all()
        .iter()
        .flat_map(|label| &label.summaries);
    summaries
        .flat_map(|summary| profile.path_of(summary))
        .map(str::to_owned)
        .collect()
}

fn first_filter(first: First, rule: &Rule) -> Result<Option<String>, Failure> {
    let names = match first {
        First::All => return Ok(None),
        First::Text(text) => return Ok(Some(text)),
        First::Run(run) => {
            let text = fulcrum_recorder::filter_of_run(&run, rule);
            return text
                .map(Some)
                .map_err(|error| Failure::user(error.to_string(), None));
        }
        First::Names(names) => names()?,
    };
    let (methods, _) = methods_of_names(names.iter().map(String::as_str));
    if methods.is_empty() {
        return Err(Failure::user(
            "no labelled name is a Java method's, such as shop.Cart.add",
            Some("Label paths of a Java program's profile first."),
        ));
    }
    let comment = ["The labels of a bottleneck search.".to_owned()];
    Ok(Some(filter_text("", &methods, &comment)))
}

pub(crate) enum Open {}

impl Pooled for Open {
    type Method = RefineOpen;

    /// An iteration that was not finished has no table; the one before it has.
    fn run(_: &Snapshot, params: RefineOpenParams) -> Result<RefineOutcome, Failure> {
        outcome_of(Path::new(&params.run))
    }
}

pub(crate) enum Frame {}

impl Pooled for Frame {
    type Method = RefineGetFrame;

    /// Where the run's logs say that it is, else where the workspace defines it.
    fn run(
        snapshot: &Snapshot,
        params: RefineFrameParams,
    ) -> Result<NavigatorFrameResult, Failure> {
        let run = Path::new(&params.run);
        let name = match method_of_name(&params.method) {
            Some(it) => format!("{}.{}", it.class, it.name),
            // A native function.
            None => params.method.clone(),
        };
        let recorded: Vec<Place> = recorded(run, &params.method).into_iter().collect();
        Ok(places::find(snapshot, &[run.into()], &name, &recorded))
    }
}

/// What the first log that knows a method says of its place. Logs that cannot be read say nothing.
fn recorded(run: &Path, method: &str) -> Option<Place> {
    logs(run).iter().find_map(|log| {
        let trace = Trace::open(log).ok()?;
        let methods = trace.methods.values();
        let mut called_so = methods.filter(|it| MethodName::from(*it).to_string() == method);
        super::events::place_of(called_so.next()?)
    })
}
