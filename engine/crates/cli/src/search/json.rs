//! Answers as JSON: one object for each command. Costs are in the profile's unit, shares are fractions.

use fulcrum_answers::search as answers;
use fulcrum_paths::FirstRows;
use fulcrum_schema::{
    SearchAnswer, SearchBody, SearchCommand, SearchEstimate, SearchHelp, SearchHistory,
    SearchLabels, SearchLoaded, SearchPathLabels, SearchRefused, SearchRows, SearchSaved,
    SearchSettings,
};

use super::command::HELP;
use super::session::Answer;

/// The object for the answer to a command; `None` for a command that ends the session. `rows` are the rows to list.
pub(crate) fn answer(command: &str, answer: Answer, rows: &[FirstRows]) -> Option<SearchAnswer> {
    let body = match answer {
        Answer::Rows { .. } => SearchBody::Rows(SearchRows {
            rows: answers::rows(rows),
            more: answers::more(rows),
        }),
        Answer::Details(details) => SearchBody::Details(Box::new(answers::details(&details, rows))),
        Answer::Settings {
            suggester,
            zooming,
            cutoff,
        } => SearchBody::Settings(SearchSettings {
            suggester: answers::suggester(suggester),
            zoom: zooming,
            cutoff,
        }),
        Answer::Labels { path, labels } => SearchBody::Labels(SearchPathLabels { path, labels }),
        Answer::Reports { labels, base, cum } => SearchBody::Reports(SearchLabels {
            labels: labels.iter().map(answers::report).collect(),
            base,
            cum,
        }),
        Answer::Overlaps(details) => SearchBody::Overlaps(answers::about(&details)),
        Answer::Estimate { labels, estimate } => SearchBody::Estimate(SearchEstimate {
            labels,
            estimate: answers::estimate(&estimate),
        }),
        Answer::History { rows, current } => SearchBody::History(SearchHistory {
            history: rows.iter().map(|it| it.path.clone()).collect(),
            costs: rows.iter().map(answers::costs).collect(),
            current: current.map(|it| it as u32),
        }),
        Answer::Automatic(found) => SearchBody::Automatic(answers::automatic(found)),
        Answer::Saved(path) => SearchBody::Saved(SearchSaved {
            saved: path.display().to_string(),
        }),
        Answer::Loaded(notes) => SearchBody::Loaded(SearchLoaded { notes }),
        Answer::Help => {
            let commands = HELP.iter().map(|(usage, what)| SearchCommand {
                usage: (*usage).into(),
                what: (*what).into(),
            });
            SearchBody::Help(SearchHelp {
                commands: commands.collect(),
            })
        }
        Answer::Quit => return None,
    };
    Some(SearchAnswer {
        command: command.into(),
        body,
    })
}

/// The object for a command that failed.
pub(crate) fn refusal(command: &str, error: String) -> SearchAnswer {
    SearchAnswer {
        command: command.into(),
        body: SearchBody::Refused(SearchRefused { error }),
    }
}
