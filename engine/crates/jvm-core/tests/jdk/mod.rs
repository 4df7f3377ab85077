//! The JDKs of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// An installed JDK.
pub struct Jdk {
    pub home: PathBuf,
    pub version: u32,
}

/// Those in the usual folders and the one in `PATH`, from 17 on.
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
    pub fn java(&self) -> Command {
        let mut java = Command::new(self.home.join("bin/java"));
        // Small programs: fewer threads, and nothing that another option of the user's says.
        java.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
            .env_remove("JAVA_TOOL_OPTIONS");
        java
    }

    pub fn compile(&self, sources: &[PathBuf], release: &str, into: &Path) {
        self.javac(
            &["-g", "-Xlint:-options", "--release", release],
            sources,
            into,
        );
    }

    /// A class of a package of `java.base`.
    pub fn compile_into_base(&self, source: &Path, into: &Path) {
        let mut patch = std::ffi::OsString::from("java.base=");
        patch.push(source.parent().unwrap());
        let options = ["--patch-module", patch.to_str().unwrap()];
        self.javac(&options, &[source.to_path_buf()], into);
    }

    fn javac(&self, options: &[&str], sources: &[PathBuf], into: &Path) {
        let javac = Command::new(self.home.join("bin/javac"))
            .args(options)
            .arg("-d")
            .arg(into)
            .args(sources)
            .output();
        let output = javac.expect("the JDK has javac");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
