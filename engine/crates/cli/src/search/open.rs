//! Opens files for a search.

use fulcrum_paths::Normalisation;
use fulcrum_profiles::{Files, OpenSearch};

use std::path::Path;

use super::args::ProfileFiles;
use super::waiting::Waiting;
use crate::outcome::Failure;
use crate::terminal;

/// Opens what the arguments name.
pub(crate) fn open(files: &ProfileFiles) -> Result<OpenSearch, Failure> {
    let from_stdin = files.all().filter(|path| path.as_os_str() == "-");
    if from_stdin.count() > 1 {
        return Err(Failure::Usage(
            "standard input can be only one profile: give files for the others".into(),
        ));
    }
    let files = Files {
        files: files.files.clone(),
        against: files.against.clone(),
        value: files.value.clone(),
        normalisation: files.normalise.unwrap_or(Normalisation::None),
        rules: files.names.0.clone(),
        limits: files.max_size.unwrap_or_default(),
    };
    let waiting = Waiting::new();
    Ok(OpenSearch::open(&files, &waiting.progress())?)
}

/// The same, with the labels of a file. Prints the notes on both.
pub(crate) fn open_labelled(
    files: &ProfileFiles,
    labels: Option<&Path>,
) -> Result<OpenSearch, Failure> {
    let mut session = open(files)?;
    for note in &session.notes {
        terminal::say(note);
    }
    if let Some(path) = labels {
        for note in session.load_labels(path)? {
            terminal::say(&note);
        }
    }
    Ok(session)
}
