//! Our own libraries that other programs load. Cargo does not build them for a test, because no test links to them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The environment variable that `npm test` sets when it has built everything.
pub const BUILT: &str = "FULCRUM_TESTS_BUILT";

/// Their crates.
const PACKAGES: [&str; 4] = [
    "runtime",
    "jvm-agent",
    "native-agent",
    "transaction-runtime",
];

/// The preloaded library of the causal profiler.
pub fn runtime() -> PathBuf {
    folder().join("libfulcrum_runtime.so")
}

/// The agent for Java.
pub fn jvm_agent() -> PathBuf {
    folder().join("libfulcrum_jvm_agent.so")
}

/// The preloaded library that traces native programs.
pub fn native_agent() -> PathBuf {
    folder().join("libfulcrum_native_agent.so")
}

/// The preloaded library of transactional profiling.
pub fn transaction_runtime() -> PathBuf {
    folder().join("libfulcrum_transaction_runtime.so")
}

/// Makes sure that all of them are where the engine looks for them.
///
/// # Panics
///
/// When one is missing, or cannot be built.
pub fn all() {
    folder();
}

/// The folder that holds them. A developer's `cargo test -p CRATE` builds them here, because cargo would not. Under `npm
/// test`, no test builds anything that the suite has built.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = super::profile_folder();
        if std::env::var_os(BUILT).is_none() {
            build();
        }
        for package in PACKAGES {
            let name = package.replace('-', "_");
            let library = folder.join(format!("libfulcrum_{name}.so"));
            assert!(library.exists(), "{} was not built", library.display());
        }
        folder
    })
}

fn build() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet"]);
    for package in PACKAGES {
        cargo.args(["-p", &format!("fulcrum-{package}")]);
    }
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let done = cargo.current_dir(super::engine_folder()).status();
    assert!(done.expect("cargo runs").success());
}
