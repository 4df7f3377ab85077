//! Executes the commands of `fulcrum navigate`.

use std::path::PathBuf;

use fulcrum_paths::{
    Details, Estimate, LabelReport, Options, ProfileInterface as _, Row, SearchError, Suggester,
    Suggestions,
};
use fulcrum_profiles::OpenSearch;

use super::command::{Command, label_names};
use super::waiting::Waiting;

/// The answer to a command.
pub(crate) enum Answer {
    /// The search has numbered paths: [`rows`](fulcrum_paths::Search::rows).
    Rows {
        /// How many were omitted because they may be noise.
        noise: usize,
    },
    /// The current path. The search has numbered those nearby.
    Details(Box<Details>),
    /// The settings, after one was changed.
    Settings {
        suggester: Suggester,
        zooming: bool,
        cutoff: f64,
    },
    /// The labels of the current path, after one was added or removed.
    Labels {
        path: Vec<String>,
        labels: Vec<String>,
    },
    /// Every label, and the base and cum of all together.
    Reports {
        labels: Vec<LabelReport>,
        base: i64,
        cum: i64,
    },
    /// What the current path shares with labels.
    Overlaps(Box<Details>),
    /// The possible gain from these labels.
    Estimate {
        labels: Vec<String>,
        estimate: Estimate,
    },
    /// The paths in the history, and the position of the current one.
    History {
        rows: Vec<Row>,
        current: Option<usize>,
    },
    /// What the automatic search found and labelled.
    Automatic(Suggestions),
    /// The file that labels were written to.
    Saved(PathBuf),
    /// Sentences on the labels that were read.
    Loaded(Vec<String>),
    Help,
    Quit,
}

/// Executes one command.
///
/// # Errors
/// One sentence on why it is impossible.
pub(crate) fn run(session: &mut OpenSearch, command: Command) -> Result<Answer, String> {
    let search = &mut session.search;
    match command {
        Command::SetSuggester(suggester) => {
            search.set_suggester(suggester);
            Ok(settings(session))
        }
        Command::Suggest => {
            search.suggest();
            Ok(Answer::Rows {
                noise: search.noise(),
            })
        }
        Command::Find(text) => {
            search.find(&text);
            Ok(Answer::Rows { noise: 0 })
        }
        Command::GoTo(at) => details(search.go_to(at)),
        Command::Select(number) => details(search.select(number)),
        Command::Path { names, as_typed } => go_to_path(session, &names, as_typed.as_deref()),
        Command::Trim(end) => details(search.trim(end)),
        Command::Show => details(search.details()),
        Command::Back => details(search.back()),
        Command::Forward => details(search.forward()),
        Command::Overlap => {
            // It lists no paths, so the numbers of the last list stay valid.
            let current = search.about().ok_or(SearchError::NothingSelected);
            Ok(Answer::Overlaps(Box::new(current.map_err(text)?)))
        }
        Command::Label(name) => {
            search.label(&name).map_err(text)?;
            Ok(labels_of_current(session))
        }
        Command::Unlabel(name) => {
            search.unlabel(&name).map_err(text)?;
            Ok(labels_of_current(session))
        }
        Command::Labels => Ok(labels(session)),
        Command::Estimate(names) => estimate(session, &names),
        Command::Zoom(zooming) => {
            search.set_zooming(zooming);
            Ok(settings(session))
        }
        Command::Cutoff(cutoff) => {
            search.set_cutoff(cutoff).map_err(text)?;
            Ok(settings(session))
        }
        Command::History => {
            let (_, at) = search.history();
            Ok(Answer::History {
                rows: search.history_rows(),
                current: at.checked_sub(1),
            })
        }
        Command::Auto => search_automatically(session),
        Command::Save(path) => match session.save_labels(&path) {
            Ok(_) => Ok(Answer::Saved(path)),
            Err(error) => Err(error.to_string()),
        },
        Command::Load(path) => {
            let notes = session.load_labels(&path);
            notes.map(Answer::Loaded).map_err(|error| error.to_string())
        }
        Command::Help => Ok(Answer::Help),
        Command::Quit => Ok(Answer::Quit),
    }
}

fn text(error: SearchError) -> String {
    error.to_string()
}

fn details(found: Result<Details, SearchError>) -> Result<Answer, String> {
    found.map(|it| Answer::Details(Box::new(it))).map_err(text)
}

fn go_to_path(
    session: &mut OpenSearch,
    names: &[String],
    as_typed: Option<&[String]>,
) -> Result<Answer, String> {
    let mut go = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        session.search.select_path(&names)
    };
    let found = go(names);
    // The brackets may belong to a name: `[unknown]`.
    details(match as_typed {
        Some(as_typed) if found.is_err() => go(as_typed).or(found),
        _ => found,
    })
}

fn labels(session: &OpenSearch) -> Answer {
    let search = &session.search;
    let all = search.covered();
    Answer::Reports {
        labels: search.report().to_vec(),
        base: all.base,
        cum: all.cum,
    }
}

/// The possible gain from a label, or from several labels separated by commas; without names, from all labels.
fn estimate(session: &OpenSearch, names: &str) -> Result<Answer, String> {
    let search = &session.search;
    if search.labels().all().is_empty() {
        return Err("nothing is labelled: `label` a path first".into());
    }
    // The name of a label may contain commas.
    let labels = match search.labels().get(names) {
        Some(label) => vec![label.name.clone()],
        None => label_names(names),
    };
    let names: Vec<&str> = labels.iter().map(String::as_str).collect();
    let estimate = search.estimate(&names).map_err(text)?;
    let all = || search.labels().all().iter().map(|it| it.name.clone());
    let labels = if labels.is_empty() {
        all().collect()
    } else {
        labels
    };
    Ok(Answer::Estimate { labels, estimate })
}

/// Finds and labels the bottlenecks automatically.
fn search_automatically(session: &mut OpenSearch) -> Result<Answer, String> {
    let search = &mut session.search;
    let waiting = Waiting::new();
    let progress = waiting.progress().with_phase("searching");
    let found = search.automatic(&Options::default(), &progress);
    let found = found.expect("waiting stops nothing");
    drop(waiting);
    search.adopt(&found.suggestions).map_err(text)?;
    let paths: Vec<_> = found.suggestions.iter().map(|it| it.path.clone()).collect();
    search.number(&paths);
    Ok(Answer::Automatic(found))
}

fn settings(session: &OpenSearch) -> Answer {
    Answer::Settings {
        suggester: session.search.suggester(),
        zooming: session.search.zooming(),
        cutoff: session.search.cutoff(),
    }
}

fn labels_of_current(session: &OpenSearch) -> Answer {
    let (search, profile) = (&session.search, session.search.profile());
    let owned = |names: Vec<&str>| names.into_iter().map(String::from).collect();
    let current = search.current();
    Answer::Labels {
        path: current.map_or(Vec::new(), |s| owned(profile.path_of(s))),
        labels: current.map_or(Vec::new(), |s| owned(search.labels().of(profile, s))),
    }
}
