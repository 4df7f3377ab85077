//! Starting the real binary.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod java;
pub(crate) mod native;

use std::process::Command;

use serde_json::Value;

pub(crate) fn fulcrum(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fulcrum"));
    command.args(args).env("NO_COLOR", "1");
    command
}

pub(crate) fn fixture(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Standard output as JSON, of a command that succeeds.
pub(crate) fn json(args: &[&str]) -> Value {
    let run = fulcrum(args).output().expect("it runs");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{args:?}: {errors}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

/// The command ends with this code, says nothing on standard output, and one line with `part` on standard error.
pub(crate) fn check_bad(args: &[&str], code: i32, part: &str) {
    let run = fulcrum(args).output().expect("it runs");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(code), "{args:?}: {errors}");
    assert_eq!(run.stdout, b"", "{args:?}");
    assert!(
        errors.starts_with("fulcrum: ") && errors.lines().count() == 1,
        "{args:?}: {errors}"
    );
    assert!(errors.contains(part), "{args:?}: {errors:?} lacks {part:?}");
}
