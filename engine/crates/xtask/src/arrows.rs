//! Checks that each crate imports only what it may: imports go one way.
//!
//! Manifests are read by hand. `toml` 1.2 (seven packages) and `cargo_metadata` 0.23 (seventeen) would be compiled before every check,
//! to answer one question about our own files: which dependencies they name. The tests have the forms that cargo accepts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Which of our crates each crate may import. A crate must be listed here before it imports any.
const ALLOWED: &[(&str, &[&str])] = &[
    // Intervals, distributions and random numbers, for everybody: also for the runtime.
    ("stats", &[]),
    // Where hundreds of megabytes lie, and when they are given back.
    ("memory", &[]),
    // A causal profile's numbers have intervals, of which there is one type.
    ("model", &["stats", "memory"]),
    ("wire", &[]),
    // Every answer that leaves the engine, as types: it knows nothing of what they are made from.
    ("schema", &[]),
    // What the runtime writes, it reads.
    ("causal-records", &["wire", "model"]),
    // To tell who drops a causal profile on a reader of profiles what it is.
    ("profile-formats", &["model", "causal-records"]),
    // What a hotspot is: for the agents and for readers of their logs.
    ("hotspot", &[]),
    // The filter language: for the agents and for readers of their logs.
    ("filter", &[]),
    ("events", &["wire", "stats", "model", "hotspot", "filter"]),
    // Arrow and Parquet take long to compile: what needs no tables of events does not wait for them.
    ("event-tables", &["events"]),
    ("causal", &["model", "stats"]),
    ("paths", &["model", "stats", "memory"]),
    // What flows through shared memory is found in profiled programs.
    ("shared-memory", &[]),
    ("transactions", &["model", "stats", "shared-memory"]),
    ("transaction-records", &["wire", "model", "transactions"]),
    ("source", &["model"]),
    // Functions' names: for the agents too.
    ("names", &[]),
    ("symbols", &["model", "names"]),
    ("runs", &["model", "causal-records"]),
    (
        "profiles",
        &[
            "memory",
            "model",
            "profile-formats",
            "paths",
            "names",
            "symbols",
            "transactions",
            "transaction-records",
        ],
    ),
    // The engine's types and the schema's meet here, for the command line and the server alike.
    (
        "answers",
        &[
            "model",
            "causal",
            "paths",
            "events",
            "runs",
            "schema",
            "transactions",
            "transaction-records",
        ],
    ),
    // Profiles for benchmarks and tests.
    ("synthetic", &["model", "profile-formats", "stats"]),
    // They run inside other people's processes.
    ("preload", &[]),
    // Tells what threads do in the terms of the pure part.
    ("critical-sections", &["preload", "shared-memory"]),
    ("runtime-core", &["wire", "stats"]),
    // Callers by a table: in profiled programs, and in the engine on copies of their stacks.
    ("unwind", &["wire"]),
    (
        "runtime",
        &["wire", "stats", "preload", "runtime-core", "unwind"],
    ),
    // Class files, and the functions of a virtual machine: for the agent and for transactional profiling.
    ("jvm-core", &[]),
    ("jvm-interface", &[]),
    (
        "transaction-runtime",
        &[
            "wire",
            "preload",
            "unwind",
            "shared-memory",
            "critical-sections",
            "jvm-core",
            "jvm-interface",
        ],
    ),
    ("event-log", &["wire", "preload"]),
    // What the agents share.
    (
        "agent-core",
        &["wire", "preload", "event-log", "filter", "hotspot"],
    ),
    (
        "jvm-agent",
        &[
            "wire",
            "event-log",
            "filter",
            "hotspot",
            "agent-core",
            "jvm-core",
            "jvm-interface",
            "preload",
        ],
    ),
    (
        "native-agent",
        &[
            "wire",
            "event-log",
            "filter",
            "hotspot",
            "agent-core",
            "names",
            "preload",
        ],
    ),
    // Users put it into their own programs.
    ("progress", &[]),
    (
        "recorder",
        &[
            "model",
            "causal",
            "source",
            "symbols",
            "runs",
            "wire",
            "stats",
            "filter",
            "hotspot",
            "events",
            "schema",
            // What an experiment does is drawn by one rule, in programs and between them.
            "runtime-core",
            "unwind",
            "transaction-records",
        ],
    ),
    (
        "server",
        &[
            "model",
            "profile-formats",
            "causal",
            "paths",
            "profiles",
            "source",
            "symbols",
            "runs",
            "recorder",
            "events",
            "filter",
            "hotspot",
            "schema",
            "answers",
            "transaction-records",
        ],
    ),
    (
        "cli",
        &[
            "memory",
            "model",
            "profile-formats",
            "causal",
            "paths",
            "profiles",
            "source",
            "symbols",
            "runs",
            "recorder",
            "server",
            "events",
            "hotspot",
            "schema",
            "answers",
            "causal-records",
            "event-tables",
            "transactions",
            "transaction-records",
        ],
    ),
    ("xtask", &["schema"]),
    // In tests alone.
    ("test-support", &[]),
];
pub(crate) const PREFIX: &str = "fulcrum-";

/// Reads the `Cargo.toml` of every crate. Returns one sentence for each import that is not allowed.
pub(crate) fn check(root: &Path) -> Vec<String> {
    match manifests(root) {
        Ok(manifests) => problems(&manifests),
        Err(problem) => vec![problem],
    }
}

/// The `Cargo.toml` of every crate, by the name of its folder.
///
/// # Errors
/// One sentence, when the crates cannot be found.
pub(crate) fn manifests(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let crates = root.join("engine/crates");
    let mut manifests = BTreeMap::new();
    let entries =
        fs::read_dir(&crates).map_err(|error| format!("cannot read engine/crates: {error}."))?;
    for entry in entries.flatten() {
        if let Ok(text) = fs::read_to_string(entry.path().join("Cargo.toml")) {
            manifests.insert(entry.file_name().to_string_lossy().into_owned(), text);
        }
    }
    Ok(manifests)
}

fn problems(manifests: &BTreeMap<String, String>) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut problems = Vec::new();
    for (name, manifest) in manifests {
        let Some(may) = allowed.get(name.as_str()) else {
            problems.push(format!(
                "engine/crates/{name} is new: list in engine/crates/xtask/src/arrows.rs what it may import."
            ));
            continue;
        };
        for import in imports(manifest) {
            if !may.contains(&import.as_str()) {
                problems.push(format!(
                    "engine/crates/{name}/Cargo.toml imports {PREFIX}{import}, which engine/crates/xtask/src/arrows.rs does not allow: \
                     move what is needed to a crate that both may import."
                ));
            }
        }
    }
    problems
}

/// Our crates that a manifest depends on, for building and running; tests may import any.
pub(crate) fn imports(manifest: &str) -> BTreeSet<String> {
    let all = dependencies(manifest).into_iter();
    all.filter_map(|name| Some(name.strip_prefix(PREFIX)?.to_owned()))
        .collect()
}

/// Every package that a manifest depends on, but for tests.
pub(crate) fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut section = String::new();
    for line in manifest
        .lines()
        .map(|line| line.split('#').next().unwrap_or("").trim())
    {
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = header.trim().to_owned();
            // `[dependencies.fulcrum-model]`
            if let Some((table, name)) = section.rsplit_once('.')
                && is_dependencies(table)
            {
                found.insert(name.to_owned());
            }
            continue;
        }
        if !is_dependencies(&section) {
            continue;
        }
        // `fulcrum-model.workspace = true`, `fulcrum-model = { … }`, `m = { package = "fulcrum-model" }`
        let key = line
            .split(['=', '.'])
            .next()
            .unwrap_or("")
            .trim()
            .trim_matches('"');
        let package = line
            .split_once("package")
            .and_then(|(_, rest)| rest.split('"').nth(1));
        let name = package.unwrap_or(key);
        if !name.is_empty() {
            found.insert(name.to_owned());
        }
    }
    found
}

fn is_dependencies(section: &str) -> bool {
    let table = section.rsplit('.').next().unwrap_or("");
    (table == "dependencies" || table == "build-dependencies") && !section.contains("workspace")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, manifest: &str, expect: &[&str]) {
        let manifests = BTreeMap::from([(name.to_owned(), manifest.to_owned())]);
        let found = problems(&manifests);
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for (problem, expect) in found.iter().zip(expect) {
            assert!(problem.contains(expect), "{problem}");
        }
    }

    #[test]
    fn an_import_against_the_arrows_is_found_however_it_is_written() {
        check(
            "causal",
            "[dependencies]\nfulcrum-model.workspace = true\n",
            &[],
        );
        check(
            "causal",
            "[dependencies]\nfulcrum-server.workspace = true\n",
            &["imports fulcrum-server"],
        );
        check(
            "causal",
            "[dependencies.fulcrum-cli]\npath = \"../cli\"\n",
            &["imports fulcrum-cli"],
        );
        check(
            "runtime",
            "[target.'cfg(unix)'.dependencies]\nfulcrum-model = { path = \"../model\" }\n",
            &["imports fulcrum-model"],
        );
        check(
            "runtime",
            "[build-dependencies]\nm = { package = \"fulcrum-model\" }\n",
            &["imports fulcrum-model"],
        );
        check(
            "causal",
            "[dev-dependencies]\nfulcrum-profile-formats.workspace = true\n",
            &[],
        );
        check(
            "causal",
            "[dependencies]\n# fulcrum-server.workspace = true\nserde = \"1\"\n",
            &[],
        );
        check(
            "unheard-of",
            "[dependencies]\n",
            &["engine/crates/unheard-of is new"],
        );
    }

    #[test]
    fn the_table_itself_has_no_cycle() {
        // Each crate may import only crates that stand above it.
        for (n, (name, may)) in ALLOWED.iter().enumerate() {
            let above: Vec<_> = ALLOWED[..n].iter().map(|(name, _)| *name).collect();
            for import in *may {
                assert!(above.contains(import), "{name} imports {import}");
            }
        }
    }

    #[test]
    fn this_repository_keeps_them() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(super::check(&root), Vec::<String>::new());
    }
}
