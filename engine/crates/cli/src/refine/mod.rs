//! `fulcrum refine`: instrument, measure, refine, repeat.

mod args;
mod table;

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use fulcrum_events::refine::{filter_text, methods_of_names};
use fulcrum_recorder::{
    Error, KeepRunning, RefineOptions, RefineProgress, Refined, Stdio, TraceOptions,
};
use fulcrum_schema::RefineTable;

pub(crate) use args::RefineArgs;

use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::signals;
use crate::terminal::{self, Style};

/// Runs the loop and shows its table.
pub(crate) fn refine(args: RefineArgs) -> Outcome {
    let options = options(&args)?;
    let remote = signals::watch_first();
    let mut line = Line::new(args.quiet);
    let refined = fulcrum_recorder::refine(&options, &remote, &mut |it| line.show(it));
    line.clear();
    let refined = refined.map_err(|error| match error {
        Error::CannotStart(text) | Error::CannotRecord(text) => Failure::NotStarted(text),
    })?;
    if let Some(path) = &args.write {
        fs::copy(&refined.filter, path).map_err(|error| {
            Failure::BadInput(format!("cannot write {}: {error}", path.display()))
        })?;
    }
    match args.json {
        true => terminal::answer(&as_json(&options, &refined))?,
        false => terminal::print(&table::table(&refined, Style::stdout()))?,
    }
    Ok(if refined.hotspots.is_empty() {
        NOTHING
    } else {
        DONE
    })
}

fn options(args: &RefineArgs) -> Result<RefineOptions, Failure> {
    let (program, rest) = args.program.split_first().unzip();
    Ok(RefineOptions {
        trace: TraceOptions {
            program: program.cloned().unwrap_or_default(),
            args: rest.unwrap_or_default().to_vec(),
            workspace: args.workspace.clone(),
            output: args.output.clone(),
            filter: first_filter(args)?,
            limit: args.limit,
            duration: args.duration,
            stdio: Stdio::Files,
            ..TraceOptions::default()
        },
        rule: args.rule.clone(),
        unit: args.unit.clone(),
        iterations: args.iterations as usize,
        runs: args.runs as usize,
        baseline: !args.no_baseline,
        recheck: args.recheck as usize,
        seed: args.seed,
        keep_running: args.keep_running.map(|session| KeepRunning {
            session,
            attach: args.attach,
        }),
    })
}

fn first_filter(args: &RefineArgs) -> Result<Option<String>, Failure> {
    let bad = |path: &Path, what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    if let Some(path) = &args.filter {
        let text = fs::read_to_string(path).map_err(|error| bad(path, error.to_string()))?;
        fulcrum_recorder::check_filter(&text).map_err(|error| bad(path, error))?;
        return Ok(Some(text));
    }
    if let Some(run) = &args.from {
        let text = fulcrum_recorder::filter_of_run(run, &args.rule)
            .map_err(|error| Failure::BadInput(error.to_string()))?;
        return Ok(Some(text));
    }
    let Some(path) = &args.from_labels else {
        return Ok(None);
    };
    let saved = fulcrum_profiles::read_labels(path)?;
    let paths = saved.labels.iter().flat_map(|label| &label.paths);
    let (methods, others) = methods_of_names(paths.flatten().map(String::as_str));
    if methods.is_empty() {
        return Err(bad(
            path,
            "no name in it is a Java method's, such as shop.Cart.add".into(),
        ));
    }
    if !others.is_empty() && !args.quiet {
        terminal::say(&format!("note: not Java methods: {}", others.join(", ")));
    }
    let comment = [format!("The labels of {}.", path.display())];
    Ok(Some(filter_text("", &methods, &comment)))
}

fn as_json(options: &RefineOptions, refined: &Refined) -> RefineTable {
    RefineTable {
        rule: options.rule.to_string(),
        unit: options.unit.clone(),
        seed: None,
        runs: None,
        stable: refined.stable,
        stopped: Some(refined.stopped),
        filter: Some(refined.filter.to_string_lossy().into_owned()),
        hotspots: refined.hotspots.clone(),
        notes: refined.notes.clone(),
        iterations: refined.iterations.iter().map(Into::into).collect(),
    }
}

/// The progress on standard error: one line that is redrawn on a terminal, else a line for each run.
struct Line {
    quiet: bool,
    terminal: bool,
    drawn: bool,
}

impl Line {
    fn new(quiet: bool) -> Line {
        Line {
            quiet,
            terminal: io::stderr().is_terminal(),
            drawn: false,
        }
    }

    fn show(&mut self, progress: &RefineProgress) {
        if self.quiet {
            return;
        }
        let dot = Style::stderr().dot();
        let text = progress.message.replace(" · ", dot);
        let mut err = io::stderr().lock();
        // Failures do not matter.
        let _ = match self.terminal {
            true => write!(err, "\r\x1b[K{text}").and_then(|()| err.flush()),
            false => writeln!(err, "{text}"),
        };
        self.drawn = self.terminal;
    }

    fn clear(&mut self) {
        if self.drawn {
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
        }
    }
}
