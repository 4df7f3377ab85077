//! `fulcrum run`: profiles a program, then shows the result. Output and exit status are the program's own.

use fulcrum_causal::analyse;
use fulcrum_model::causal::Note;
use fulcrum_recorder::{
    Aim, Counting, EndToEnd, Error, Exit, Options, Recorded, Sampler, Stdio, record,
};

use crate::args::{RunArgs, SamplerArg, StdioArg, one_target};
use crate::outcome::{DONE, Failure, Outcome};
use crate::terminal::{self, Colour, Style};
use crate::{progress, report, signals};

/// Records and shows the ranking on standard error, as `perf stat` does.
pub(crate) fn run(args: RunArgs) -> Outcome {
    let (quiet, top) = (args.quiet, args.top);
    let options = options(args)?;
    let remote = signals::watch();
    let mut line = progress::Line::new(quiet);
    let recorded = record(&options, &remote, &mut |progress| line.show(progress));
    line.clear();
    let recorded = recorded.map_err(|error| match error {
        Error::CannotStart(text) | Error::CannotRecord(text) => Failure::NotStarted(text),
    })?;
    show(&recorded, top);
    Ok(match recorded.exit {
        Exit::Code(code) => u8::try_from(code).unwrap_or(u8::MAX),
        // As a shell reports it.
        Exit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        Exit::Stopped => DONE,
    })
}

fn options(mut args: RunArgs) -> Result<Options, Failure> {
    let rest = args.program.split_off(1);
    Ok(Options {
        program: args.program.into_iter().next().unwrap_or_default(),
        args: rest,
        cwd: args.cwd,
        workspace: args.workspace,
        output: args.output,
        continues: args.continues,
        duration: args.duration,
        until: args.until,
        stdio: match args.stdio {
            StdioArg::Inherit => Stdio::Inherit,
            StdioArg::Files => Stdio::Files,
        },
        aim: Aim {
            source_scope: args.source_scope,
            binary_scope: args.binary_scope,
            target: one_target(args.target).map_err(Failure::Usage)?,
        },
        fixed_line: args.fixed_line,
        fixed_speedup: args.fixed_speedup,
        first_worth: None,
        sampler: match args.sampler {
            SamplerArg::Auto => Sampler::Auto,
            SamplerArg::Perf => Sampler::Perf,
            SamplerArg::Timer => Sampler::Timer,
        },
        no_placebo: args.no_placebo,
        max_overhead: args.max_overhead,
        progress: args.progress,
        counting: Counting::Auto,
        section: None,
        end_to_end: args.end_to_end.then_some(EndToEnd { runs: args.runs }),
    })
}

fn show(recorded: &Recorded, top: usize) {
    let style = Style::stderr();
    let mut text = String::from("\n");
    match fulcrum_runs::load_causal(&recorded.run) {
        Ok(loaded) => {
            let mut profile = analyse(&loaded.recording, &fulcrum_causal::Options::default());
            // Without experiments, the recorder's notes say why: an analysis can only guess.
            let known = loaded.recording.experiments.is_empty() && !recorded.notes.is_empty();
            let said = recorded.notes.iter().cloned().map(Note::Recording);
            profile.notes = if known {
                said.collect()
            } else {
                // The manifest repeats the recorder's notes.
                let others = said.filter(|note| !profile.notes.contains(note));
                others.chain(profile.notes.iter().cloned()).collect()
            };
            text.push_str(&report::table(&profile, top, style));
        }
        Err(error) => {
            text.push_str(&style.notes(&recorded.notes));
            text.push_str(&format!("the run cannot be shown: {error}\n"));
        }
    }
    let how = match recorded.exit {
        Exit::Code(0) => String::new(),
        Exit::Code(code) => format!("the program ended with exit status {code}; "),
        Exit::Signal(signal) => format!("the program was ended by signal {signal}; "),
        Exit::Stopped => "the program was stopped; ".into(),
    };
    let place = format!("{how}recorded in {}", recorded.run.display());
    text.push_str(&style.paint(Colour::Dim, &place));
    terminal::say(&text);
}
