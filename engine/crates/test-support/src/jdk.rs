//! The JDKs of this machine, and classes compiled by them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::programs::{Recipe, copy};

/// An installed JDK.
pub struct Jdk {
    /// Its folder, which has `bin`.
    pub home: PathBuf,
    /// The feature release, such as 21.
    pub version: u32,
}

/// The JDKs in the usual folders and the one in `PATH`, from version 17 on.
///
/// # Panics
///
/// When there is none.
pub fn jdks() -> &'static [Jdk] {
    static JDKS: LazyLock<Vec<Jdk>> = LazyLock::new(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let in_path = std::env::split_paths(&path).map(|folder| folder.join("javac"));
        let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
        let mut homes: Vec<PathBuf> = in_path
            .chain(installed.map(|it| it.path().join("bin/javac")))
            .filter_map(|javac| fs::canonicalize(javac).ok())
            .filter_map(|javac| javac.ancestors().nth(2).map(Path::to_path_buf))
            .collect();
        homes.sort();
        homes.dedup();
        let jdks = homes.into_iter().filter_map(|home| {
            let release = fs::read_to_string(home.join("release")).ok()?;
            let version = release
                .lines()
                .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
            let version = version.split(['.', '"']).next()?.parse().ok()?;
            Some(Jdk { home, version })
        });
        let jdks: Vec<_> = jdks.filter(|jdk| jdk.version >= 17).collect();
        assert!(
            !jdks.is_empty(),
            "No JDK was found: to run these tests, install default-jdk-headless."
        );
        jdks
    });
    &JDKS
}

impl Jdk {
    /// `java`, for small programs: with fewer threads, and without options from the environment.
    pub fn java(&self) -> Command {
        let mut java = Command::new(self.home.join("bin/java"));
        java.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
            .env_remove("JAVA_TOOL_OPTIONS");
        java
    }

    /// The folder of the classes that these files compile to. No test writes into it.
    pub fn classes(&self, sources: &[PathBuf], release: &str) -> PathBuf {
        let options = ["-g", "-Xlint:-options", "--release", release];
        built(&self.home.join("bin/javac"), &options, sources)
    }

    /// Compiles classes into the test's own folder, where it may change them.
    pub fn compile(&self, sources: &[PathBuf], release: &str, into: &Path) {
        copy(&self.classes(sources, release), into);
    }

    /// Compiles a class of a package of `java.base`.
    pub fn compile_into_base(&self, source: &Path, into: &Path) {
        let mut patch = OsString::from("java.base=");
        patch.push(source.parent().expect("a file is in a folder"));
        let output = Command::new(self.home.join("bin/javac"))
            .arg("--patch-module")
            .arg(&patch)
            .arg("-d")
            .args([into, source])
            .output();
        let output = output.expect("the JDK has javac");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The folder of the classes that these files compile to by the `javac` in `PATH`. No test writes into it.
pub fn classes(sources: &[PathBuf]) -> PathBuf {
    built(Path::new("javac"), &["-g"], sources)
}

/// The same for the text of `Main.java`, which is in the folder too.
pub fn main_class(text: &str) -> PathBuf {
    Recipe::new("Main")
        .file("Main.java", text)
        .command(["javac", "-g", "-d", ".", "Main.java"])
        .build()
}

fn built(javac: &Path, options: &[&str], sources: &[PathBuf]) -> PathBuf {
    let first = sources.last().and_then(|it| it.file_stem());
    let name = first.expect("a source").to_string_lossy();
    let words = [javac.as_os_str(), OsStr::new("-d"), OsStr::new(".")];
    let words = words.into_iter().chain(options.iter().map(OsStr::new));
    let command = words.chain(sources.iter().map(|it| it.as_os_str()));
    let recipe = Recipe::new(&name).command(command);
    sources
        .iter()
        .fold(recipe, |it, source| it.reads(source))
        .build()
}
