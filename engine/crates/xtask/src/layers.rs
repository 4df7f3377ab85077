//! Checks the layers of the engine: a crate may import crates of its own layer and of those below.
//!
//! Which of these a crate does import is listed in `arrows`; the layers are the order in which to think of the crates.

use std::collections::BTreeMap;
use std::path::Path;

use crate::arrows::{PREFIX, imports, manifests};

/// One layer.
struct Layer {
    name: &'static str,
    /// What its crates have in common, and why it is at this height.
    why: &'static str,
    crates: &'static [&'static str],
}

/// The layers, the lowest first.
const LAYERS: &[Layer] = &[
    Layer {
        name: "agreements",
        why: "types, layouts and arithmetic that know nothing of what is done with them, so that everybody may know them",
        crates: &[
            "model", "wire", "schema", "stats", "filter", "hotspot", "names", "progress", "memory",
        ],
    },
    Layer {
        name: "pure",
        why: "data in, data out: tested without programs, clients or system calls",
        crates: &[
            "causal-records",
            "profile-formats",
            "events",
            "event-tables",
            "causal",
            "paths",
            "shared-memory",
            "transactions",
            "transaction-records",
            "source",
            "symbols",
            "runtime-core",
            "unwind",
            "jvm-core",
        ],
    },
    Layer {
        name: "in other people's programs",
        why: "loaded into profiled programs: small, and known to the engine only by what they write",
        crates: &[
            "preload",
            "critical-sections",
            "runtime",
            "transaction-runtime",
            "event-log",
            "agent-core",
            "jvm-interface",
            "jvm-agent",
            "native-agent",
        ],
    },
    Layer {
        name: "this machine",
        why: "the user's files, run folders and programs",
        crates: &["runs", "profiles", "recorder"],
    },
    Layer {
        name: "answers",
        why: "converts all of these types to those of the schema",
        crates: &["answers"],
    },
    Layer {
        name: "clients",
        why: "what people and editors talk to",
        crates: &["server", "cli"],
    },
    Layer {
        name: "workshop",
        why: "builds and tests the others, and does not ship",
        crates: &["synthetic", "test-support", "xtask"],
    },
];

/// Reads the `Cargo.toml` of every crate. Returns one sentence for each import of a higher layer and each crate without a layer.
pub(crate) fn check(root: &Path) -> Vec<String> {
    match manifests(root) {
        Ok(manifests) => problems(&manifests),
        Err(problem) => vec![problem],
    }
}

fn layer_of(name: &str) -> Option<(usize, &'static Layer)> {
    let mut layers = LAYERS.iter().enumerate();
    layers.find(|(_, layer)| layer.crates.contains(&name))
}

fn problems(manifests: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, manifest) in manifests {
        let Some((height, layer)) = layer_of(name) else {
            problems.push(format!(
                "engine/crates/{name} is in no layer: put it into one in engine/crates/xtask/src/layers.rs."
            ));
            continue;
        };
        for import in imports(manifest) {
            if let Some((above, higher)) = layer_of(&import)
                && above > height
            {
                problems.push(format!(
                    "engine/crates/{name}/Cargo.toml imports {PREFIX}{import} from the layer \"{}\" ({}), which is above its \
                     own, \"{}\" ({}): move what is needed down.",
                    higher.name, higher.why, layer.name, layer.why
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_import_from_above_and_a_crate_without_a_layer_are_reported() {
        let root = tempfile::tempdir().expect("a folder");
        for (name, manifest) in [
            ("model", "[dependencies]\nfulcrum-stats.workspace = true\n"),
            (
                "causal",
                "[dependencies]\nfulcrum-model.workspace = true\nfulcrum-server.workspace = true\n",
            ),
            ("server", "[dependencies]\nfulcrum-cli.workspace = true\n"),
            ("unheard-of", "[dependencies]\n"),
        ] {
            let folder = root.path().join("engine/crates").join(name);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("Cargo.toml"), manifest).expect("written");
        }
        let found = super::check(root.path());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0]
                .contains("causal/Cargo.toml imports fulcrum-server from the layer \"clients\""),
            "{found:?}"
        );
        assert!(found[1].contains("unheard-of is in no layer"), "{found:?}");
    }

    #[test]
    fn each_crate_has_one_layer() {
        let mut all: Vec<&str> = LAYERS.iter().flat_map(|it| it.crates).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn this_repository_keeps_to_them() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(super::check(&root), Vec::<String>::new());
    }
}
