//! Builds programs and records them.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fulcrum_model::causal::{Count, Experiment, Recording};
use fulcrum_recorder::{Error, Options, Recorded, Remote, Stdio, record};
use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::{engine_folder, libraries};
use tempfile::TempDir;

/// After this nothing more is waited for, even on a machine that is very busy.
pub(crate) const PATIENCE: Duration = fulcrum_test_support::wait::PATIENCE;

/// A folder that holds a built program and the runs recorded from it.
pub(crate) struct Lab {
    folder: TempDir,
    /// The program.
    pub program: PathBuf,
}

impl Lab {
    /// Compiles `tests/programs/<source>` with these flags after `-O1 -pthread`.
    pub(crate) fn build(source: &str, flags: &[&str]) -> Lab {
        libraries::all();
        let name = source.split('.').next().unwrap();
        let compiler = if source.ends_with(".c") { "gcc" } else { "g++" };
        let include = engine_folder().join("include");
        let path = programs().join(source);
        let options = [&[compiler, "-O1", "-pthread", "-w"], flags].concat();
        let command = options.iter().map(OsStr::new).chain([
            OsStr::new("-I"),
            include.as_os_str(),
            path.as_os_str(),
            OsStr::new("-o"),
            OsStr::new(name),
            OsStr::new("-ldl"),
        ]);
        let built = Recipe::new(name)
            .reads(&path)
            .reads(include.join("fulcrum.h"))
            .command(command)
            .build();
        // A copy: tests find what runs by its path, and write files beside it.
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(name);
        std::fs::copy(built.join(name), &program).unwrap();
        Lab { folder, program }
    }

    /// The recorder's options for this program, streams into files.
    pub(crate) fn options(&self, arguments: &[&str], seconds: f64) -> Options {
        Options {
            program: self.program.clone().into(),
            args: arguments.iter().map(Into::into).collect(),
            workspace: Some(self.folder.path().into()),
            duration: Some(Duration::from_secs_f64(seconds)),
            stdio: Stdio::Files,
            ..Options::default()
        }
    }
}

/// Records without progress and without cancelling.
pub(crate) fn run(options: &Options) -> Result<Recorded, Error> {
    record(options, &Remote::default(), &mut |_| {})
}

/// Records until that many experiments are finished, however long a busy machine needs for them, then stops the program.
pub(crate) fn run_for(options: Options, experiments: u64) -> Recorded {
    let remote = Remote::default();
    let options = Options {
        duration: None,
        ..options
    };
    let recorded = record(&options, &remote, &mut |progress| {
        if progress.experiments >= experiments || progress.elapsed > PATIENCE {
            remote.cancel();
        }
    });
    recorded.unwrap()
}

/// Records until what anybody who opens the run reads is `enough`, however long a busy machine needs for it, then stops the
/// program.
pub(crate) fn run_until(options: Options, enough: impl Fn(&Recording) -> bool) -> Recording {
    let remote = Remote::default();
    let options = Options {
        duration: None,
        ..options
    };
    let recorded = record(&options, &remote, &mut |progress| {
        let read = fulcrum_runs::load_causal(&progress.run);
        if read.is_ok_and(|it| enough(&it.recording)) || progress.elapsed > PATIENCE {
            remote.cancel();
        }
    });
    recording(&recorded.unwrap())
}

/// What anybody who opens the run reads.
pub(crate) fn recording(recorded: &Recorded) -> Recording {
    fulcrum_runs::load_causal(&recorded.run).unwrap().recording
}

/// Whether a sentence about `what` is among the notes.
pub(crate) fn says(recorded: &Recorded, what: &str) -> bool {
    recorded.notes.iter().any(|note| note.contains(what))
}

/// Samples of the named targets of a run.
pub(crate) fn samples(recording: &Recording) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (target, count) in &recording.samples {
        *counts.entry(target.name.clone()).or_default() += count;
    }
    counts
}

/// Visits to a throughput point during an experiment.
pub(crate) fn visits(experiment: &Experiment, point: &str) -> u64 {
    let found = experiment.points.iter().find(|it| it.name == point);
    match found.unwrap().count {
        Count::Throughput { delta } => delta,
        Count::Latency { departures, .. } => departures,
    }
}

/// A file into which a test program counts: numbers of 64 bits that it has mapped.
pub(crate) struct Counters(PathBuf);

impl Counters {
    pub(crate) fn new(lab: &Lab) -> Counters {
        let file = lab.program.with_extension("counters");
        std::fs::write(&file, [0; 64]).unwrap();
        Counters(file)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn get(&self, index: usize) -> u64 {
        let bytes = std::fs::read(&self.0).unwrap();
        u64::from_ne_bytes(bytes[8 * index..][..8].try_into().unwrap())
    }
}

/// The folder of the test programs' sources.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The line of a test program that carries the comment `// LINE: name`.
pub(crate) fn marked(source: &str, name: &str) -> u32 {
    let text = std::fs::read_to_string(programs().join(source)).unwrap();
    let mark = format!("// LINE: {name}");
    let at = text.lines().position(|line| line.ends_with(&mark));
    at.unwrap() as u32 + 1
}
