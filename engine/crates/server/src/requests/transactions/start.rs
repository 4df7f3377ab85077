//! `fulcrum/transactions/start`: records the transactions of a program and of all that it starts.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_answers::quantity::{grouped, quantity};
use fulcrum_recorder::{
    Exit, Stdio, TRANSACTION_OVERHEAD, TransactionOptions, TransactionProgress,
};

use crate::protocol::failure::Failure;
use crate::protocol::{
    ProgressToken, TRANSACTIONS_LIVE, TransactionsLiveParams, TransactionsOutcome,
    TransactionsStart, TransactionsStartParams,
};
use crate::requests::Deferred;
use crate::requests::programs::{self, check_program, duration, exit};
use crate::state::{Pending, State};

pub(crate) enum Start {}

impl Deferred for Start {
    type Method = TransactionsStart;

    fn start(
        state: &mut State,
        pending: Pending,
        params: TransactionsStartParams,
    ) -> Result<(), Failure> {
        start(state, pending, params)
    }
}

/// Starts the program on a thread.
fn start(
    state: &mut State,
    pending: Pending,
    params: TransactionsStartParams,
) -> Result<(), Failure> {
    check_program(&params.program)?;
    let max_overhead = programs::overhead(params.max_overhead)?.unwrap_or(TRANSACTION_OVERHEAD);
    let options = TransactionOptions {
        program: params.program.clone().into(),
        args: params.args.iter().map(Into::into).collect(),
        cwd: Some(PathBuf::from(&params.cwd)),
        workspace: Some(PathBuf::from(&params.workspace)),
        duration: duration(params.duration_seconds)?,
        names: params.names.unwrap_or(true),
        max_overhead: params.pauses.unwrap_or(true).then_some(max_overhead),
        stdio: Stdio::Files,
        ..TransactionOptions::default()
    };
    let title = format!("Recording {}", params.program);
    let token = params.work_done_token;
    let recorder = Arc::clone(&state.recorder);
    programs::start::<TransactionsStart>(state, pending, token, &title, move |remote, work| {
        let mut report = |progress: &TransactionProgress| {
            let live = live(progress, work.token.clone());
            work.report(&live.message, 0.0);
            work.notify(TRANSACTIONS_LIVE, live);
        };
        let mut recorded = recorder
            .transactions(&options, remote, &mut report)
            .map_err(programs::failure)?;
        work.report("finding names", 0.0);
        if let Err(error) = fulcrum_profiles::transactions::write_names(&recorded.run) {
            let note = format!("{error}; functions are shown by their addresses.");
            recorded.notes.push(note);
        }
        Ok(TransactionsOutcome {
            exit: exit(&params.program, &recorded),
            ended_normally: recorded.exit == Exit::Code(0),
            run: recorded.run.to_string_lossy().into_owned(),
            notes: recorded.notes,
        })
    })
}

fn live(progress: &TransactionProgress, token: Option<ProgressToken>) -> TransactionsLiveParams {
    TransactionsLiveParams {
        token,
        run: progress.run.to_string_lossy().into_owned(),
        elapsed_seconds: progress.elapsed.as_secs_f64(),
        processes: progress.processes as u64,
        running: progress.running as u64,
        samples: progress.samples,
        bytes: progress.bytes,
        message: message(progress),
    }
}

/// `12 s · 5 processes, 4 running · 1,234 samples · 3.40 MB`.
fn message(progress: &TransactionProgress) -> String {
    let processes = match progress.processes {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    let bytes = quantity(i64::try_from(progress.bytes).unwrap_or(i64::MAX), "bytes");
    let mut text = format!(
        "{} s · {processes}, {} running · {} samples · {bytes}",
        progress.elapsed.as_secs(),
        progress.running,
        grouped(progress.samples)
    );
    if progress.is_paused {
        text += " · paused, to slow the program down less";
    }
    if progress.program_ended && progress.running > 0 {
        text += " · the program has ended, what it started goes on";
    }
    text
}
