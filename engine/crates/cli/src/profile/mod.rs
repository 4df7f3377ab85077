//! `fulcrum profile`: describes, lists and converts profiles.

pub(crate) mod args;
mod convert;
mod info;
mod open;
mod top;

use crate::outcome::Outcome;
pub(crate) use args::Profile;

/// Runs one of the commands.
pub(crate) fn run(command: &Profile) -> Outcome {
    // Until the process ends, and its memory with it.
    std::mem::forget(fulcrum_memory::reuse_freed());
    match command {
        Profile::Info(args) => info::info(args),
        Profile::Top(args) => top::top(args),
        Profile::Convert(args) => convert::convert(args),
    }
}
