//! Runs that continue earlier ones. Their experiments are counted together, so both must have run the same build.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use fulcrum_runs::{CONTINUES, Ended, RunFolder, RunKind, runs_folder};

use crate::program::launch::Program;
use crate::{Error, Options};

/// The size of the pieces in which a program's file is read, in bytes: programs may be large.
const PIECE: u64 = 1 << 20;

/// A fingerprint of the program's file. `None` when other files may be profiled, which are not known beforehand.
pub(crate) fn fingerprint(program: &Program, options: &Options) -> Option<String> {
    let is_alone = !program.starts_others && options.aim.binary_scope.is_empty();
    let mut file = File::open(&program.path).ok().filter(|_| is_alone)?;
    let mut pieces = String::new();
    loop {
        let mut piece = Vec::new();
        let taken = file.by_ref().take(PIECE).read_to_end(&mut piece).ok()?;
        if taken == 0 {
            return Some(fulcrum_model::digest(pieces.as_bytes()));
        }
        pieces.push_str(&fulcrum_model::digest(&piece));
    }
}

/// The name of the earlier run, or why this run cannot continue it.
pub(crate) fn earlier(
    options: &Options,
    workspace: &Path,
    fingerprint: Option<&str>,
) -> Result<Option<String>, Error> {
    let Some(run) = &options.continues else {
        return Ok(None);
    };
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    let cannot = |why: &str| {
        let text = format!("cannot continue the run {name}: {why}");
        Err(Error::CannotStart(text))
    };
    let Ok(folder) = RunFolder::open(&runs_folder(workspace).join(name.as_ref())) else {
        return cannot("it is not among the runs of this workspace");
    };
    let Ok(manifest) = folder.read_manifest() else {
        return cannot("it does not say what was run; start a new run");
    };
    if manifest.kind != RunKind::Causal {
        return cannot("it is not a causal profile");
    }
    if manifest.ended == Ended::Running {
        return cannot("it is still running");
    }
    match (&manifest.program_digest, fingerprint) {
        (Some(then), Some(now)) if then == now => {}
        (Some(_), Some(_)) => {
            return cannot("the program was rebuilt since; start a new run");
        }
        _ => {
            return cannot("whether it profiled the same build is unknown; start a new run");
        }
    }
    let arguments: Vec<_> = options.args.iter().map(|it| it.to_string_lossy()).collect();
    if manifest.arguments != arguments {
        return cannot("it had other arguments; start a new run");
    }
    Ok(Some(name.into_owned()))
}

/// The option in the manifest by which readers find the earlier run.
pub(crate) fn describe(name: String) -> (String, serde_json::Value) {
    (CONTINUES.into(), name.into())
}
