//! `fulcrum suggest`.

use fulcrum_answers::search as answers;
use fulcrum_paths::{Options, ProfileInterface as _};
use fulcrum_schema::SearchSuggestions;

use super::args::SuggestArgs;
use super::numbers::Numbers;
use super::open;
use super::print;
use super::waiting::Waiting;
use crate::outcome::{DONE, NOTHING, Outcome};
use crate::terminal::{self, Style};

/// Without `--top`, this many functions.
const TOP: usize = 20;

/// `fulcrum suggest`.
pub(crate) fn suggest(args: &SuggestArgs) -> Outcome {
    let mut session = open::open_labelled(&args.files, args.label_file.as_deref())?;
    if let Some(suggester) = args.suggester {
        session.search.set_suggester(suggester);
    }
    let found = match args.auto {
        true => {
            let default = Options::default();
            let options = Options {
                most: args.top.unwrap_or(default.most),
                target: args.coverage.unwrap_or(default.target),
                ..default
            };
            let waiting = Waiting::new();
            let progress = waiting.progress().with_phase("searching");
            let found = session.search.automatic(&options, &progress);
            found.expect("waiting stops nothing")
        }
        false => session.search.first(args.top.unwrap_or(TOP)),
    };
    if let Some(path) = &args.save_labels {
        let adopted = session.search.adopt(&found.suggestions);
        adopted.expect("what was found is in the profile");
        session.save_labels(path)?;
    }
    if args.json {
        terminal::answer(&SearchSuggestions {
            found: answers::automatic(found.clone()),
            value: session.identity.value.clone(),
            unit: session.identity.unit.clone(),
            sides: session.search.profile().sides().map(answers::sides),
        })?;
    } else {
        let numbers = Numbers {
            unit: session.identity.unit.clone(),
            denominator: found.whole,
            style: Style::stdout(),
        };
        terminal::print(&print::suggestions(&found, 1, &numbers))?;
    }
    Ok(match found.suggestions.is_empty() {
        true => NOTHING,
        false => DONE,
    })
}
