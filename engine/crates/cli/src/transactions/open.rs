//! Finding and opening the runs that are meant.

use std::path::{Path, PathBuf};

use fulcrum_transaction_records::run::{Options, Run};
use fulcrum_transactions::recognise::Recognition;

use super::args::Source;
use crate::outcome::Failure;

/// Opens the runs; several count as one.
pub fn open(source: &Source) -> Result<Run, Failure> {
    let runs = match source.runs.as_slice() {
        [] => vec![newest()?],
        runs => runs.to_vec(),
    };
    let options = Options {
        rules: source.types.clone(),
        recognition: match source.no_names {
            true => Recognition::Off,
            false => Recognition::On,
        },
    };
    let runs: Vec<&Path> = runs.iter().map(PathBuf::as_path).collect();
    fulcrum_profiles::transactions::open(&runs, &options)
        .map_err(|error| Failure::BadInput(error.to_string()))
}

fn newest() -> Result<PathBuf, Failure> {
    let runs = fulcrum_runs::list(&crate::runs::workspace(None));
    let of_transactions = runs
        .into_iter()
        .find(|run| fulcrum_profiles::transactions::is_run(&run.path));
    let run = of_transactions.ok_or_else(|| {
        Failure::NotFound(
            "no run here has transactions: record some with fulcrum transactions run -- PROGRAM"
                .into(),
        )
    })?;
    Ok(run.path)
}
