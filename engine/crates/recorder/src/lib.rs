//! Starts programs under a runtime or an agent, and writes the run; runs the refine loop.
//!
//! The runtime writes the records itself, inside the profiled program, so that nothing recorded is lost when the engine dies.
//! The recorder answers each process that announces itself (debug information in, address ranges out), follows the results,
//! stops the program when asked to, and completes what a killed program could not write.

mod causal;
mod jvm;
mod program;
mod refine;
mod remote;
mod transactions;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use fulcrum_causal::FirstVerdict;
use fulcrum_model::Interval;
use fulcrum_model::causal::CausalProfile;

pub use causal::record;
pub use jvm::{
    LOG_LIMIT, TraceOptions, TraceProgress, check_filter, filter_with_values, logs, trace,
    trace_attached,
};
pub use refine::{
    Ending, Estimate, Iteration, KeepRunning, NEXT_FILTER, REFINE_TABLE, RefineOptions,
    RefineProgress, Refined, filter_of_run, refine,
};
pub use remote::{Aim, Remote, TargetChoice};
pub use transactions::{
    TRANSACTION_LOG_LIMIT, TRANSACTION_OVERHEAD, TransactionOptions, TransactionProgress,
    record_transactions,
};

/// What to run and how. Every field but the program has a sensible [`Default`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A path, or a name looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without the program itself.
    pub args: Vec<OsString>,
    /// Its working folder; the recorder's own when `None`.
    pub cwd: Option<PathBuf>,
    /// The folder that holds `.fulcrum/runs`; the working folder when `None`.
    pub workspace: Option<PathBuf>,
    /// The folder to write, instead of a new one in the run store (`--output`).
    pub output: Option<PathBuf>,
    /// The folder of an earlier run of the workspace, whose experiments count together with those of this one.
    pub continues: Option<PathBuf>,
    /// Stop the program after this long.
    pub duration: Option<Duration>,
    /// Stop the program when the best lines' intervals are this narrow (half width, a fraction).
    pub until: Option<f64>,
    /// Where the program's standard streams go.
    pub stdio: Stdio,
    /// What may be sped up.
    pub aim: Aim,
    /// Only this line, `FILE:LINE`.
    pub fixed_line: Option<String>,
    /// Only this speedup, 0 to 1.
    pub fixed_speedup: Option<f64>,
    /// Every experiment without a speedup is a baseline: the cost of pausing is not measured, and stays in the results.
    pub no_placebo: bool,
    /// The program speedup, a fraction, that a line must be worth for the first verdict; 8 % when `None`.
    pub first_worth: Option<f64>,
    /// How samples are taken.
    pub sampler: Sampler,
    /// The share of the program's time that profiling may take, 0 to 1. Experiments are spaced out to stay below it.
    pub max_overhead: Option<f64>,
    /// Lines whose visits are progress points, `FILE:LINE`, without a change of the source (breakpoint progress points).
    pub progress: Vec<String>,
    /// How visits to those lines are counted.
    pub counting: Counting,
    /// Only samples in this critical section count, and the waiter's requests are a progress point. [`Options::aim`] is the
    /// section's function with everything that it calls.
    pub section: Option<fulcrum_runs::PricedSection>,
    /// Run the program again and again, each time as one experiment (COZ's `--end-to-end`): for programs that just
    /// finish.
    pub end_to_end: Option<EndToEnd>,
}

/// Programs that just finish: each run from start to end is one experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndToEnd {
    /// Stop after this many runs; if `None`, when the duration or the requested confidence is reached.
    pub runs: Option<u64>,
}

/// Where the program's standard streams go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdio {
    /// The recorder's own: the command line.
    #[default]
    Inherit,
    /// `stdout.txt` and `stderr.txt` in the run folder, nothing on standard input: the editor.
    /// The program never holds a pipe to the engine, so it outlives it.
    Files,
}

/// How samples are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampler {
    /// perf events where the kernel allows them, otherwise the CPU timer; decided per thread.
    #[default]
    Auto,
    /// perf events only.
    Perf,
    /// `CLOCK_THREAD_CPUTIME_ID` timers only.
    Timer,
}

/// How visits to lines are counted without a change of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// The cheapest that works, in the order below.
    #[default]
    Auto,
    /// A jump to a counting stub.
    Trampoline,
    /// A uprobe: needs root.
    Uprobe,
    /// A hardware breakpoint: four at most.
    Hardware,
    /// Samples in the line stand for visits.
    Sampled,
}

/// A target, what the program gains when the target takes half the time (a fraction), and the 95 % interval of that gain if there
/// is one.
pub type Best = (fulcrum_model::TargetId, f64, Option<Interval>);

/// The status of a run in progress. Sent about twice a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunStatus {
    /// The time since the program started.
    pub elapsed: Duration,
    /// The number of finished experiments.
    pub experiments: u64,
    /// The number of lines with at least one experiment.
    pub lines: u64,
    /// The number of visits to all progress points.
    pub visits: u64,
    /// The best target so far and its gain with interval, once there is one.
    pub best: Option<Best>,
    /// The first verdict, once there is one and as long as the results do not contradict it.
    pub first: Option<FirstVerdict>,
    /// 0 to 1 when the end is known (`duration`), else `None`.
    pub fraction: Option<f64>,
    /// Experiments are paused.
    pub paused: bool,
    /// The program has ended, and what it left running in the background is profiled.
    pub background: bool,
    /// The estimated time until the requested duration or confidence is reached. `None` without such a request, and while there
    /// is no estimate.
    pub remaining: Option<Duration>,
    /// The run folder.
    pub run: PathBuf,
    /// The analysis of everything recorded so far. It is present only when it is new, about every two seconds.
    pub profile: Option<Arc<CausalProfile>>,
}

/// How a recorded program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this exit status.
    Code(i32),
    /// By this signal, not ours.
    Signal(i32),
    /// We stopped it: the requested duration or confidence was reached, or the user cancelled.
    Stopped,
}

/// A finished recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The run folder.
    pub run: PathBuf,
    /// How the program ended.
    pub exit: Exit,
    /// Sentences on why the result is empty or weaker than it could be, with what to do next.
    pub notes: Vec<String>,
}

/// Why nothing was recorded. `Display` is one sentence with what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The program cannot be started as given (missing, not executable, not a program). Exit code 4.
    CannotStart(String),
    /// The machine or the installation does not allow recording (no runtime library, folder not writable).
    CannotRecord(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::CannotStart(text) | Error::CannotRecord(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
