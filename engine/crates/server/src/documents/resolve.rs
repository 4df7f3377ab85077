//! From the file that a profile names to the file in the workspace.
//!
//! A name that exists as it stands is taken. Otherwise the file of the workspace with the longest common suffix of components
//! is taken (`parsec-2.1/pkgs/ferret/src/ferret-parallel.c` fits `src/ferret-parallel.c`). When two fit equally well, neither
//! is, since a result on the wrong file is worse than none.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::documents::canonical;

/// The search gives up after so many directory entries: a workspace can be a whole disk.
const MOST_ENTRIES: usize = 200_000;

/// What a recorded file name stands for here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// This file, with links resolved.
    Found(PathBuf),
    /// No file of the workspace has this name.
    Missing,
    /// These fit equally well.
    Ambiguous(Vec<PathBuf>),
}

impl Resolution {
    /// The file, if there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Resolution::Found(path) => Some(path),
            _ => None,
        }
    }
}

/// Where files are looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The workspace's folders: searched with everything below them.
    pub folders: Vec<PathBuf>,
    /// Folders that relative names may be relative to: the run's working folder, the profile's own.
    pub bases: Vec<PathBuf>,
    /// Files that are open in the editor, in the workspace or not.
    pub open: Vec<PathBuf>,
}

/// Resolves each recorded name, in order. The second value is false when the workspace was too large to search.
pub(crate) fn resolve(recorded: &[&str], places: &Places) -> (Vec<Resolution>, bool) {
    let exact: Vec<Option<PathBuf>> = recorded.iter().map(|name| exact(name, places)).collect();
    let wanted: HashSet<&str> = recorded
        .iter()
        .zip(&exact)
        .filter(|(_, found)| found.is_none())
        .filter_map(|(name, _)| components(name).next_back())
        .collect();
    let (mut by_name, complete) = search(&wanted, &places.folders);
    for path in &places.open {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let known = by_name.entry(name).or_default();
        if !known.contains(path) {
            known.push(path.clone());
        }
    }
    let resolutions = recorded
        .iter()
        .zip(exact)
        .map(|(name, exact)| match exact {
            Some(path) => Resolution::Found(path),
            None => best(name, &by_name),
        })
        .collect();
    (resolutions, complete)
}

fn exact(name: &str, places: &Places) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.is_absolute() {
        return path.is_file().then(|| canonical(path));
    }
    places
        .bases
        .iter()
        .chain(&places.folders)
        .map(|base| base.join(path))
        .find(|path| path.is_file())
        .map(|path| canonical(&path))
}

fn best(name: &str, by_name: &HashMap<String, Vec<PathBuf>>) -> Resolution {
    let base = components(name).next_back().unwrap_or_default();
    let candidates = by_name.get(base).map_or(&[][..], Vec::as_slice);
    let score = |path: &PathBuf| common_suffix(name, &path.to_string_lossy());
    let top = candidates.iter().map(score).max().unwrap_or(0);
    let mut fitting: Vec<_> = candidates
        .iter()
        .filter(|path| score(path) == top)
        .cloned()
        .collect();
    fitting.sort();
    match fitting.as_slice() {
        [] => Resolution::Missing,
        [only] => Resolution::Found(only.clone()),
        _ => Resolution::Ambiguous(fitting),
    }
}

/// How many components two names share at their ends.
pub(crate) fn common_suffix(a: &str, b: &str) -> usize {
    components(a)
        .rev()
        .zip(components(b).rev())
        .take_while(|(a, b)| a == b)
        .count()
}

fn components(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".")
}

/// The files below the folders that have one of these names.
fn search(wanted: &HashSet<&str>, folders: &[PathBuf]) -> (HashMap<String, Vec<PathBuf>>, bool) {
    let mut found: HashMap<String, Vec<PathBuf>> = HashMap::new();
    if wanted.is_empty() {
        return (found, true);
    }
    let mut seen = 0;
    let mut queue: std::collections::VecDeque<PathBuf> = folders.iter().cloned().collect();
    while let Some(folder) = queue.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return (found, false);
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                // Hidden folders hold no source: .git, .cache, .fulcrum with its snapshots.
                if !name.starts_with('.') && name != "node_modules" {
                    queue.push_back(entry.path());
                }
            } else if wanted.contains(name.as_str()) && entry.path().is_file() {
                let path = canonical(&entry.path());
                let known = found.entry(name).or_default();
                if !known.contains(&path) {
                    known.push(path);
                }
            }
        }
    }
    (found, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files, the recorded name, and what it stands for (`-` missing, `?` ambiguous).
    fn check(files: &[&str], recorded: &str, expect: &str) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = canonical(folder.path());
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        let recorded = recorded.replace("ROOT", &root.to_string_lossy());
        let places = Places {
            folders: vec![root.clone()],
            ..Places::default()
        };
        let (resolutions, complete) = resolve(&[&recorded], &places);
        assert!(complete);
        let got = match &resolutions[0] {
            Resolution::Found(path) => path
                .strip_prefix(&root)
                .expect("below the root")
                .to_string_lossy()
                .into_owned(),
            Resolution::Missing => "-".into(),
            Resolution::Ambiguous(_) => "?".into(),
        };
        assert_eq!(got, expect, "{recorded} in {files:?}");
    }

    #[test]
    fn recorded_names_find_their_files() {
        check(&["a.c"], "ROOT/a.c", "a.c");
        check(&["src/a.c"], "src/a.c", "src/a.c");
        check(&["src/a.c"], "./src/a.c", "src/a.c");
        check(&["src/a.c"], "/build/elsewhere/src/a.c", "src/a.c");
        check(
            &["ferret/src/x.c", "x.c"],
            "parsec-2.1/pkgs/ferret/src/x.c",
            "ferret/src/x.c",
        );
        check(&["b/x.c"], "C:\\work\\b\\x.c", "b/x.c");
        check(&["a/x.c", "b/x.c"], "/other/x.c", "?");
        check(&["a/x.c", "b/x.c"], "/other/b/x.c", "b/x.c");
        check(&["x.cpp"], "x.c", "-");
        check(&[".fulcrum/runs/r/x.c", "node_modules/x.c"], "x.c", "-");
    }

    #[test]
    fn an_open_file_outside_the_workspace_counts() {
        let places = Places {
            open: vec!["/far/away/x.c".into()],
            ..Places::default()
        };
        let (resolutions, _) = resolve(&["/gone/x.c"], &places);
        assert_eq!(resolutions, [Resolution::Found("/far/away/x.c".into())]);
    }
}
