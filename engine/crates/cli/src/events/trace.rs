//! `fulcrum trace`: records the events of a Java or native program. Output and exit status are the program's own.

use std::fs;

use fulcrum_recorder::{Error, Exit, TraceOptions};

use super::args::TraceArgs;
use crate::outcome::{DONE, Failure, Outcome};
use crate::signals;
use crate::terminal::{self, Colour, Style};

/// Records a trace, and prints its folder on standard error.
pub(crate) fn trace(mut args: TraceArgs) -> Outcome {
    let filter = match &args.filter {
        None => None,
        Some(path) => {
            let bad = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
            let text = fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
            fulcrum_recorder::check_filter(&text).map_err(bad)?;
            Some(text)
        }
    };
    let filter = match (filter, &args.values[..]) {
        (filter, []) => filter,
        (filter, methods) => {
            let text = fulcrum_recorder::filter_with_values(filter.as_deref(), methods);
            Some(text.map_err(Failure::Usage)?)
        }
    };
    let rest = args.program.split_off(args.program.len().min(1));
    let options = TraceOptions {
        program: args.program.into_iter().next().unwrap_or_default(),
        args: rest,
        workspace: args.workspace,
        output: args.output,
        filter,
        limit: args.limit,
        duration: args.time,
        ..TraceOptions::default()
    };
    let remote = signals::watch();
    let recorded = match args.attach {
        None => fulcrum_recorder::trace(&options, &remote, &mut |_| {}),
        Some(pid) => fulcrum_recorder::trace_attached(pid, &options, &remote),
    };
    let recorded = recorded.map_err(|error| match error {
        Error::CannotStart(text) | Error::CannotRecord(text) => Failure::NotStarted(text),
    })?;
    if !args.quiet {
        let style = Style::stderr();
        for note in &recorded.notes {
            terminal::say(&style.paint(Colour::Dim, &format!("note: {note}")));
        }
        terminal::say(&style.paint(
            Colour::Dim,
            &format!("recorded in {}", recorded.run.display()),
        ));
    }
    Ok(match recorded.exit {
        Exit::Code(code) => u8::try_from(code).unwrap_or(u8::MAX),
        Exit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        Exit::Stopped => DONE,
    })
}
