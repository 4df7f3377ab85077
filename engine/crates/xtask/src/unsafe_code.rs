//! Checks that each crate either forbids unsafe code or is listed in the document with the reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::arrows::manifests;

const DOCUMENT: &str = "docs/architecture.md";
/// How the list's table begins.
const HEADING: &str = "| crate with unsafe code |";
const FORBIDS: &str = "#![forbid(unsafe_code)]";

/// Compares the list with the crates. Returns one sentence for each difference.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let read = || -> Result<Vec<String>, String> {
        let document = fs::read_to_string(root.join(DOCUMENT))
            .map_err(|error| format!("cannot read {DOCUMENT}: {error}."))?;
        let listed = listed(&document);
        let crates = manifests(root)?;
        let mut problems = Vec::new();
        for name in crates.keys() {
            let forbids = forbids(&root.join("engine/crates").join(name).join("src"))?;
            problems.extend(problem(name, forbids, listed.contains(name.as_str())));
        }
        let gone = listed.iter().filter(|name| !crates.contains_key(**name));
        problems.extend(gone.map(|name| {
            format!("{DOCUMENT} lists {name} among the crates with unsafe code, but there is no such crate: remove it.")
        }));
        Ok(problems)
    };
    read().unwrap_or_else(|problem| vec![problem])
}

fn problem(name: &str, forbids: bool, listed: bool) -> Option<String> {
    match (forbids, listed) {
        (false, false) => Some(format!(
            "engine/crates/{name} does not say {FORBIDS}: add that line, or say in the list of {DOCUMENT} what needs unsafe code in it."
        )),
        (true, true) => Some(format!(
            "{DOCUMENT} lists {name} among the crates with unsafe code, but it forbids that: remove it."
        )),
        _ => None,
    }
}

/// The names in the first column of the table.
fn listed(document: &str) -> BTreeSet<&str> {
    let rows = document
        .lines()
        .skip_while(|line| !line.starts_with(HEADING))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| row.split('`').nth(1)).collect()
}

/// Whether each root of a crate forbids unsafe code.
fn forbids(source: &Path) -> Result<bool, String> {
    let roots = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let mut all = true;
    for root in roots.iter().filter(|root| root.is_file()) {
        let text = fs::read_to_string(root)
            .map_err(|error| format!("cannot read {}: {error}.", root.display()))?;
        all &= text.lines().any(|line| line == FORBIDS);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unlisted_crate_and_a_needlessly_listed_one_are_reported() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
            fs::write(file, text).expect("written");
        };
        write(
            DOCUMENT,
            "| crate with unsafe code | why |\n| --- | --- |\n| `b` | maps files |\n| `c` | none |\n| `d` | gone |\n\n| `a` | |\n",
        );
        for (name, text) in [
            ("a", "mod x;\n"),
            ("b", "mod x;\n"),
            ("c", "#![forbid(unsafe_code)]\n"),
        ] {
            write(&format!("engine/crates/{name}/Cargo.toml"), "");
            write(&format!("engine/crates/{name}/src/lib.rs"), text);
        }
        let found = check(root.path());
        let expected = [
            "engine/crates/a does not say",
            "lists c among the crates",
            "lists d among the crates",
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (problem, expect) in found.iter().zip(expected) {
            assert!(problem.contains(expect), "{problem}");
        }
    }

    #[test]
    fn this_repository_keeps_its_list() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(check(&root), Vec::<String>::new());
    }
}
