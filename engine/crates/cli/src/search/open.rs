//! Files to something that can be searched.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_ingest::profile;
use fulcrum_paths::{
    AnyProfile, Calls, Normalisation, Opened, ProfileIdentity, SavedLabels, Search, Source,
    SourceIdentity,
};

use super::args::ProfileFiles;
use crate::outcome::Failure;

/// A profile, open for searching.
pub struct Session {
    /// The search.
    pub search: Search<AnyProfile>,
    /// What tells the profile apart.
    pub identity: ProfileIdentity,
    /// What a reader should know about the files. Whole sentences.
    pub notes: Vec<String>,
}

/// Opens what the arguments name.
pub fn open(files: &ProfileFiles) -> Result<Session, Failure> {
    let mut notes = Vec::new();
    let mut read = |paths: &[PathBuf]| -> Result<Vec<Source>, Failure> {
        paths.iter().map(|path| source(path, &mut notes)).collect()
    };
    let (a, b) = (read(&files.files)?, read(&files.against)?);
    let value = files.value.as_deref();
    let normalisation = files.normalise.unwrap_or(Normalisation::None);
    let opened = fulcrum_paths::open(a, b, value, normalisation);
    let Opened {
        profile, identity, ..
    } = opened.map_err(|error| Failure::BadInput(format!("{error}.")))?;
    Ok(Session {
        search: Search::new(profile),
        identity,
        notes,
    })
}

fn source(path: &Path, notes: &mut Vec<String>) -> Result<Source, Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| cannot("read", path, &error))?;
    let read = profile::read(&bytes, &name);
    let read = read.map_err(|error| Failure::BadInput(error.to_string()))?;
    notes.extend(read.notes.iter().map(|note| format!("{name}: {note}")));
    Ok(Source {
        identity: SourceIdentity {
            digest: fulcrum_paths::digest(&bytes),
            file: file_name(path),
        },
        default_value: read.default_value,
        calls: match read.calls {
            profile::Calls::Tree(tree) => Calls::Tree(Arc::new(tree)),
            profile::Calls::Graphs(graphs) => Calls::Graphs(graphs),
        },
    })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::BadInput(format!("cannot {what} {}: {error}", path.display()))
}

/// Adds the labels of a file to the search; sentences about what is odd.
pub fn load_labels(session: &mut Session, path: &Path) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
    let saved: SavedLabels = serde_json::from_str(&text).map_err(|error| {
        let problem = format!(
            "{}: {error}; expected labels that `save` wrote",
            path.display()
        );
        Failure::BadInput(problem)
    })?;
    let loaded = session.search.load(&saved, &session.identity);
    let loaded =
        loaded.map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())))?;
    let mut notes = vec![format!("{} paths are labelled.", loaded.restored)];
    if loaded.other_profile {
        notes.push("The labels were given in another profile.".into());
    }
    for (label, names) in loaded.absent {
        notes.push(format!(
            "{label:?}: this profile does not have [{}].",
            names.join("; ")
        ));
    }
    Ok(notes)
}

/// Writes all labels.
pub fn save_labels(session: &Session, path: &Path) -> Result<(), Failure> {
    let saved = session.search.save(session.identity.clone());
    let json = serde_json::to_string_pretty(&saved).expect("labels are plain data");
    fs::write(path, json + "\n").map_err(|error| cannot("write", path, &error))
}
