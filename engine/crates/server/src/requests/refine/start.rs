//! `fulcrum/refine/start`: instruments, measures and refines, again and again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use fulcrum_events::refine::{filter_text, methods_of_names};
use fulcrum_hotspot::Rule;
use fulcrum_paths::ProfileInterface as _;
use fulcrum_recorder::{KeepRunning, RefineOptions, Stdio, TraceOptions};

use crate::navigator::{Navigation, Navigator};
use crate::protocol::failure::Failure;
use crate::protocol::{REFINE_LIVE, RefineFrom, RefineLiveParams, RefineParams, RefineStart};
use crate::requests::Deferred;
use crate::requests::programs::{self, check_program, duration, failure};
use crate::state::{Pending, State};

/// Finds the names of labelled paths.
type Names = Box<dyn FnOnce() -> Result<Vec<String>, Failure> + Send>;

/// Where the first filter comes from.
enum FirstFilter {
    AllMethods,
    Text(String),
    Run(PathBuf),
    Names(Names),
}

pub(crate) enum Start {}

impl Deferred for Start {
    type Method = RefineStart;

    fn start(state: &mut State, pending: Pending, params: RefineParams) -> Result<(), Failure> {
        start(state, pending, params)
    }
}

/// Starts the loop on a thread.
fn start(state: &mut State, pending: Pending, params: RefineParams) -> Result<(), Failure> {
    check_program(&params.program)?;
    let rule = match &params.rule {
        None => Rule::default(),
        Some(text) => Rule::parse(text)
            .map_err(|error| Failure::user(format!("the rule is wrong: {error}"), None))?,
    };
    let first = first_filter(state, params.from)?;
    let default = RefineOptions::default();
    let number = |given: Option<u32>, default: usize| given.map_or(default, |it| it as usize);
    let mut options = RefineOptions {
        trace: TraceOptions {
            program: params.program.clone().into(),
            args: params.args.iter().map(Into::into).collect(),
            cwd: Some(PathBuf::from(&params.cwd)),
            workspace: Some(PathBuf::from(&params.workspace)),
            duration: duration(params.duration_seconds)?,
            stdio: Stdio::Files,
            ..TraceOptions::default()
        },
        iterations: number(params.iterations, default.iterations),
        runs: number(params.runs, default.runs),
        recheck: number(params.recheck, default.recheck),
        seed: params.seed.unwrap_or(default.seed),
        unit: params.unit,
        keep_running: duration(params.keep_running_seconds)?.map(|session| KeepRunning {
            session,
            attach: params.attach,
        }),
        rule,
        ..default
    };
    let title = format!("Refining {}", params.program);
    let token = params.work_done_token;
    let recorder = Arc::clone(&state.recorder);
    programs::start::<RefineStart>(state, pending, token, &title, move |remote, work| {
        options.trace.filter = filter(first, &options.rule)?;
        let mut report = |mut live: RefineLiveParams| {
            work.report(&live.message, live.fraction);
            live.token = work.token.clone();
            work.notify(REFINE_LIVE, live);
        };
        recorder
            .refine(&options, remote, &mut report)
            .map_err(failure)
    })
}

fn first_filter(state: &State, from: Option<RefineFrom>) -> Result<FirstFilter, Failure> {
    Ok(match from {
        None => FirstFilter::AllMethods,
        Some(RefineFrom::Filter { text }) => FirstFilter::Text(text),
        Some(RefineFrom::Run { run }) => FirstFilter::Run(run.into()),
        Some(RefineFrom::Labels { file }) => FirstFilter::Names(Box::new(move || {
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
                // The request may be gone.
                let _ = answer.send(labels(navigation));
            });
            FirstFilter::Names(Box::new(move || {
                labelled.recv().map_err(|_| Navigator::absent(id))
            }))
        }
    })
}

/// The names on a navigator's labelled paths.
fn labels(navigation: &mut Navigation) -> Vec<String> {
    let search = navigation.search();
    let profile = search.profile();
    let summaries = search
        .labels()
        .all()
        .iter()
        .flat_map(|label| &label.summaries);
    summaries
        .flat_map(|summary| profile.path_of(summary))
        .map(str::to_owned)
        .collect()
}

/// The text of the first filter; `None` when it is all methods.
fn filter(first: FirstFilter, rule: &Rule) -> Result<Option<String>, Failure> {
    let names = match first {
        FirstFilter::AllMethods => return Ok(None),
        FirstFilter::Text(text) => return Ok(Some(text)),
        FirstFilter::Run(run) => {
            let text = fulcrum_recorder::filter_of_run(&run, rule);
            return text
                .map(Some)
                .map_err(|error| Failure::user(error.to_string(), None));
        }
        FirstFilter::Names(names) => names()?,
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
