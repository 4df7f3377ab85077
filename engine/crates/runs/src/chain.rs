//! Runs that continue earlier ones of the same build: their recordings are read as one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{Manifest, RunFolder, store};

/// The option of a manifest that names the run it continues: a folder of the same store.
pub const CONTINUES: &str = "continues";

/// The recordings of a run, those of the runs that it continues first.
pub(crate) struct Parts {
    /// Files `causal-*.jsonl`.
    pub files: Vec<PathBuf>,
    /// Whole sentences.
    pub notes: Vec<String>,
}

/// Looks for the runs that a run continues, and for their recordings.
pub(crate) fn parts(folder: &Path, manifest: Option<&Manifest>) -> Parts {
    let mut files = vec![store::recordings(folder)];
    let mut notes = Vec::new();
    let mut seen = BTreeSet::from([folder.to_path_buf()]);
    let mut at = manifest.cloned();
    while let Some((path, name)) = at.as_ref().and_then(|it| before(folder, it)) {
        let digest = at.and_then(|it| it.program_digest);
        let earlier = RunFolder::open(&path).and_then(|it| it.read_manifest());
        at = match earlier {
            Ok(earlier) if earlier.program_digest == digest && seen.insert(path.clone()) => {
                files.push(store::recordings(&path));
                Some(earlier)
            }
            Ok(_) => {
                notes.push(format!(
                    "The run {name}, which this one continues, is of another build, so it does not count."
                ));
                None
            }
            Err(_) => {
                notes.push(format!(
                    "The run {name}, which this one continues, is gone: only what was recorded since counts."
                ));
                None
            }
        };
    }
    let earlier = files.len() - 1;
    if earlier > 0 {
        let (what, their) = match earlier {
            1 => ("an earlier run".to_owned(), "its"),
            n => (format!("{n} earlier runs"), "their"),
        };
        notes.push(format!(
            "This run continues {what} of the same build: {their} experiments count, too."
        ));
    }
    Parts {
        files: files.into_iter().rev().flatten().collect(),
        notes,
    }
}

/// The folder and name of the run that a run continues. A manifest must not reach outside its store.
fn before(folder: &Path, manifest: &Manifest) -> Option<(PathBuf, String)> {
    let name = manifest.options.get(CONTINUES)?.as_str()?;
    let is_name = !name.is_empty() && !name.contains(['/', '\\']) && name != "..";
    is_name.then(|| (folder.with_file_name(name), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn run(store: &Path, name: &str, digest: &str, continues: Option<&str>) -> Manifest {
        let folder = store.join(name);
        fs::create_dir_all(&folder).expect("a writable folder");
        fs::write(folder.join("causal-1-0.jsonl"), "{}\n").expect("a writable folder");
        let mut manifest = Manifest {
            program_digest: Some(digest.into()),
            ..Manifest::default()
        };
        if let Some(earlier) = continues {
            manifest.options.insert(CONTINUES.into(), earlier.into());
        }
        fs::write(folder.join("run.json"), manifest.to_json()).expect("a writable folder");
        manifest
    }

    fn names(parts: &Parts) -> Vec<String> {
        let folder = |file: &PathBuf| file.parent()?.file_name()?.to_str().map(str::to_owned);
        parts.files.iter().filter_map(folder).collect()
    }

    #[test]
    fn earlier_runs_of_the_same_build_come_first() {
        let store = tempfile::tempdir().expect("a folder");
        let store = store.path();
        run(store, "a", "x", None);
        run(store, "b", "x", Some("a"));
        let last = run(store, "c", "x", Some("b"));
        let all = parts(&store.join("c"), Some(&last));
        assert_eq!(names(&all), ["a", "b", "c"]);
        assert_eq!(
            all.notes,
            ["This run continues 2 earlier runs of the same build: their experiments count, too."]
        );
    }

    #[test]
    fn other_builds_missing_runs_and_circles_end_the_search() {
        let store = tempfile::tempdir().expect("a folder");
        let store = store.path();
        run(store, "other", "y", None);
        let circle = run(store, "circle", "x", Some("circle"));
        for (name, continues, count, note) in [
            ("b", "other", 1, "is of another build"),
            ("c", "gone", 1, "is gone"),
            ("d", "../store", 1, ""),
            ("e", "circle", 2, "is of another build"),
        ] {
            let manifest = run(store, name, "x", Some(continues));
            let all = parts(&store.join(name), Some(&manifest));
            assert_eq!(all.files.len(), count, "{continues}");
            assert!(all.notes.concat().contains(note), "{:?}", all.notes);
        }
        assert_eq!(parts(&store.join("circle"), Some(&circle)).files.len(), 1);
        assert_eq!(parts(&store.join("other"), None).files.len(), 1);
    }
}
