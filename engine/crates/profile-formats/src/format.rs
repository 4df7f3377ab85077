//! The formats of profiles, and the profile that a reader makes.

use fulcrum_model::call_tree::ValueType;
use fulcrum_model::{CallGraph, CallTree};

use crate::names;

/// A format of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenTelemetry's profiles, which are experimental.
    Otlp,
    /// pprof's `profile.proto`.
    Pprof,
    /// Folded stacks, one a line.
    Folded,
    /// `perf.data`, which `perf record` writes.
    PerfData,
    /// The output of `perf script`.
    PerfScript,
    /// V8's `.cpuprofile`.
    CpuProfile,
    /// Chrome's trace events, with a CPU profile or spans.
    ChromeTrace,
    /// speedscope's JSON.
    Speedscope,
    /// Firefox's JSON, as the browser, its profiler and samply write it.
    Firefox,
    /// JDK Flight Recorder's file.
    Jfr,
    /// stackprof's JSON.
    Stackprof,
    /// callgrind's output.
    Callgrind,
    /// gprof's text.
    Gprof,
    /// The statistics of Python's `cProfile`.
    Pstats,
    /// gprof2dot's JSON.
    Gprof2dot,
    /// Perfetto's trace, with samples of stacks.
    Perfetto,
    /// simpleperf's report of samples as protobuf.
    Simpleperf,
    /// A table copied from Instruments.
    Instruments,
    /// GHC's profile of cost centres as JSON.
    Haskell,
    /// DHAT's JSON, of Valgrind and of Rust's crate.
    Dhat,
    /// Massif's output.
    Massif,
    /// Scalene's JSON.
    Scalene,
    /// pyinstrument's JSON.
    Pyinstrument,
    /// A log of `node --prof`, converted by `node --prof-process --preprocess`.
    V8Log,
    /// V8's sampling heap profile, `.heapprofile`.
    HeapProfile,
    /// Stacks with counts, as DTrace prints them.
    DTrace,
    /// Maps of stacks, as bpftrace prints them.
    Bpftrace,
    /// A timeline of Safari's Web Inspector.
    Safari,
    /// Text of gperftools, jemalloc and Go: memory, waiting and goroutines.
    PprofText,
    /// gperftools' CPU profile.
    Gperftools,
    /// Go's execution trace, with CPU samples.
    GoTrace,
    /// Not a file format: the call trees of a transactional profile.
    Transactions,
}

impl Format {
    /// The name that users see, also in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Format::Otlp => "OTLP",
            Format::Pprof => "pprof",
            Format::Folded => "folded stacks",
            Format::PerfData => "perf.data",
            Format::PerfScript => "perf script",
            Format::CpuProfile => "cpuprofile",
            Format::ChromeTrace => "Chrome trace",
            Format::Speedscope => "speedscope",
            Format::Firefox => "Firefox",
            Format::Jfr => "JFR",
            Format::Stackprof => "stackprof",
            Format::Callgrind => "callgrind",
            Format::Gprof => "gprof",
            Format::Pstats => "pstats",
            Format::Gprof2dot => "gprof2dot JSON",
            Format::Perfetto => "Perfetto",
            Format::Simpleperf => "simpleperf",
            Format::Instruments => "Instruments",
            Format::Haskell => "Haskell",
            Format::Dhat => "DHAT",
            Format::Massif => "massif",
            Format::Scalene => "Scalene",
            Format::Pyinstrument => "pyinstrument",
            Format::V8Log => "V8 log",
            Format::HeapProfile => "heapprofile",
            Format::DTrace => "DTrace",
            Format::Bpftrace => "bpftrace",
            Format::Safari => "Safari",
            Format::PprofText => "legacy pprof text",
            Format::Gperftools => "gperftools CPU profile",
            Format::GoTrace => "Go trace",
            Format::Transactions => "transactions",
        }
    }
}

/// A profile with all its value types.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The file's format.
    pub format: Format,
    /// Its calls and their costs.
    pub calls: Calls,
    /// The number of the value type to show first.
    pub default_value: usize,
    /// What a reader of the profile should know: parts that were left out, stacks that were cut. Whole sentences.
    pub notes: Vec<String>,
    /// Names that rules changed, see [`names`]. Empty after [`read`](crate::read).
    pub renamed: Vec<names::Renamed>,
}

/// What a profile knows about calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Calls {
    /// Calling contexts with their costs.
    Tree(CallTree),
    /// Functions and single calls: one graph for each value type, all with the same functions and calls.
    Graphs(Vec<CallGraph>),
}

impl Profile {
    /// The value types. [`Profile::default_value`] is an index into them.
    pub fn value_types(&self) -> Vec<&ValueType> {
        match &self.calls {
            Calls::Tree(tree) => tree.value_types().iter().collect(),
            Calls::Graphs(graphs) => graphs.iter().map(|graph| &graph.value_type).collect(),
        }
    }
}

/// What tells frames of one function apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// Nothing: [`Frame::line`](fulcrum_model::call_tree::Frame::line) is where the function is declared.
    #[default]
    Functions,
    /// The line that ran, which is then [`Frame::line`](fulcrum_model::call_tree::Frame::line).
    Lines,
}
