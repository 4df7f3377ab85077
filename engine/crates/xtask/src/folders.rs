//! A folder holds one subject: at most fifteen files, unless all of them are of one kind.
//!
//! Only files directly in a folder count, because a folder within it is a subject of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::arrows::manifests;

/// The most files that a folder may have.
const MOST_FILES: usize = 15;

/// Folders with more files, all of one kind, and what kind that is.
const ONE_KIND: &[(&str, &str)] = &[
    (
        "engine/crates/profile-formats/src/formats",
        "each file reads one profile format",
    ),
    (
        "engine/crates/server/src/tests",
        "each file tests one subject of the protocol",
    ),
];

/// Counts the files in the folders of each crate's `src` and of the extension. Returns one sentence for each problem.
pub(crate) fn check(root: &Path) -> Vec<String> {
    problems(root, ONE_KIND)
}

fn problems(root: &Path, one_kind: &[(&str, &str)]) -> Vec<String> {
    let crowded = match crowded_folders(root) {
        Ok(crowded) => crowded,
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    for (folder, count) in &crowded {
        if !one_kind.iter().any(|(listed, _)| listed == folder) {
            problems.push(format!(
                "{folder} has {count} files, more than {MOST_FILES}: group them in folders by subject; if all are of one kind, \
                 say which in engine/crates/xtask/src/folders.rs."
            ));
        }
    }
    for (listed, kind) in one_kind {
        if !crowded.iter().any(|(folder, _)| folder == listed) {
            problems.push(format!(
                "engine/crates/xtask/src/folders.rs excepts {listed} ({kind}), which has no more than {MOST_FILES} files: remove \
                 the exception."
            ));
        }
    }
    problems
}

/// The folders with more than [`MOST_FILES`] files, relative to `root`, and their numbers of files.
fn crowded_folders(root: &Path) -> Result<Vec<(String, usize)>, String> {
    let mut tops: Vec<PathBuf> = manifests(root)?
        .into_keys()
        .map(|name| root.join("engine/crates").join(name).join("src"))
        .collect();
    tops.push(root.join("extension"));
    let mut crowded = Vec::new();
    for top in tops.iter().filter(|top| top.is_dir()) {
        count_files(top, root, &mut crowded)
            .map_err(|error| format!("cannot read the folders of {}: {error}.", top.display()))?;
    }
    crowded.sort_unstable();
    Ok(crowded)
}

fn count_files(folder: &Path, root: &Path, crowded: &mut Vec<(String, usize)>) -> io::Result<()> {
    let mut files = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.is_dir() {
            files += 1;
        } else if !path.ends_with("node_modules") {
            count_files(&path, root, crowded)?;
        }
    }
    if files > MOST_FILES {
        let name = folder.strip_prefix(root).unwrap_or(folder);
        crowded.push((name.to_string_lossy().into_owned(), files));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with so many files in each of these folders.
    fn repository(folders: &[(&str, usize)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (folder, count) in folders {
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).expect("folders");
            for number in 0..*count {
                fs::write(folder.join(format!("{number}.rs")), "").expect("written");
            }
        }
        for entry in fs::read_dir(root.path().join("engine/crates")).expect("the crates") {
            fs::write(entry.expect("a crate").path().join("Cargo.toml"), "").expect("written");
        }
        root
    }

    #[test]
    fn a_crowded_folder_is_a_problem_wherever_it_is() {
        let root = repository(&[
            ("engine/crates/a/src", 15),
            ("engine/crates/a/src/inner", 16),
            ("engine/crates/b/src", 17),
            ("engine/crates/b/tests/it", 30),
            ("extension/features", 20),
        ]);
        let found = problems(root.path(), &[]);
        assert_eq!(found.len(), 3, "{found:?}");
        for (problem, expected) in found.iter().zip([
            "engine/crates/a/src/inner has 16 files",
            "engine/crates/b/src has 17 files",
            "extension/features has 20 files",
        ]) {
            assert!(problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn an_exception_holds_while_its_folder_is_crowded() {
        let root = repository(&[("engine/crates/a/src", 16), ("engine/crates/b/src", 3)]);
        let crowded = ("engine/crates/a/src", "each file reads one format");
        let small = ("engine/crates/b/src", "each file answers one request");
        assert_eq!(problems(root.path(), &[crowded]), Vec::<String>::new());
        let found = problems(root.path(), &[crowded, small]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("excepts engine/crates/b/src (each file answers one request)"),
            "{found:?}"
        );
    }

    #[test]
    fn this_repository_has_no_crowded_folders() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(check(&root), Vec::<String>::new());
    }
}
