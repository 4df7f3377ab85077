//! Checks that what documents say about the code exists: the files that `architecture.md` names, and the messages that
//! `troubleshooting.md` quotes.

use std::path::{Path, PathBuf};
use std::{fs, io};

const ARCHITECTURE: &str = "docs/architecture.md";
const TROUBLESHOOTING: &str = "docs/troubleshooting.md";
/// Where the named files and the messages are.
const SOURCES: [&str; 4] = ["engine/crates", "extension", "scripts", "test"];
/// Stands for what a quoted message omits.
const LEFT_OUT: char = '…';

/// Compares the documents with the code. Returns one sentence for each thing that does not exist.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let read = || -> io::Result<[Vec<String>; 2]> {
        let mut files = Vec::new();
        for folder in SOURCES {
            list(&root.join(folder), &mut files)?;
        }
        let map = fs::read_to_string(root.join(ARCHITECTURE))?;
        let messages = fs::read_to_string(root.join(TROUBLESHOOTING))?;
        Ok([
            absent_files(&map, &files),
            absent_messages(&messages, &text_of(&files)?),
        ])
    };
    match read() {
        Ok(problems) => problems.concat(),
        Err(error) => vec![format!("cannot compare the documents: {error}.")],
    }
}

/// All files below a folder, except built and installed ones.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.is_dir() {
            files.push(path);
        } else if !path.ends_with("node_modules") && !path.ends_with("target") {
            list(&path, files)?;
        }
    }
    Ok(())
}

/// The sources of the engine and the extension as one text: without line ends, and without Rust's continued lines.
fn text_of(files: &[PathBuf]) -> io::Result<String> {
    let is_source = |it: &&PathBuf| it.extension().is_some_and(|it| it == "rs" || it == "ts");
    let mut all = String::new();
    for file in files.iter().filter(is_source) {
        for line in fs::read_to_string(file)?.lines() {
            let line = line.trim_start();
            match line.strip_suffix('\\') {
                Some(continued) => all += continued,
                None => {
                    all += line;
                    all.push(' ');
                }
            }
        }
    }
    Ok(all)
}

/// Everything between single backticks on one line.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The files that a document names and that do not exist. A path such as `recorder/session.rs` may omit the crate's `src`.
fn absent_files(document: &str, files: &[PathBuf]) -> Vec<String> {
    let parts = |path: &Path| -> Vec<String> {
        let names = path.iter().map(|it| it.to_string_lossy().into_owned());
        names.filter(|it| it != "src").collect()
    };
    let known: Vec<Vec<String>> = files.iter().map(|file| parts(file)).collect();
    let is_file = |name: &&str| {
        [".rs", ".ts", ".mjs"].iter().any(|it| name.ends_with(it)) && !name.contains(' ')
    };
    let named = document.lines().flat_map(code_spans).filter(is_file);
    named
        .filter(|name| {
            let wanted = parts(Path::new(name));
            !known.iter().any(|it| it.ends_with(&wanted))
        })
        .map(|name| format!("{ARCHITECTURE} names {name}, which does not exist: correct it."))
        .collect()
}

/// The messages in the first columns of tables headed *message* that are in no source.
fn absent_messages(document: &str, sources: &str) -> Vec<String> {
    let mut in_table = false;
    let mut absent = Vec::new();
    for line in document.lines() {
        in_table = line.starts_with("| message |") || (in_table && line.starts_with('|'));
        if !in_table {
            continue;
        }
        let first = line.split(" | ").next().unwrap_or_default();
        for message in code_spans(first) {
            let known = message
                .split(LEFT_OUT)
                .all(|part| sources.contains(part.trim()));
            if !known {
                absent.push(format!(
                    "{TROUBLESHOOTING} quotes {message:?}, which is in no source: correct it."
                ));
            }
        }
    }
    absent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_reported() {
        let files = [PathBuf::from("/w/engine/crates/recorder/src/session.rs")];
        let document =
            "See `recorder/session.rs`, `recorder/src/session.rs`, `session.rs` and `npm start`.";
        assert_eq!(absent_files(document, &files), Vec::<String>::new());
        for gone in ["gone.rs", "runs/session.rs"] {
            let problems = absent_files(&format!("`{gone}`"), &files);
            assert!(
                problems.len() == 1 && problems[0].contains(gone),
                "{problems:?}"
            );
        }
    }

    #[test]
    fn a_message_that_no_longer_exists_is_reported() {
        let document = "| message | what to do |\n| --- | --- |\n| `cannot read …: it is empty` | `fill it` |\n\n`not a message`\n";
        let said = "format!(\"cannot read {}: it is empty\")";
        assert_eq!(absent_messages(document, said), Vec::<String>::new());
        let problems = absent_messages(document, "\"cannot read it\"");
        assert!(
            problems.len() == 1 && problems[0].contains("it is empty"),
            "{problems:?}"
        );
    }

    #[test]
    fn the_documents_of_this_repository_say_what_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(check(&root), Vec::<String>::new());
    }
}
