//! Code shared by the tests of several crates: our own libraries as cargo built them ([`libraries`]), programs that are compiled
//! once and kept ([`programs`]), the JDKs of this machine ([`jdk`]), and waiting for states ([`wait`]).
//!
//! Under `npm test`, each test is a separate process, so what they share is on disk, in cargo's target folder.

pub mod jdk;
pub mod libraries;
pub mod programs;
pub mod wait;

use std::path::{Path, PathBuf};

/// The folder of the profile that this test was built in: `target/debug` or `target/release`.
///
/// # Panics
///
/// When the caller is not a test that cargo built.
pub fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let deps = test.parent().expect("it is in a folder");
    assert!(
        deps.ends_with("deps"),
        "{} is not where cargo puts tests",
        test.display()
    );
    deps.parent().expect("deps is in a folder").to_path_buf()
}

/// The engine's folder in the repository, which has `include` and `crates`.
pub fn engine_folder() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("engine/crates/test-support")
}
