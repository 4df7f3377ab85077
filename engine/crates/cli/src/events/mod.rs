//! `fulcrum trace` and `fulcrum events`: event traces of Java and native programs.

pub(crate) mod args;
mod compare;
mod export;
mod list;
mod open;
mod query;
mod query_help;
mod queues;
mod stats;
mod trace;
mod tree;

pub(crate) use args::{Events, TraceArgs, size};
pub(crate) use trace::trace;

use crate::outcome::Outcome;

/// Runs one of the commands.
pub(crate) fn run(command: &Events) -> Outcome {
    match command {
        Events::List(args) => list::list(args),
        Events::Tree(args) => tree::tree(args),
        Events::Stats(args) => stats::stats(args),
        Events::Query(args) => query::query(args),
        Events::Export(args) => export::export(args),
        Events::Queues(args) => queues::queues(args),
        Events::Compare(args) => compare::compare(args),
    }
}
