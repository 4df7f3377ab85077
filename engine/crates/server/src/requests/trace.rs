//! `fulcrum/trace/start`: records the events of a Java program.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fulcrum_model::Progress;
use fulcrum_recorder::{Exit, LOG_LIMIT, Stdio, TraceOptions, TraceProgress};
use lsp_server::RequestId;

use super::programs::{self, exit, failure, named};
use crate::failure::Failure;
use crate::protocol::{
    ProgressToken, TRACE_LIVE, TraceLiveParams, TraceOutcome, TraceParams, TraceStart,
};
use crate::state::{State, Task};

/// Starts the program on a thread.
pub(crate) fn start(
    state: &mut State,
    id: RequestId,
    params: TraceParams,
    request: &Progress,
) -> Result<(), Failure> {
    named(&params.program)?;
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
        duration: seconds(params.duration_seconds)?,
        stdio: Stdio::Files,
        ..TraceOptions::default()
    };
    let title = format!("Recording {}", params.program);
    let token = params.work_done_token;
    let recorder = Arc::clone(&state.recorder);
    programs::start::<TraceStart>(state, id, token, request, &title, move |remote, work| {
        let mut report = |progress: &TraceProgress| {
            let live = live(progress, work.token.clone());
            // The recorder asks for itself whether it was cancelled.
            let _ = work.progress.with_phase(&live.message).at(0.0);
            let params = serde_json::to_value(&live).unwrap_or_default();
            let _ = work.tasks.send(Task::Notify {
                method: TRACE_LIVE,
                params,
            });
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

/// A duration that makes sense.
pub(crate) fn seconds(given: Option<f64>) -> Result<Option<Duration>, Failure> {
    let Some(seconds) = given else {
        return Ok(None);
    };
    let duration = Duration::try_from_secs_f64(seconds).ok();
    match duration.filter(|it| !it.is_zero()) {
        Some(duration) => Ok(Some(duration)),
        None => Err(Failure::user(
            format!("a run cannot last {seconds} seconds: give a duration above zero, or none"),
            None,
        )),
    }
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
