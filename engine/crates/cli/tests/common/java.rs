//! Java programs for tests.

use std::fs;
use std::path::Path;
use std::process::Command;

#[path = "../../../jvm-agent/tests/common/agent.rs"]
mod agent;

/// The agents are other packages: `cargo test` of this one does not build them.
pub fn build_agent() {
    agent::agent();
}

/// Compiles the class `Main`.
pub fn program(text: &str, into: &Path) {
    let source = into.join("Main.java");
    fs::write(&source, text).unwrap();
    compile(&source, into);
}

/// Compiles a file.
pub fn compile(source: &Path, into: &Path) {
    let javac = Command::new("javac")
        .args(["-g", "-d"])
        .args([into, source])
        .output();
    let output = javac.expect("javac is missing: to run these tests, install default-jdk-headless");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
