//! Finding and opening the run that is meant.

use std::path::PathBuf;

use fulcrum_transaction_records::run::{Options, Run};
use fulcrum_transactions::recognise::Recognition;

use super::args::Source;
use crate::outcome::Failure;

/// Opens the run.
pub fn open(source: &Source) -> Result<Run, Failure> {
    let run = match &source.run {
        Some(run) => run.clone(),
        None => newest()?,
    };
    let options = Options {
        rules: source.types.clone(),
        recognition: match source.no_names {
            true => Recognition::Off,
            false => Recognition::On,
        },
    };
    fulcrum_profiles::transactions::open(&run, &options)
        .map_err(|error| Failure::BadInput(error.to_string()))
}

fn newest() -> Result<PathBuf, Failure> {
    let runs = fulcrum_runs::list(&crate::runs::workspace(None));
    let of_transactions = runs
        .into_iter()
        .find(|run| fulcrum_transaction_records::run::is_run(&run.path));
    let run = of_transactions.ok_or_else(|| {
        Failure::NotFound(
            "no run here has transactions: record some with fulcrum transactions run -- PROGRAM"
                .into(),
        )
    })?;
    Ok(run.path)
}
