//! Checks that libraries loaded into other people's programs link almost nothing: each dependency costs these programs memory
//! and start-up time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::arrows::{PREFIX, dependencies, manifests};

/// Our crates that are loaded into profiled programs.
const INJECTED: &[&str] = &[
    "runtime",
    "transaction-runtime",
    "native-agent",
    "jvm-agent",
];

/// The third-party packages that they may link, directly or not.
const MAY_LINK: &[&str] = &[
    "libc",
    // The event log.
    "memmap2",
    // Functions' names: `fulcrum-names`.
    "cfg-if",
    "cpp_demangle",
    "memchr",
    "object",
    "rustc-demangle",
    // Random numbers and the functions of distributions: `fulcrum-stats`.
    "libm",
    "special",
];

/// What they may link through one other package only.
const MAY_LINK_THROUGH: &[(&str, &str)] = &[
    // A disassembler: critical sections run from copies of their instructions.
    ("fulcrum-critical-sections", "iced-x86"),
    ("iced-x86", "lazy_static"),
];

/// Optional dependencies that are switched off there, but in the lock file nevertheless.
const OFF: &[(&str, &str)] = &[
    // Compressed sections of debug information, for `fulcrum-symbols`.
    ("object", "flate2"),
    ("object", "ruzstd"),
    // Elliptic integrals and Lambert's W, which we do not use.
    ("special", "ellip"),
    ("special", "lambert_w"),
];

/// Reads the manifests and `Cargo.lock`. Returns one sentence for each package that must not be linked.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let manifests = match manifests(root) {
        Ok(manifests) => manifests,
        Err(problem) => return vec![problem],
    };
    match fs::read_to_string(root.join("engine/Cargo.lock")) {
        Ok(lock) => problems(&manifests, &lock),
        Err(error) => vec![format!("cannot read engine/Cargo.lock: {error}.")],
    }
}

fn problems(manifests: &BTreeMap<String, String>, lock: &str) -> Vec<String> {
    let packages = packages(lock);
    let mut problems = Vec::new();
    for injected in INJECTED {
        let first = format!("{PREFIX}{injected}");
        let mut seen = BTreeSet::from([first.clone()]);
        let mut ways = vec![vec![first]];
        while let Some(way) = ways.pop() {
            let last = &way[way.len() - 1];
            for next in linked(last, manifests, &packages) {
                if !seen.insert(next.clone()) {
                    continue;
                }
                let way = [&way[..], std::slice::from_ref(&next)].concat();
                let link = (name(last), name(&next));
                let name = link.1;
                if name.starts_with(PREFIX)
                    || MAY_LINK.contains(&name)
                    || MAY_LINK_THROUGH.contains(&link)
                {
                    ways.push(way);
                } else {
                    problems.push(format!(
                        "{PREFIX}{injected} is loaded into other people's programs and links {name} ({}): do without it, or \
                         say in engine/crates/xtask/src/injected.rs why it may.",
                        way.join(" → ")
                    ));
                }
            }
        }
    }
    problems
}

/// What a package links, as the lock file names it; for our own packages, without what only their tests need.
fn linked(
    package: &str,
    manifests: &BTreeMap<String, String>,
    packages: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let own = name(package)
        .strip_prefix(PREFIX)
        .and_then(|folder| manifests.get(folder))
        .map(|manifest| dependencies(manifest));
    let all = packages.get(package).into_iter().flatten();
    all.filter(|next| own.as_ref().is_none_or(|own| own.contains(name(next))))
        .filter(|next| !OFF.contains(&(name(package), name(next))))
        .cloned()
        .collect()
}

/// The name without the version, which follows when the lock file has several.
fn name(package: &str) -> &str {
    package.split(' ').next().unwrap_or(package)
}

/// The dependencies of each package of a lock file: under its name, and under its name and version.
fn packages(lock: &str) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for block in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let mut lines = block.lines();
            let text = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            text.unwrap_or("").trim_matches('"')
        };
        let all = block.lines().filter_map(|line| line.strip_prefix(" \""));
        let all: Vec<String> = all
            .map(|line| line.trim_end_matches(['"', ',']).to_owned())
            .collect();
        found.insert(
            format!("{} {}", value("name"), value("version")),
            all.clone(),
        );
        found.insert(value("name").to_owned(), all);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"version = 4

[[package]]
name = "fulcrum-runtime"
version = "0.1.0"
dependencies = [
 "fulcrum-names",
 "libc",
 "serde_json",
]

[[package]]
name = "fulcrum-names"
version = "0.1.0"
dependencies = [
 "object 0.39.1",
]

[[package]]
name = "libc"
version = "0.2.1"

[[package]]
name = "object"
version = "0.39.1"
dependencies = [
 "flate2",
 "gimli",
]

[[package]]
name = "object"
version = "0.40.0"
dependencies = [
 "surprise",
]
"#;

    #[test]
    fn an_indirect_dependency_is_found_with_its_path() {
        let runtime = "[dependencies]\nfulcrum-names.workspace = true\nlibc = \"0.2\"\n\
                       [dev-dependencies]\nserde_json.workspace = true\n";
        let names = "[dependencies]\nobject = { workspace = true, features = [\"elf\"] }\n";
        let manifests = BTreeMap::from([
            ("runtime".to_owned(), runtime.to_owned()),
            ("names".to_owned(), names.to_owned()),
        ]);
        let found = problems(&manifests, LOCK);
        assert_eq!(found.len(), 1, "{found:?}");
        let way = "links gimli (fulcrum-runtime → fulcrum-names → object 0.39.1 → gimli)";
        assert!(found[0].contains(way), "{found:?}");
    }

    #[test]
    fn this_repository_keeps_to_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(super::check(&root), Vec::<String>::new());
    }
}
