//! The `fulcrum` command: every capability from a terminal, and the language server.

mod args;
mod causal;
mod compare;
mod events;
mod outcome;
mod profile;
mod progress;
mod refine;
mod report;
mod run;
mod runs;
mod search;
mod signals;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, Parser as _};
use fulcrum_server::{Real, Recorder, Scripted};

use crate::args::{Arguments, Causal, Command, Runs};
use crate::outcome::{Failure, Outcome};

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Lsp { stdio: _, script } => serve(script),
        Command::Run(args) => run::run(*args),
        Command::Causal {
            command: Causal::Show(args),
        } => causal::show(&args),
        Command::Causal {
            command: Causal::Compare(args),
        } => compare::compare(&args),
        Command::Causal {
            command: Causal::Export(args),
        } => causal::export(&args),
        Command::Profile { command } => profile::run(&command),
        Command::Navigate(args) => search::navigate(&args),
        Command::Suggest(args) => search::suggest(&args),
        Command::Trace(args) => events::trace(args),
        Command::Refine(args) => refine::refine(*args),
        Command::Events { command } => events::run(&command),
        Command::Runs {
            command: Runs::List(args),
        } => runs::list(&args),
        Command::Runs {
            command: Runs::Show(args),
        } => runs::show(&args),
        Command::Runs {
            command: Runs::Rm(args),
        } => runs::remove(&args),
        Command::Completions { shell } => completions(shell),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            terminal::say(&format!("fulcrum: {failure}"));
            ExitCode::from(failure.code())
        }
    }
}

fn serve(script: Option<OsString>) -> Outcome {
    let recorder: Arc<dyn Recorder> = match script {
        None => Arc::new(Real),
        Some(name) => Arc::new(Scripted::new(name)),
    };
    fulcrum_server::run_stdio(recorder).map_err(|error| Failure::BadInput(error.to_string()))?;
    Ok(outcome::DONE)
}

fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fulcrum", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(outcome::DONE)
}
