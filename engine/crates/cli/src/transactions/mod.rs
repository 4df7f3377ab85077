//! `fulcrum transactions`: which kinds of request spend the time, and which wait for which (Whodunit).

mod args;
mod brief;
mod compare;
mod crosstalk;
mod export;
mod navigate;
mod open;
mod price;
mod run;
mod show;
mod stitch;
mod types;
mod what_if;

pub(crate) use args::Transactions;

use crate::outcome::Outcome;

/// Runs one of the commands.
pub(crate) fn run(command: Transactions) -> Outcome {
    match command {
        Transactions::Run(args) => run::run(*args),
        Transactions::Show(args) => show::show(&args),
        Transactions::Crosstalk(args) => crosstalk::crosstalk(&args),
        Transactions::Price(args) => price::price(*args),
        Transactions::WhatIf(args) => what_if::what_if(&args),
        Transactions::Compare(args) => compare::compare(&args),
        Transactions::Navigate(args) => navigate::navigate(&args),
        Transactions::Export(args) => export::export(&args),
        Transactions::Stitch(args) => stitch::stitch(&args),
    }
}
