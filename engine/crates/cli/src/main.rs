//! The `fulcrum` command: every capability from a terminal, and the language server.

#![forbid(unsafe_code)]
// Without the other commands, some code is unused.
#![cfg_attr(not(feature = "whole"), allow(dead_code))]

mod args;
mod causal;
mod compare;
#[cfg(feature = "whole")]
mod events;
mod outcome;
#[cfg(feature = "whole")]
mod profile;
mod progress;
#[cfg(feature = "whole")]
mod refine;
mod report;
mod run;
mod runs;
#[cfg(feature = "whole")]
mod search;
mod signals;
mod terminal;
#[cfg(feature = "whole")]
mod transactions;
mod values;

#[cfg(feature = "whole")]
use std::ffi::OsString;
use std::process::ExitCode;
#[cfg(feature = "whole")]
use std::sync::Arc;

use clap::{CommandFactory as _, Parser as _};
#[cfg(feature = "whole")]
use fulcrum_server::{Real, Recorder, Scripted};

use crate::args::{Arguments, Causal, Command, Runs};
#[cfg(feature = "whole")]
use crate::outcome::Failure;
use crate::outcome::Outcome;

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        #[cfg(feature = "whole")]
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
        #[cfg(feature = "whole")]
        Command::Profile { command } => profile::run(&command),
        #[cfg(feature = "whole")]
        Command::Navigate(args) => search::navigate(&args),
        #[cfg(feature = "whole")]
        Command::Suggest(args) => search::suggest(&args),
        #[cfg(feature = "whole")]
        Command::Trace(args) => events::trace(args),
        #[cfg(feature = "whole")]
        Command::Refine(args) => refine::refine(*args),
        #[cfg(feature = "whole")]
        Command::Events { command } => events::run(&command),
        #[cfg(feature = "whole")]
        Command::Transactions { command } => transactions::run(command),
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

#[cfg(feature = "whole")]
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
