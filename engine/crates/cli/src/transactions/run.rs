//! `fulcrum transactions run`: records a server with all its processes, then shows the result. Output and exit status are the
//! program's own.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use fulcrum_answers::quantity::grouped;
use fulcrum_model::Progress;
use fulcrum_recorder::{
    Error, Exit, Recorded, Stdio, TransactionOptions, TransactionProgress, record_transactions,
};
use fulcrum_transaction_records::run::Options;

use super::args::RunArgs;
use super::show::table;
use crate::args::StdioArg;
use crate::outcome::{DONE, Failure, Outcome};
use crate::signals;
use crate::terminal::{self, Colour, Style};

/// Records a run, and shows its types on standard error.
pub(crate) fn run(args: RunArgs) -> Outcome {
    let (quiet, top) = (args.quiet, args.top);
    let options = options(args);
    let remote = signals::watch();
    let redraw = !quiet && io::stderr().is_terminal();
    let style = Style::stderr();
    let recorded = record_transactions(&options, &remote, &mut |progress| {
        if redraw {
            let text = describe(progress, style);
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
        }
    });
    if redraw {
        let mut err = io::stderr().lock();
        let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
    }
    let mut recorded = recorded.map_err(|error| match error {
        Error::CannotStart(text) | Error::CannotRecord(text) => Failure::NotStarted(text),
    })?;
    if let Err(error) = fulcrum_profiles::transactions::write_names(&recorded.run) {
        let what = "functions are shown by their addresses";
        recorded.notes.push(format!("{error}; {what}."));
    }
    show(&recorded, top, style);
    Ok(match recorded.exit {
        Exit::Code(code) => u8::try_from(code).unwrap_or(u8::MAX),
        // As a shell reports it.
        Exit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        Exit::Stopped => DONE,
    })
}

fn options(mut args: RunArgs) -> TransactionOptions {
    let rest = args.program.split_off(1);
    TransactionOptions {
        program: args.program.into_iter().next().unwrap_or_default(),
        args: rest,
        cwd: args.cwd,
        workspace: args.workspace,
        output: args.output,
        duration: args.duration,
        stdio: match args.stdio {
            StdioArg::Inherit => Stdio::Inherit,
            StdioArg::Files => Stdio::Files,
        },
        limit: args.limit,
        names: !args.no_names,
        shared_memory: !args.no_shared_memory,
        max_overhead: (!args.no_pauses).then_some(args.max_overhead),
        ..TransactionOptions::default()
    }
}

/// `12 s · 5 processes, 4 running · 1,234 samples · 3.40 MB`.
fn describe(progress: &TransactionProgress, style: Style) -> String {
    let processes = match progress.processes {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    let running = progress.running;
    let mut parts = vec![
        format!("{} s", progress.elapsed.as_secs()),
        format!("{processes}, {running} running"),
        format!("{} samples", grouped(progress.samples)),
        style.quantity(i64::try_from(progress.bytes).unwrap_or(i64::MAX), "bytes"),
    ];
    if progress.is_paused {
        parts.push("paused, to slow the program down less".into());
    }
    if progress.program_ended && running > 0 {
        parts.push("the program has ended; Ctrl-C stops what it left running".into());
    }
    parts.join(style.dot())
}

fn show(recorded: &Recorded, top: usize, style: Style) {
    let mut text = String::from("\n");
    match opened(&recorded.run) {
        Ok(run) => {
            let mut notes = recorded.notes.clone();
            // The manifest repeats the recorder's notes.
            notes.extend(
                run.notes
                    .iter()
                    .filter(|it| !recorded.notes.contains(it))
                    .cloned(),
            );
            text += &table(
                &fulcrum_answers::transactions::shown(&run.stitched, notes),
                top,
                style,
            );
        }
        Err(error) => {
            text += &style.notes(&recorded.notes);
            text += &format!("the run cannot be shown: {error}\n");
        }
    }
    let how = match recorded.exit {
        Exit::Code(0) => String::new(),
        Exit::Code(code) => format!("the program ended with exit status {code}; "),
        Exit::Signal(signal) => format!("the program was ended by signal {signal}; "),
        Exit::Stopped => "the program was stopped; ".into(),
    };
    let place = format!("{how}recorded in {}", recorded.run.display());
    text += &style.paint(Colour::Dim, &place);
    terminal::say(&text);
}

fn opened(
    run: &Path,
) -> Result<fulcrum_transaction_records::run::Run, fulcrum_transaction_records::run::RunError> {
    fulcrum_profiles::transactions::open(&[run], &Options::default(), &Progress::default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_line_shows_what_still_runs() {
        let style = Style {
            colour: false,
            unicode: true,
            terminal: true,
        };
        let mut progress = TransactionProgress {
            elapsed: Duration::from_millis(12_900),
            processes: 5,
            running: 4,
            bytes: 3_400_000,
            samples: 1234,
            ..TransactionProgress::default()
        };
        let start = "12 s · 5 processes, 4 running · 1,234 samples · 3.40 MB";
        assert_eq!(describe(&progress, style), start);
        progress.is_paused = true;
        progress.program_ended = true;
        let more = "paused, to slow the program down less · the program has ended; Ctrl-C stops what it left running";
        assert_eq!(describe(&progress, style), format!("{start} · {more}"));
    }
}
