//! `fulcrum/transactions/start` and `open`: recording transactions, and a recorded run of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_answers::quantity::{grouped, quantity};
use fulcrum_answers::transactions::{crosstalk, shown, ways};
use fulcrum_model::Progress;
use fulcrum_recorder::{Exit, Stdio, TransactionOptions, TransactionProgress};
use fulcrum_runs::RunFolder;
use fulcrum_transaction_records::run::{Options, RunError};
use lsp_server::RequestId;

use super::Pooled;
use super::programs::{self, exit, named};
use super::trace::seconds;
use crate::failure::Failure;
use crate::protocol::{
    TransactionsOpen, TransactionsOpenParams, TransactionsOpened, TransactionsOutcome,
    TransactionsStart, TransactionsStartParams,
};
use crate::snapshot::Snapshot;
use crate::state::State;

/// Starts the program on a thread.
pub(crate) fn start(
    state: &mut State,
    id: RequestId,
    params: TransactionsStartParams,
    request: &Progress,
) -> Result<(), Failure> {
    named(&params.program)?;
    let options = TransactionOptions {
        program: params.program.clone().into(),
        args: params.args.iter().map(Into::into).collect(),
        cwd: Some(PathBuf::from(&params.cwd)),
        workspace: Some(PathBuf::from(&params.workspace)),
        duration: seconds(params.duration_seconds)?,
        names: params.names.unwrap_or(true),
        stdio: Stdio::Files,
        ..TransactionOptions::default()
    };
    let title = format!("Recording {}", params.program);
    let token = params.work_done_token;
    let recorder = Arc::clone(&state.recorder);
    programs::start::<TransactionsStart>(state, id, token, request, &title, move |remote, work| {
        let mut report = |progress: &TransactionProgress| {
            // The recorder asks for itself whether it was cancelled.
            let _ = work.progress.with_phase(&says(progress)).at(0.0);
        };
        let mut recorded = recorder
            .transactions(&options, remote, &mut report)
            .map_err(programs::failure)?;
        let _ = work.progress.with_phase("finding names").at(0.0);
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

/// `12 s · 5 processes, 4 running · 1,234 samples · 3.40 MB`.
fn says(progress: &TransactionProgress) -> String {
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
    if progress.program_ended && progress.running > 0 {
        text += " · the program has ended, what it started goes on";
    }
    text
}

pub(crate) enum Open {}

impl Pooled for Open {
    type Method = TransactionsOpen;

    fn run(_: &Snapshot, params: TransactionsOpenParams) -> Result<TransactionsOpened, Failure> {
        let folder = folder_of(Path::new(&params.run));
        if !folder.is_dir() {
            return Err(Failure::user(
                format!("there is no folder {}", folder.display()),
                Some("The run may have been deleted: choose another one in the Runs view."),
            ));
        }
        let run = fulcrum_profiles::transactions::open(&[&folder], &Options::default())
            .map_err(|error| failure(&error))?;
        let (ways, left_out) = ways(&run.stitched, &run.ways);
        let mut notes = recorders_notes(&folder);
        let new = run.notes.into_iter().chain(left_out);
        for note in new {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Ok(TransactionsOpened {
            run: folder.to_string_lossy().into_owned(),
            shown: shown(&run.stitched, notes),
            crosstalk: crosstalk(&run.stitched, Vec::new()),
            ways,
        })
    }
}

/// The run's folder, from the folder or a file in it.
fn folder_of(run: &Path) -> PathBuf {
    match run.parent() {
        Some(folder) if run.is_file() => folder.into(),
        _ => run.into(),
    }
}

/// What the recorder had to say; nothing where there is no manifest that can be read.
fn recorders_notes(folder: &Path) -> Vec<String> {
    let manifest = RunFolder::open(folder)
        .ok()
        .and_then(|it| it.read_manifest().ok());
    manifest.map_or_else(Vec::new, |it| it.notes)
}

fn failure(error: &RunError) -> Failure {
    let advice = match error {
        RunError::NoLogs(_) => {
            "Record one with fulcrum transactions run -- PROGRAM, then open its folder in .fulcrum/runs."
        }
        RunError::File { .. } => "Check that the folder exists and can be read.",
        RunError::Samples { .. } => {
            "Delete that file: the run then opens without CPU time. Or record it again."
        }
        RunError::Stitch(_) => "Its files are damaged. Record it again.",
    };
    Failure::user(error.to_string(), Some(advice))
}
