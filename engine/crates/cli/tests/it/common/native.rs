//! Native programs that were built with `-finstrument-functions`, alone and traced.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fulcrum_test_support::libraries;
use fulcrum_test_support::programs::{self, Recipe};
use serde_json::Value;

use super::{fulcrum, json};

/// A folder with a program in it.
pub(crate) struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    /// Compiles a program, `prog`: C++ when the options say so (`-xc++`), else C.
    pub(crate) fn new(source: &str, options: &[&str]) -> Lab {
        libraries::all();
        let lab = Lab {
            folder: tempfile::tempdir().unwrap(),
        };
        lab.compile(source, "prog", options);
        lab
    }

    /// Compiles another file into the folder.
    pub(crate) fn compile(&self, source: &str, output: &str, options: &[&str]) {
        let cpp = options.contains(&"-xc++");
        let text = format!("{output}.source");
        let compiler = if cpp { "g++" } else { "gcc" };
        let own = ["-g", "-pthread", "-w", "-finstrument-functions"];
        let language: &[&str] = if cpp { &[] } else { &["-xc"] };
        let command = [
            &[compiler][..],
            &own,
            language,
            options,
            &[&text, "-o", output],
        ]
        .concat();
        let built = Recipe::new(output)
            .file(&text, source)
            .command(command)
            .build();
        programs::copy(&built, self.folder());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs it alone and traced: the same output and status. Gives the run.
    pub(crate) fn check_same(&self, options: &[&str], arguments: &[&str]) -> Traced {
        let mut alone = Command::new("./prog");
        alone.args(arguments).current_dir(self.folder());
        let alone = alone.output().unwrap();
        let (traced, run) = self.trace(options, arguments);
        let text = |it: &Output| {
            let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
            (text(&it.stdout), text(&it.stderr))
        };
        assert_eq!(text(&traced), text(&alone));
        let code = alone.status.code().or_else(|| {
            use std::os::unix::process::ExitStatusExt;
            alone.status.signal().map(|it| it + 128)
        });
        assert_eq!(traced.status.code(), code);
        run
    }

    /// Runs it traced.
    pub(crate) fn trace(&self, options: &[&str], arguments: &[&str]) -> (Output, Traced) {
        let mut trace = fulcrum(&["trace", "--quiet", "--output", "run"]);
        trace.args(options).args(["--", "./prog"]).args(arguments);
        let output = trace.current_dir(self.folder()).output().unwrap();
        let logs = fs::read_dir(self.path("run")).unwrap().flatten();
        let logs = logs.map(|it| it.path());
        let mut logs: Vec<PathBuf> = logs
            .filter(|it| it.extension().is_some_and(|it| it == "log"))
            .collect();
        logs.sort();
        (output, Traced { logs })
    }

    /// Runs it traced once more, into a run that replaces the last one: its output, and the run.
    pub(crate) fn trace_again(&self, options: &[&str]) -> (String, Traced) {
        fs::remove_dir_all(self.path("run")).unwrap();
        let (output, run) = self.trace(options, &[]);
        (String::from_utf8(output.stdout).unwrap(), run)
    }

    /// A filter's file.
    pub(crate) fn filter(&self, text: &str) -> String {
        let path = self.path("filter");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// The logs of a run.
pub(crate) struct Traced {
    pub logs: Vec<PathBuf>,
}

impl Traced {
    /// The only log.
    pub(crate) fn log(&self) -> &Path {
        assert_eq!(self.logs.len(), 1, "{:?}", self.logs);
        &self.logs[0]
    }

    /// Sums of the only log, which must be balanced.
    pub(crate) fn stats(&self) -> Stats {
        Stats::of(self.log())
    }

    /// The tree of a thread, each call as `depth name ended`.
    pub(crate) fn tree(&self, thread: &str) -> Vec<String> {
        let log = self.log().to_str().unwrap();
        let tree = json(&[
            "events", "tree", log, "--json", "--thread", thread, "--limit", "0",
        ]);
        let calls = tree["threads"][0]["calls"].as_array().unwrap().iter();
        calls
            .map(|it| {
                let text = |key: &str| it[key].as_str().unwrap();
                format!("{} {} {}", it["depth"], text("name"), text("ended"))
            })
            .collect()
    }
}

/// What `fulcrum events stats` says.
pub(crate) struct Stats(pub Value);

impl Stats {
    pub(crate) fn of(log: &Path) -> Stats {
        let stats = json(&[
            "events",
            "stats",
            log.to_str().unwrap(),
            "--json",
            "--top",
            "0",
        ]);
        assert_eq!(stats["unbalanced"], 0, "{stats}");
        Stats(stats)
    }

    /// What a reader is told.
    pub(crate) fn notes(&self) -> String {
        self.0["notes"].to_string()
    }

    fn method(&self, name: &str) -> Option<&Value> {
        let (class, method) = name.rsplit_once('.').unwrap();
        let mut methods = self.0["methods"].as_array().unwrap().iter();
        methods.find(|it| it["class"] == class && it["method"] == method)
    }

    /// Calls of `class.method`, and how many of them were left by an exception or a jump.
    pub(crate) fn calls(&self, name: &str) -> (u64, u64) {
        self.method(name).map_or((0, 0), |it| {
            (
                it["calls"].as_u64().unwrap(),
                it["thrown"].as_u64().unwrap(),
            )
        })
    }

    /// `class.method(parameters)` of all.
    pub(crate) fn names(&self) -> Vec<String> {
        let methods = self.0["methods"].as_array().unwrap().iter();
        let text = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
        let mut names: Vec<String> = methods
            .map(|it| {
                format!(
                    "{}.{}{}",
                    text(it, "class"),
                    text(it, "method"),
                    text(it, "descriptor")
                )
            })
            .collect();
        names.sort();
        names
    }

    /// A thread by its name.
    pub(crate) fn thread(&self, name: &str) -> &Value {
        let mut threads = self.0["threads"].as_array().unwrap().iter();
        let found = threads.find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("{name} in {:?}", self.0["threads"]))
    }
}
