//! Generates the protocol's TypeScript types, and checks the hash that ties its document to its code.

use std::path::{Path, PathBuf};
use std::{fs, io};

const TYPESCRIPT: &str = "extension/protocol.gen.ts";
const DOCUMENT: &str = "docs/protocol.md";
const SOURCE: &str = "engine/crates/schema/src";
const MARKER: &str = "<!-- protocol hash: ";

/// Writes the generated files. Returns one sentence for each failure.
pub(crate) fn write(root: &Path) -> Vec<String> {
    let path = root.join(TYPESCRIPT);
    match fs::write(&path, fulcrum_schema::typescript()) {
        Ok(()) => Vec::new(),
        Err(error) => vec![format!(
            "cannot write {TYPESCRIPT}: {error}; check that the folder exists."
        )],
    }
}

/// Compares the generated file and the document's hash with the code.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let read = |name: &str| {
        fs::read_to_string(root.join(name)).map_err(|error| format!("cannot read {name}: {error}."))
    };
    let typescript = read(TYPESCRIPT).and_then(|text| {
        (text == fulcrum_schema::typescript()).then_some(()).ok_or_else(|| {
            format!("{TYPESCRIPT} does not match {SOURCE}: run `cargo run -p fulcrum-xtask -- codegen`.")
        })
    });
    let source =
        types(&root.join(SOURCE)).map_err(|error| format!("cannot read {SOURCE}: {error}."));
    let hash = source.and_then(|source| compare(&source, &read(DOCUMENT)?));
    [typescript, hash]
        .into_iter()
        .filter_map(Result::err)
        .collect()
}

/// The text of all files that declare types, in the order of their names.
fn types(folder: &Path) -> io::Result<String> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            text += &types(&path)?;
        } else if name != "typescript.rs" && name != "tests.rs" {
            text += &fs::read_to_string(&path)?;
        }
    }
    Ok(text)
}

fn compare(source: &str, document: &str) -> Result<(), String> {
    let found = document
        .split_once(MARKER)
        .and_then(|(_, rest)| rest.split_once(" -->"));
    let Some((found, _)) = found else {
        return Err(format!(
            "{DOCUMENT} has no line {MARKER}… -->: put it back."
        ));
    };
    let expected = hash(source);
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "{SOURCE} changed: check whether {DOCUMENT} is still correct, then change its hash from {found} to {expected}."
    ))
}

/// FNV-1a, 64 bits: short, and the same on every machine.
fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // The reference values of the algorithm's authors.
        for (text, expect) in [
            ("", "cbf29ce484222325"),
            ("a", "af63dc4c8601ec8c"),
            ("foobar", "85944171f73967e8"),
        ] {
            assert_eq!(hash(text), expect, "{text:?}");
        }
    }

    #[test]
    fn changed_code_fails_until_the_hash_is_updated() {
        let document = format!("# P\n{MARKER}{} -->\n", hash("one"));
        assert_eq!(compare("one", &document), Ok(()));
        let problem = compare("two", &document).expect_err("the code has changed");
        assert!(problem.contains(&hash("two")), "{problem}");
        assert!(compare("one", "# P\n").is_err());
    }

    #[test]
    fn this_repository_is_as_generated() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(check(&root), Vec::<String>::new());
    }
}
