//! The options of the refine loop, and the names of the files that it leaves.

use fulcrum_hotspot::Rule;

use super::live::KeepRunning;
use crate::TraceOptions;

/// The name of the filter for the next iteration, in a run's folder.
pub const NEXT_FILTER: &str = "next.fulcrum-filter";
/// The name of the file with all iterations so far, in a run's folder.
pub const REFINE_TABLE: &str = "refine.json";

/// What to refine and how.
#[derive(Clone, Debug)]
pub struct RefineOptions {
    /// The program, where it runs, and where runs go. With [`TraceOptions::output`], iterations are folders in there. Its
    /// filter is the first one; without it all methods are observed that are not the Java platform's.
    pub trace: TraceOptions,
    /// What a hotspot is.
    pub rule: Rule,
    /// A method whose calls are the units of work, `Class.method`; the whole run is one when `None`.
    pub unit: Option<String>,
    /// The largest number of iterations.
    pub iterations: usize,
    /// The number of runs in an iteration.
    pub runs: usize,
    /// Whether each of them is paired with one without instrumentation.
    pub baseline: bool,
    /// How many excluded methods are measured again in each iteration.
    pub recheck: usize,
    /// The seed for drawing these.
    pub seed: u64,
    /// The program keeps running, and each run is a session in it. When `None`, the program is started for each run.
    pub keep_running: Option<KeepRunning>,
}

impl Default for RefineOptions {
    fn default() -> Self {
        RefineOptions {
            trace: TraceOptions::default(),
            rule: Rule::default(),
            unit: None,
            iterations: 6,
            runs: 3,
            baseline: true,
            recheck: 5,
            seed: 1,
            keep_running: None,
        }
    }
}
