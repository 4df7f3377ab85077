//! `fulcrum transactions export`: the call tree of a type, as a profile.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};

use fulcrum_ingest::profile::{Calls, Format, Profile, Target, WriteError, write};
use fulcrum_transactions::stitch::Stitched;

use super::args::{ExportArgs, To};
use super::open::open;
use crate::outcome::{DONE, Failure, Outcome};

/// Writes the profile.
pub fn export(args: &ExportArgs) -> Outcome {
    let run = open(&args.source)?;
    let too_large = |error: &dyn std::fmt::Display| Failure::BadInput(error.to_string());
    let tree = match &args.only {
        None => run
            .stitched
            .whole_tree()
            .map_err(|error| too_large(&error))?,
        Some(name) => {
            let types = run.stitched.types();
            let found = types.iter().find(|it| it.name == *name);
            let found = found.ok_or_else(|| unknown(name, &run.stitched))?;
            run.stitched
                .tree(found.id)
                .map_err(|error| too_large(&error))?
        }
    };
    let profile = Profile {
        format: Format::Transactions,
        calls: Calls::Tree(tree),
        default_value: 0,
        notes: Vec::new(),
        renamed: Vec::new(),
    };
    let target = match args.to {
        To::Folded => Target::Folded,
        To::Pprof => Target::Pprof,
        To::Speedscope => Target::Speedscope,
    };
    let written = (|| {
        // What cannot be written must not leave an empty file.
        write(&profile, target, 0, &mut io::sink())?;
        let mut file = BufWriter::new(File::create(&args.into)?);
        write(&profile, target, 0, &mut file)?;
        Ok::<(), WriteError>(file.flush()?)
    })();
    written.map_err(|error| {
        Failure::BadInput(format!("cannot write {}: {error}", args.into.display()))
    })?;
    Ok(DONE)
}

fn unknown(name: &str, stitched: &Stitched) -> Failure {
    let names: Vec<String> = stitched.types().into_iter().map(|it| it.name).collect();
    Failure::NotFound(match names.is_empty() {
        true => format!("there is no type {name}: the run has none"),
        false => format!("there is no type {name}; there are {}", names.join(", ")),
    })
}
