//! `fulcrum transactions price`: measures what a critical section costs those who wait for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fulcrum_answers::price::{SPEEDUP, next_folder, price as measured};
use fulcrum_answers::section::{Completion, Question, section};
use fulcrum_recorder::{Error, Options, Stdio, record};
use fulcrum_runs::{PricedSection, RunFolder};
use fulcrum_schema::CrosstalkPrice;

use super::args::PriceArgs;
use super::open::{newest, open_folders};
use crate::args::StdioArg;
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Style};
use crate::{progress, signals};

/// Measures a section, and prints the result.
pub(crate) fn price(args: PriceArgs) -> Outcome {
    let folder = match &args.run {
        Some(run) => run.clone(),
        None => newest()?,
    };
    let options = options(&args, &folder)?;
    let remote = signals::watch();
    let mut line = progress::Line::new(args.quiet);
    let recorded = record(&options, &remote, &mut |progress| line.show(progress));
    line.clear();
    let recorded = recorded.map_err(|error| match error {
        Error::CannotStart(text) | Error::CannotRecord(text) => Failure::NotStarted(text),
    })?;
    let found = measured(&recorded.run).map_err(Failure::BadInput)?;
    match args.json {
        true => terminal::answer(&found)?,
        false => terminal::print(&as_text(&found, Style::stdout()))?,
    }
    Ok(if found.gain.is_some() { DONE } else { NOTHING })
}

fn options(args: &PriceArgs, folder: &Path) -> Result<Options, Failure> {
    let (program, rest, cwd) = command(args, folder)?;
    let section = crosstalk_section(args, folder)?;
    let mut options = Options {
        program,
        args: rest,
        cwd,
        output: Some(next_folder(folder)),
        duration: Some(args.duration),
        stdio: match args.stdio {
            StdioArg::Inherit => Stdio::Inherit,
            StdioArg::Files => Stdio::Files,
        },
        progress: args.progress.iter().cloned().collect(),
        ..Options::for_section(section, SPEEDUP)
    };
    options.aim.binary_scope.clone_from(&args.binary_scope);
    Ok(options)
}

/// The requested section, from the crosstalk of the run.
fn crosstalk_section(args: &PriceArgs, folder: &Path) -> Result<PricedSection, Failure> {
    let run = open_folders(&[folder.to_owned()], &args.naming)?;
    let found = fulcrum_answers::transactions::crosstalk(&run.stitched, Vec::new());
    let question = Question {
        waits: &args.waits,
        holds: &args.holds,
        at: args.at.as_deref(),
        function: args.function.as_deref(),
        completes: match args.progress {
            Some(_) => Completion::Line,
            None => Completion::of_requests(&run, &args.waits),
        },
    };
    section(&found.pairs, &question).map_err(Failure::NotFound)
}

/// The program, its arguments and its working folder: those of the run, unless others are given.
fn command(
    args: &PriceArgs,
    folder: &Path,
) -> Result<(OsString, Vec<OsString>, Option<PathBuf>), Failure> {
    if let [program, rest @ ..] = args.program.as_slice() {
        return Ok((program.clone(), rest.to_vec(), None));
    }
    let manifest = RunFolder::open(folder).and_then(|it| it.read_manifest());
    let manifest = manifest.map_err(|error| Failure::BadInput(error.to_string()))?;
    if manifest.command.is_empty() {
        return Err(Failure::Usage(format!(
            "{} does not say what was started: give the program after --",
            folder.display()
        )));
    }
    Ok((
        manifest.command.into(),
        manifest.arguments.into_iter().map(Into::into).collect(),
        Some(manifest.cwd.into()),
    ))
}

fn as_text(found: &CrosstalkPrice, style: Style) -> String {
    let sentence = style.plain(found.sentence.clone());
    format!("{sentence}\n{}", style.notes(&found.notes))
}
