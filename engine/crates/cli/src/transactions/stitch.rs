//! `fulcrum transactions stitch`: combines several runs into one.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_runs::{Ended, Manifest, RunFolder, RunKind};

use super::args::StitchArgs;
use crate::outcome::{DONE, Failure, Outcome};
use crate::terminal::{self, Style};

/// Writes the combined run, and prints its folder.
pub(crate) fn stitch(args: &StitchArgs) -> Outcome {
    let bad = |error: &dyn std::fmt::Display| Failure::BadInput(error.to_string());
    let runs: Vec<&Path> = args.runs.iter().map(PathBuf::as_path).collect();
    let folder = RunFolder::create_at(&args.output).map_err(|error| bad(&error))?;
    let mut manifest = Manifest::begin("stitch".as_ref(), &args.runs, Path::new("."));
    manifest.kind = RunKind::Transactions;
    manifest.notes = args.runs.iter().flat_map(|run| notes(run)).collect();
    let written = fulcrum_profiles::transactions::stitch(&runs, folder.path());
    let written = written.map_err(|error| bad(&error)).and_then(|()| {
        let finished = folder.finish(&mut manifest, Ended::Exited, None, None);
        finished.map_err(|error| bad(&error))
    });
    if let Err(failure) = written {
        // An incomplete run would be taken for a complete one.
        let _ = fs::remove_dir_all(folder.path());
        return Err(failure);
    }
    let place = folder.path().display();
    terminal::say(&Style::stderr().aside(&format!("stitched into {place}")));
    Ok(DONE)
}

/// The notes that were made when a run was recorded.
fn notes(run: &Path) -> Vec<String> {
    let folder = RunFolder::open(run);
    let manifest = folder.and_then(|it| it.read_manifest());
    manifest.map_or_else(|_| Vec::new(), |it| it.notes)
}
