//! Labels in files: those that a user names, and those that Fulcrum keeps for each profile.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fulcrum_model::text::counted;
use fulcrum_paths::{Loaded, ProfileIdentity, SavedLabel, SavedLabels, digest};

use crate::error::Error;
use crate::open_search::OpenSearch;

/// Larger label files are refused.
const LIMIT: u64 = 64 << 20;

/// The labels in a file.
///
/// # Errors
/// When the file cannot be read or holds something else.
pub fn read_labels(path: &Path) -> Result<SavedLabels, Error> {
    let cannot = |error: io::Error| Error::io("read", path, &error);
    let size = fs::metadata(path).map_err(cannot)?.len();
    if size > LIMIT {
        let name = path.display();
        return Err(Error::File(format!(
            "{name} has {size} bytes; labels have at most {LIMIT}"
        )));
    }
    let text = fs::read_to_string(path).map_err(cannot)?;
    serde_json::from_str(&text).map_err(|error| {
        let name = path.display();
        Error::File(format!(
            "{name}: {error}; expected labels that `save` wrote"
        ))
    })
}

/// Writes labels. Whenever the writer dies, the file is the old one or the new one. Links stay links, files keep their
/// permissions, and devices and pipes are written to.
///
/// # Errors
/// When it cannot be written.
pub fn write_labels(path: &Path, labels: &SavedLabels) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(labels).expect("labels are plain data") + "\n";
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|it| !it.is_file()) {
        return fs::write(path, text).map_err(|error| Error::io("write", path, &error));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The process id keeps two writers apart; the last rename wins.
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = File::create(&beside)?;
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        Error::io("write", path, &error)
    })
}

impl OpenSearch {
    /// Adds the labels of a file to the search. Returns notes, whole sentences.
    ///
    /// # Errors
    /// When the file holds no labels, or those of a newer version.
    pub fn load_labels(&mut self, path: &Path) -> Result<Vec<String>, Error> {
        let saved = read_labels(path)?;
        let loaded = self.load(&saved);
        let newer = |error| Error::File(format!("{}: {error}", path.display()));
        let loaded = loaded.map_err(newer)?;
        let mut notes = vec![labelled(loaded.restored, "")];
        if loaded.other_profile {
            notes.push("The labels are from another profile.".into());
        }
        notes.extend(absent(&loaded));
        Ok(notes)
    }

    /// Writes all labels.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_labels(&self, path: &Path) -> Result<(), Error> {
        write_labels(path, &self.search.save(self.identity.clone()))
    }
}

fn labelled(paths: usize, how: &str) -> String {
    let paths = counted(paths as u64, "path is", "paths are");
    format!("{paths} labelled{how}.")
}

fn absent(loaded: &Loaded) -> impl Iterator<Item = String> {
    let nameless = (loaded.nameless > 0).then(|| {
        let count = loaded.nameless;
        format!("A label without a name was left out, with its paths: {count}.")
    });
    let absent = loaded.absent.iter().map(|(label, names)| {
        let path = names.join("; ");
        format!("{label:?}: this profile does not have [{path}].")
    });
    nameless.into_iter().chain(absent)
}

/// Labels that are kept for a profile in a workspace: read when it is opened, and written after each change.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    /// Paths that are labelled in the file but that this profile, by its rules for names, does not have. They are written back.
    elsewhere: Vec<SavedLabel>,
}

impl Kept {
    /// Loads the labels that a workspace keeps for the search's profile. Returns notes, whole sentences. A file that cannot be read
    /// is left alone, and a note says so: then nothing is kept.
    pub fn open(workspace: &Path, search: &mut OpenSearch) -> (Option<Kept>, Vec<String>) {
        let path = place(workspace, &search.identity);
        let mut kept = Kept {
            path,
            elsewhere: Vec::new(),
        };
        if !kept.path.exists() {
            return (Some(kept), Vec::new());
        }
        let refused = |error: &dyn std::fmt::Display| {
            vec![format!(
                "Labels are not saved, because the earlier ones cannot be read: {error}."
            )]
        };
        let saved = match read_labels(&kept.path) {
            Ok(saved) => saved,
            Err(error) => return (None, refused(&error)),
        };
        let loaded = match search.load(&saved) {
            Ok(loaded) => loaded,
            Err(error) => return (None, refused(&error)),
        };
        let mut notes = Vec::new();
        if loaded.restored > 0 {
            notes.push(labelled(loaded.restored, " as before"));
        }
        notes.extend(absent(&loaded));
        for (name, path) in loaded.absent {
            match kept.elsewhere.iter_mut().find(|it| it.name == name) {
                Some(label) => label.paths.push(path),
                None => kept.elsewhere.push(SavedLabel {
                    name,
                    paths: vec![path],
                }),
            }
        }
        (Some(kept), notes)
    }

    /// Writes the search's labels. Removes the file when there are none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, search: &OpenSearch) -> Result<(), Error> {
        let mut saved = search.search.save(search.identity.clone());
        for label in &self.elsewhere {
            match saved.labels.iter_mut().find(|it| it.name == label.name) {
                Some(same) => same.paths.extend(label.paths.iter().cloned()),
                None => saved.labels.push(label.clone()),
            }
        }
        if saved.labels.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(Error::io("remove", &self.path, &error))
                }
                _ => Ok(()),
            };
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, &error))?;
        }
        write_labels(&self.path, &saved)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The file for these measurements, wherever their own files are and whichever value type is searched.
fn place(workspace: &Path, identity: &ProfileIdentity) -> PathBuf {
    let mut all = String::new();
    for (side, sources) in [("a", &identity.sources), ("b", &identity.against)] {
        for source in sources {
            all.push_str(&format!("{side}{}\n", source.digest));
        }
    }
    let name = format!("{}.json", digest(all.as_bytes()));
    workspace.join(".fulcrum").join("labels").join(name)
}
