//! `fulcrum transactions navigate`: bottleneck search in a type.

use super::args::NavigateArgs;
use super::types;
use crate::outcome::{Failure, Outcome};
use crate::search::interact;
use crate::terminal;

/// Searches a type interactively.
pub(crate) fn navigate(args: &NavigateArgs) -> Outcome {
    let only = args.types.only.as_deref().ok_or_else(|| {
        Failure::Usage(
            "which type? Name it with --only; `fulcrum transactions show` lists the types of a run"
                .into(),
        )
    })?;
    let runs = types::runs(&args.types)?;
    let open = types::open(&args.types, only, &runs)?;
    for note in &open.search.notes {
        terminal::say(note);
    }
    interact(open.search, &args.dialogue)
}
