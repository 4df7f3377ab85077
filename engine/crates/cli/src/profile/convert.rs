//! `fulcrum profile convert`.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use fulcrum_profile_formats::{OutputFormat, Profile, WriteError, write};

use super::args::{ConvertArgs, To};
use super::open::{open, value_of};
use crate::outcome::{DONE, Failure, Outcome};
use crate::terminal;

/// Writes the profile, and prints its notes on standard error.
pub(crate) fn convert(args: &ConvertArgs) -> Outcome {
    let profile = open(&args.input.file, &args.input.names.0, args.input.limits())?;
    let value = value_of(&profile, args.value.as_deref(), &args.input.file)?;
    let target = match args.to {
        To::Folded => OutputFormat::Folded,
        To::Pprof => OutputFormat::Pprof,
        To::Speedscope => OutputFormat::Speedscope,
    };
    let written = match &args.output {
        Some(path) => to_file(&profile, target, value, path),
        None => to_standard_output(&profile, target, value),
    };
    written.map_err(|error| {
        let advice = match error {
            WriteError::Io(_) => "choose another file with -o",
            _ => "`fulcrum profile top` and `info` read it",
        };
        Failure::BadInput(format!("{}: {error}; {advice}", args.input.file.display()))
    })?;
    for note in &profile.notes {
        terminal::say(&format!("note: {note}"));
    }
    Ok(DONE)
}

fn to_file(
    profile: &Profile,
    target: OutputFormat,
    value: usize,
    path: &Path,
) -> Result<(), WriteError> {
    // A profile that cannot be written must not leave an empty file.
    write(profile, target, value, &mut io::sink())?;
    let mut file = BufWriter::new(File::create(path)?);
    write(profile, target, value, &mut file)?;
    Ok(file.flush()?)
}

/// A reader that has closed the pipe is not an error.
fn to_standard_output(
    profile: &Profile,
    target: OutputFormat,
    value: usize,
) -> Result<(), WriteError> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(profile, target, value, &mut out);
    match written.and_then(|()| Ok(out.flush()?)) {
        Err(WriteError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
