//! `fulcrum transactions navigate`: bottleneck search in a type.

use super::args::NavigateArgs;
use super::types;
use crate::outcome::{Failure, Outcome};
use crate::search::talk;
use crate::terminal;

/// Searches until there are no more commands.
pub fn navigate(args: &NavigateArgs) -> Outcome {
    let only = args.types.only.as_deref().ok_or_else(|| {
        Failure::Usage("which type? Give it with --only; show lists the types of a run".into())
    })?;
    let runs = types::runs(&args.types)?;
    let open = types::open(&args.types, only, &runs)?;
    for note in &open.session.notes {
        terminal::say(note);
    }
    talk(open.session, &args.dialogue)
}
