//! What the commands of `fulcrum navigate` do, and what they answer.

use std::path::PathBuf;

use fulcrum_paths::{
    Details, Estimate, LabelReport, Options, ProfileInterface as _, Row, SearchError, Suggester,
    Suggestions,
};
use fulcrum_profiles::OpenSearch;

use super::command::{Command, label_names};
use super::waiting::Waiting;

/// What a command answers.
pub enum Answer {
    /// Numbered paths, and how many were left out because they may be noise.
    Rows {
        rows: Vec<Row>,
        noise: usize,
    },
    /// The current path.
    Details(Box<Details>),
    /// The settings, after one was changed.
    Settings {
        suggester: Suggester,
        zooming: bool,
        cutoff: f64,
    },
    /// The current path has or lost a label.
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
    /// What could be gained by these labels.
    Estimate {
        labels: Vec<String>,
        estimate: Estimate,
    },
    /// The paths that were current, by their positions, and that of the one that is.
    History {
        rows: Vec<Row>,
        current: Option<usize>,
    },
    /// What the automatic search found and labelled.
    Automatic(Suggestions),
    /// Where labels were written.
    Saved(PathBuf),
    /// Sentences about labels that were read.
    Loaded(Vec<String>),
    Help,
    Quit,
}

/// Does one command.
///
/// # Errors
/// Why it cannot be done, one sentence.
pub fn run(session: &mut OpenSearch, command: Command) -> Result<Answer, String> {
    let said = |error: SearchError| error.to_string();
    let details = |found: Result<Details, SearchError>| {
        found.map(|it| Answer::Details(Box::new(it))).map_err(said)
    };
    let search = &mut session.search;
    match command {
        Command::SetSuggester(suggester) => {
            search.set_suggester(suggester);
            Ok(settings(session))
        }
        Command::Suggest => {
            let rows = search.suggest();
            let noise = search.noise();
            Ok(Answer::Rows { rows, noise })
        }
        Command::Find(text) => {
            let rows = search.find(&text);
            Ok(Answer::Rows { rows, noise: 0 })
        }
        Command::GoTo(at) => details(search.go_to(at)),
        Command::Select(number) => details(search.select(number)),
        Command::Path { names, as_typed } => {
            let mut go = |names: &[String]| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                search.select_path(&names)
            };
            let found = go(&names);
            // The brackets may be a name's: `[unknown]`.
            let found = match as_typed {
                Some(as_typed) if found.is_err() => go(&as_typed).or(found),
                _ => found,
            };
            details(found)
        }
        Command::Trim(end) => details(search.trim(end)),
        Command::Show => details(search.details()),
        Command::Back => details(search.back()),
        Command::Forward => details(search.forward()),
        Command::Overlap => {
            // It lists no paths, so the numbers of the last list hold on.
            let now = search.about().ok_or(SearchError::NothingSelected);
            Ok(Answer::Overlaps(Box::new(now.map_err(said)?)))
        }
        Command::Label(name) => {
            search.label(&name).map_err(said)?;
            Ok(labels_of_current(session))
        }
        Command::Unlabel(name) => {
            search.unlabel(&name).map_err(said)?;
            Ok(labels_of_current(session))
        }
        Command::Labels => {
            let all = search.labels().summaries();
            Ok(Answer::Reports {
                labels: search.report(),
                base: search.profile().total_base_of(&all),
                cum: search.profile().total_cum_of(&all),
            })
        }
        Command::Estimate(text) => {
            if search.labels().all().is_empty() {
                return Err("nothing is labelled: `label` a path first".into());
            }
            // A label may have commas in its name.
            let labels = match search.labels().get(&text) {
                Some(label) => vec![label.name.clone()],
                None => label_names(&text),
            };
            let names: Vec<&str> = labels.iter().map(String::as_str).collect();
            let estimate = search.estimate(&names).map_err(said)?;
            let all = || search.labels().all().iter().map(|it| it.name.clone());
            let labels = if labels.is_empty() {
                all().collect()
            } else {
                labels
            };
            Ok(Answer::Estimate { labels, estimate })
        }
        Command::Zoom(zooming) => {
            search.set_zooming(zooming);
            Ok(settings(session))
        }
        Command::Cutoff(cutoff) => {
            search.set_cutoff(cutoff).map_err(said)?;
            Ok(settings(session))
        }
        Command::History => {
            let (_, at) = search.history();
            Ok(Answer::History {
                rows: search.history_rows(),
                current: at.checked_sub(1),
            })
        }
        Command::Auto => {
            let waiting = Waiting::new();
            let progress = waiting.progress().with_phase("searching");
            let found = search.automatic(&Options::default(), &progress);
            let found = found.expect("waiting stops nothing");
            drop(waiting);
            search.adopt(&found.suggestions).map_err(said)?;
            let paths: Vec<_> = found.suggestions.iter().map(|it| it.path.clone()).collect();
            search.number(&paths);
            Ok(Answer::Automatic(found))
        }
        Command::Save(path) => {
            session
                .save_labels(&path)
                .map_err(|error| error.to_string())?;
            Ok(Answer::Saved(path))
        }
        Command::Load(path) => {
            let notes = session
                .load_labels(&path)
                .map_err(|error| error.to_string())?;
            Ok(Answer::Loaded(notes))
        }
        Command::Help => Ok(Answer::Help),
        Command::Quit => Ok(Answer::Quit),
    }
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
