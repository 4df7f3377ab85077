//! `fulcrum transactions export`: writes the call tree of a type as a profile; for OpenTelemetry, with spans.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use fulcrum_model::CallTree;
use fulcrum_profile_formats::{Calls, Format, OutputFormat, Profile, WriteError, write};
use fulcrum_profiles::transactions::telemetry;
use fulcrum_transaction_records::run::Traced;
use fulcrum_transactions::TypeId;
use fulcrum_transactions::stitch::Stitched;

use super::args::{ExportArgs, To};
use super::open::{open, open_with};
use crate::outcome::{DONE, Failure, Outcome};

/// Writes the profile.
pub(crate) fn export(args: &ExportArgs) -> Outcome {
    match args.to {
        To::Folded => export_tree(args, OutputFormat::Folded),
        To::Pprof => export_tree(args, OutputFormat::Pprof),
        To::Speedscope => export_tree(args, OutputFormat::Speedscope),
        To::Otlp => export_open_telemetry(args),
    }
}

fn export_tree(args: &ExportArgs, target: OutputFormat) -> Outcome {
    let run = open(&args.selection)?;
    let tree = tree(&run.stitched, args.only.as_deref())?;
    let profile = Profile {
        format: Format::Transactions,
        calls: Calls::Tree(tree),
        default_value: 0,
        notes: Vec::new(),
        renamed: Vec::new(),
    };
    let written = (|| {
        // A profile that cannot be written must not leave an empty file.
        write(&profile, target, 0, &mut io::sink())?;
        let mut file = BufWriter::new(File::create(&args.into)?);
        write(&profile, target, 0, &mut file)?;
        Ok::<(), WriteError>(file.flush()?)
    })();
    written.map_err(|error| unwritten(&args.into, &error))?;
    Ok(DONE)
}

fn tree(stitched: &Stitched, only: Option<&str>) -> Result<CallTree, Failure> {
    let tree = match only {
        None => stitched.whole_tree(),
        Some(name) => stitched.tree(type_of(name, stitched)?),
    };
    tree.map_err(|error| Failure::BadInput(error.to_string()))
}

fn export_open_telemetry(args: &ExportArgs) -> Outcome {
    let run = open_with(&args.selection, Traced::Sampled)?;
    let only = args.only.as_deref();
    let only = only.map(|name| type_of(name, &run.stitched)).transpose()?;
    let telemetry = telemetry(&run, only);
    let beside = spans_file(&args.into);
    write_file(&args.into, |file| telemetry.profiles.write(file))?;
    write_file(&beside, |file| telemetry.spans.write(file))?;
    Ok(DONE)
}

fn write_file(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let written = || {
        let mut file = BufWriter::new(File::create(path)?);
        content(&mut file)?;
        file.flush()
    };
    written().map_err(|error| unwritten(path, &error))
}

/// The file for the spans of a file of profiles: `buy.spans.otlp` beside `buy.otlp`.
fn spans_file(profiles: &Path) -> PathBuf {
    match profiles.extension() {
        None => profiles.with_extension("spans"),
        Some(extension) => {
            let mut spans = std::ffi::OsString::from("spans.");
            spans.push(extension);
            profiles.with_extension(spans)
        }
    }
}

fn unwritten(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::BadInput(format!("cannot write {}: {error}", path.display()))
}

fn type_of(name: &str, stitched: &Stitched) -> Result<TypeId, Failure> {
    let types = stitched.types();
    let found = types.iter().find(|it| it.name == name);
    found.map(|it| it.id).ok_or_else(|| unknown(name, stitched))
}

fn unknown(name: &str, stitched: &Stitched) -> Failure {
    let names: Vec<String> = stitched.types().into_iter().map(|it| it.name).collect();
    Failure::NotFound(match names.is_empty() {
        true => format!("there is no type {name}: the run has none"),
        false => format!("there is no type {name}; there are {}", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_beside_their_profiles() {
        for (profiles, spans) in [
            ("a/buy.otlp", "a/buy.spans.otlp"),
            ("buy.v2.pb", "buy.v2.spans.pb"),
            ("buy", "buy.spans"),
        ] {
            assert_eq!(spans_file(Path::new(profiles)), Path::new(spans));
        }
    }
}
