//! Refine loops in the protocol's types: how one stands, how it ended, and the table that it left in a run's folder.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_recorder::{Ending, RefineProgress, Refined};
use fulcrum_runs::RunFolder;

use crate::protocol::failure::Failure;
use crate::protocol::{RefineLiveParams, RefineOutcome, RefineTable};

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// How a loop stands, without the client's token.
pub(crate) fn live(progress: &RefineProgress) -> RefineLiveParams {
    RefineLiveParams {
        token: None,
        iterations: progress.iterations.iter().map(Into::into).collect(),
        fraction: progress.fraction,
        message: progress.message.clone(),
    }
}

/// How a stopped loop ended, as a sentence.
pub(crate) fn stopped(outcome: &RefineOutcome) -> String {
    let ending = Ending {
        iterations: outcome.iterations.len(),
        stable: outcome.stable,
        stopped: true,
        hotspots: outcome.hotspots.len(),
        overhead: None,
    };
    ending.sentence()
}

/// The table of the loop that a run belongs to.
pub(crate) fn outcome_of(run: &Path) -> Result<RefineOutcome, Failure> {
    let mut seen = vec![run.to_path_buf()];
    while let Some(run) = seen.last() {
        if let Ok(text) = fs::read(run.join(fulcrum_recorder::REFINE_TABLE)) {
            return table(run, &text);
        }
        let Some(before) = previous(run).filter(|it| !seen.contains(it)) else {
            break;
        };
        seen.push(before);
    }
    Err(Failure::user(
        format!("{} has no table of a refine loop", run.display()),
        Some("Open one of its runs as a trace."),
    ))
}

/// The iteration before this one.
fn previous(run: &Path) -> Option<PathBuf> {
    let manifest = RunFolder::open(run).ok()?.read_manifest().ok()?;
    let before = PathBuf::from(manifest.options.get("previous")?.as_str()?);
    // The workspace may have been moved since.
    let beside = run.with_file_name(before.file_name()?);
    Some(if beside.is_dir() { beside } else { before })
}

fn table(run: &Path, text: &[u8]) -> Result<RefineOutcome, Failure> {
    let table: RefineTable = serde_json::from_slice(text).map_err(|error| {
        let file = run.join(fulcrum_recorder::REFINE_TABLE);
        Failure::user(format!("{}: {error}", file.display()), None)
    })?;
    Ok(RefineOutcome {
        stable: table.stable,
        filter: self::text(&run.join(fulcrum_recorder::NEXT_FILTER)),
        exit: Ending::from(&table).sentence(),
        hotspots: table.hotspots,
        notes: table.notes,
        iterations: table.iterations,
    })
}

pub(crate) fn outcome(refined: Refined) -> RefineOutcome {
    let exit = Ending::from(&refined).sentence();
    RefineOutcome {
        iterations: refined.iterations.iter().map(Into::into).collect(),
        stable: refined.stable,
        filter: text(&refined.filter),
        hotspots: refined.hotspots,
        exit,
        notes: refined.notes,
    }
}
