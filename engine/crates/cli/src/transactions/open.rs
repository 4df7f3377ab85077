//! Finds and opens the selected runs.

use std::path::{Path, PathBuf};

use fulcrum_transaction_records::run::{Options, Run, Traced};
use fulcrum_transactions::recognise::Recognition;

use super::args::{Naming, RunSelection};
use crate::outcome::Failure;
use crate::search::waiting::Waiting;

/// Opens the runs; several count as one.
pub(crate) fn open(selection: &RunSelection) -> Result<Run, Failure> {
    open_with(selection, Traced::None)
}

/// The same, with traces.
pub(crate) fn open_with(selection: &RunSelection, traced: Traced) -> Result<Run, Failure> {
    let folders = folders(selection)?;
    let runs: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    read(&runs, &selection.naming, |options| options.traced = traced)
}

/// The same, with a timeline.
pub(crate) fn open_with_timeline(selection: &RunSelection) -> Result<Run, Failure> {
    let folders = folders(selection)?;
    let runs: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    read(&runs, &selection.naming, |options| options.timeline = true)
}

/// The folders of the selected runs.
pub(crate) fn folders(selection: &RunSelection) -> Result<Vec<PathBuf>, Failure> {
    match selection.runs.as_slice() {
        [] => Ok(vec![newest()?]),
        runs => Ok(runs.to_vec()),
    }
}

/// Opens runs by their folders; several count as one.
pub(crate) fn open_folders(folders: &[PathBuf], naming: &Naming) -> Result<Run, Failure> {
    let runs: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    read(&runs, naming, |_| {})
}

/// Opens a run, by default the newest. Also returns its name.
pub(crate) fn open_one(run: Option<&Path>, naming: &Naming) -> Result<(String, Run), Failure> {
    let folder = match run {
        Some(run) => run.to_owned(),
        None => newest()?,
    };
    let run = read(&[&folder], naming, |_| {})?;
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    Ok((name.to_string_lossy().into_owned(), run))
}

fn read(runs: &[&Path], naming: &Naming, more: impl FnOnce(&mut Options)) -> Result<Run, Failure> {
    let mut options = Options {
        rules: naming.types.clone(),
        recognition: match naming.no_names {
            true => Recognition::Off,
            false => Recognition::On,
        },
        ..Options::default()
    };
    more(&mut options);
    let waiting = Waiting::new();
    fulcrum_profiles::transactions::open(runs, &options, &waiting.progress())
        .map_err(|error| Failure::BadInput(error.to_string()))
}

/// The newest run here that has transactions.
pub(crate) fn newest() -> Result<PathBuf, Failure> {
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
