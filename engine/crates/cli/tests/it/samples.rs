//! The samples build, their targets are lines with code, and their results are the same with and without Fulcrum.
//!
//! Not here: `sqlite-inserts`, whose amalgamation alone takes half a minute to compile; `npm run bench -- overhead`
//! builds and runs it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::common::fulcrum;
use fulcrum_symbols::{Scope, line_ranges};
use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::{engine_folder, libraries};
use serde_json::Value;

struct Sample {
    folder: PathBuf,
    name: String,
    entry: Value,
}

impl Sample {
    fn all() -> Vec<Sample> {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../samples");
        let samples = samples.canonicalize().expect("the samples are there");
        let folders = samples.read_dir().expect("a folder").flatten();
        folders
            .filter_map(|folder| {
                let text = std::fs::read_to_string(folder.path().join("sample.json")).ok()?;
                let name = folder.file_name().into_string().expect("UTF-8");
                let entry = serde_json::from_str(&text).expect(&name);
                let folder = folder.path();
                Some(Sample {
                    folder,
                    name,
                    entry,
                })
            })
            .filter(|sample| sample.name != "sqlite-inserts")
            .collect()
    }

    fn source(&self) -> PathBuf {
        self.folder
            .join(self.entry["source"].as_str().expect("a source"))
    }

    /// As scripts/bench/lib/samples.mjs does.
    fn build(&self) -> PathBuf {
        let words: Vec<&str> = self.entry["build"]
            .as_array()
            .expect("a command")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if words == ["cargo"] {
            let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("samples");
            let done = Command::new(env!("CARGO"))
                .args([
                    "build",
                    "--release",
                    "--quiet",
                    "--locked",
                    "-p",
                    &self.name,
                ])
                .arg("--target-dir")
                .arg(&target)
                .current_dir(&self.folder)
                .status();
            assert!(done.expect("cargo runs").success(), "{}", self.name);
            return target.join("release").join(&self.name);
        }
        let (source, include) = (self.source(), engine_folder().join("include"));
        let command = words.iter().map(OsStr::new).chain([
            OsStr::new("-I"),
            include.as_os_str(),
            OsStr::new("-o"),
            OsStr::new(&self.name),
            source.as_os_str(),
        ]);
        let recipe = Recipe::new(&self.name)
            .reads(&source)
            .reads(self.folder.join("../sample.h"))
            .reads(include.join("fulcrum.h"))
            .command(command);
        recipe.build().join(&self.name)
    }

    /// Every `TARGET:` marker names a line that has code.
    fn check_targets(&self, program: &Path) {
        let table = line_ranges(program, &Scope::default()).expect("debug information");
        let source = std::fs::read_to_string(self.source()).expect("a source");
        for target in self.entry["targets"].as_array().expect("targets") {
            let name = target.get("marker").unwrap_or(&target["name"]);
            let marker = format!("// TARGET: {}", name.as_str().expect("a name"));
            let marked: Vec<u32> = (1..)
                .zip(source.lines())
                .filter(|(_, line)| line.ends_with(&marker))
                .map(|(number, _)| number)
                .collect();
            let &[number] = marked.as_slice() else {
                panic!("{}: {marker:?} stands in {} lines", self.name, marked.len());
            };
            let source = self.source();
            let has_code = table
                .lines
                .iter()
                .any(|line| Path::new(&line.file) == source && line.line == number);
            assert!(has_code, "{}:{number} has no code", source.display());
        }
    }

    /// The work does not depend on who watches.
    fn check_result(&self, program: &Path, output: &Path) {
        let units = "8";
        let alone = Command::new(program).arg(units).output().expect("it runs");
        let mut run = fulcrum(&["run", "--quiet", "--output"]);
        run.arg(output.join(format!("{}-run", self.name)));
        let profiled = run
            .arg("--")
            .arg(program)
            .arg(units)
            .output()
            .expect("it runs");
        let errors = String::from_utf8_lossy(&profiled.stderr);
        assert!(
            alone.status.success() && profiled.status.success(),
            "{errors}"
        );
        assert_eq!(
            result(&alone.stdout),
            result(&profiled.stdout),
            "{}",
            self.name
        );
    }
}

/// All that a sample says of its work: its units and its result, without the times.
fn result(stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout);
    let words: Vec<String> = text
        .split_whitespace()
        .filter(|word| word.starts_with("units=") || word.starts_with("result="))
        .map(str::to_owned)
        .collect();
    assert_eq!(words.len(), 2, "{text}");
    words
}

/// Builds, inspects and runs all samples, or those with these names. Gives how many there were.
pub(crate) fn check(names: &[&str]) -> usize {
    libraries::all();
    let output = tempfile::tempdir().expect("a temporary folder");
    let mut samples = Sample::all();
    samples.retain(|sample| names.is_empty() || names.contains(&&*sample.name));
    let count = samples.len();
    let waiting = Mutex::new(samples);
    // Most of the time goes to compilers.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("not poisoned").pop();
                    let Some(sample) = next else { break };
                    let program = sample.build();
                    sample.check_targets(&program);
                    sample.check_result(&program, output.path());
                }
            });
        }
    });
    count
}
