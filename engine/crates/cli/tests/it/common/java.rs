//! Java programs for tests.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fulcrum_test_support::{jdk, programs};

/// Compiles the class `Main`.
pub(crate) fn program(text: &str, into: &Path) {
    programs::copy(&jdk::main_class(text), into);
}

/// Compiles a file.
pub(crate) fn compile(source: &Path, into: &Path) {
    programs::copy(&jdk::classes(&[source.to_path_buf()]), into);
}

/// Starts the class `Main`, which says when it is ready.
pub(crate) fn start(classes: &Path, options: &[&str]) -> Child {
    let mut java = Command::new("java");
    java.args(options).arg("Main").current_dir(classes);
    ready(java)
}

/// Starts a command that becomes such a program.
pub(crate) fn ready(mut java: Command) -> Child {
    let piped = java.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::null()).spawn().unwrap();
    let mut ready = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut ready)
        .unwrap();
    assert_eq!(&ready, b"ready\n");
    child
}

/// Lets the program end: what it printed since it was ready, and its status.
pub(crate) fn end(mut child: Child) -> (String, Option<i32>) {
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let output = child.wait_with_output().unwrap();
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        output.status.code(),
    )
}
