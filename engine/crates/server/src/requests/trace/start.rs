//! `fulcrum/trace/start`: records the events of a program.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_recorder::{Exit, LOG_LIMIT, Stdio, TraceOptions, TraceProgress};

use crate::protocol::failure::Failure;
use crate::protocol::{
    ProgressToken, TRACE_LIVE, TraceLiveParams, TraceOutcome, TraceParams, TraceStart,
};
use crate::requests::Deferred;
use crate::requests::programs::{self, check_program, duration, exit, failure};
use crate::state::{Pending, State};

pub(crate) enum Start {}

impl Deferred for Start {
    type Method = TraceStart;

    fn start(state: &mut State, pending: Pending, params: TraceParams) -> Result<(), Failure> {
        start(state, pending, params)
    }
}

/// Starts the program on a thread.
fn start(state: &mut State, pending: Pending, params: TraceParams) -> Result<(), Failure> {
    check_program(&params.program)?;
    if let Some(text) = &params.filter {
        fulcrum_recorder::check_filter(text)
            .map_err(|error| Failure::user(format!("the filter is wrong at {error}"), None))?;
    }
    let filter = match &params.values[..] {
        [] => params.filter,
        methods => {
            let text = fulcrum_recorder::filter_with_values(params.filter.as_deref(), methods);
            Some(text.map_err(|error| Failure::user(error, None))?)
        }
    };
    let options = TraceOptions {
        program: params.program.clone().into(),
        args: params.args.iter().map(Into::into).collect(),
        cwd: Some(PathBuf::from(&params.cwd)),
        workspace: Some(PathBuf::from(&params.workspace)),
        filter,
        limit: params.limit.unwrap_or(LOG_LIMIT),
        duration: duration(params.duration_seconds)?,
        stdio: Stdio::Files,
        ..TraceOptions::default()
    };
    let title = format!("Recording {}", params.program);
    let token = params.work_done_token;
    let recorder = Arc::clone(&state.recorder);
    programs::start::<TraceStart>(state, pending, token, &title, move |remote, work| {
        let mut report = |progress: &TraceProgress| {
            let live = live(progress, work.token.clone());
            work.report(&live.message, 0.0);
            work.notify(TRACE_LIVE, live);
        };
        let recorded = recorder
            .trace(&options, remote, &mut report)
            .map_err(failure)?;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let logs = fulcrum_recorder::logs(&recorded.run);
        Ok(TraceOutcome {
            exit: exit(&params.program, &recorded),
            ended_normally: recorded.exit == Exit::Code(0),
            logs: logs.into_iter().map(text).collect(),
            run: text(recorded.run),
            notes: recorded.notes,
        })
    })
}

fn live(progress: &TraceProgress, token: Option<ProgressToken>) -> TraceLiveParams {
    let bytes = fulcrum_answers::quantity::quantity(progress.bytes as i64, "bytes");
    TraceLiveParams {
        token,
        run: progress.run.to_string_lossy().into_owned(),
        elapsed_seconds: progress.elapsed.as_secs_f64(),
        bytes: progress.bytes,
        message: format!("{} s · {bytes} of events", progress.elapsed.as_secs()),
    }
}
