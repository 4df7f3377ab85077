//! The agents' libraries. Tests of other packages have this file too, by its path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Builds the agents, once, and says where that for Java is: `cargo test` does not build what only other programs load.
pub fn agent() -> &'static Path {
    static AGENT: OnceLock<PathBuf> = OnceLock::new();
    AGENT.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "fulcrum-jvm-agent"]);
        // What is not java itself is started with both agents.
        build.args(["-p", "fulcrum-native-agent"]);
        build.current_dir(env!("CARGO_MANIFEST_DIR"));
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo").success());
        // Tests are in `deps` of the same folder.
        let test = std::env::current_exe().unwrap();
        let folder = test.ancestors().nth(2).unwrap();
        folder.join("libfulcrum_jvm_agent.so")
    })
}
