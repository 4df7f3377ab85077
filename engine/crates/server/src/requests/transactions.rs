//! `fulcrum/transactions/open`: a recorded run of transactions.

use std::path::{Path, PathBuf};

use fulcrum_answers::transactions::{crosstalk, shown, ways};
use fulcrum_runs::RunFolder;
use fulcrum_transaction_records::run::{Options, RunError};

use super::Pooled;
use crate::failure::Failure;
use crate::protocol::{TransactionsOpen, TransactionsOpenParams, TransactionsOpened};
use crate::state::Snapshot;

pub(crate) enum Open {}

impl Pooled for Open {
    type Method = TransactionsOpen;

    fn run(_: &Snapshot, params: TransactionsOpenParams) -> Result<TransactionsOpened, Failure> {
        let folder = folder_of(Path::new(&params.run));
        let run = fulcrum_profiles::transactions::open(&folder, &Options::default())
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
