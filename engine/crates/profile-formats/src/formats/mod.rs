//! The readers, one module for each format. Each has two functions: `detect` says whether a file is in its format, and `read`
//! reads it. The registry in `lib.rs` lists them.

pub(crate) mod bpftrace;
pub(crate) mod callgrind;
pub(crate) mod chrome_trace;
pub(crate) mod dhat;
pub(crate) mod dtrace;
pub(crate) mod firefox;
pub(crate) mod folded;
pub(crate) mod go_trace;
pub(crate) mod gprof;
pub(crate) mod gprof2dot;
pub(crate) mod haskell;
pub(crate) mod instruments;
pub(crate) mod jfr;
pub(crate) mod legacy;
pub(crate) mod massif;
pub(crate) mod otlp;
pub(crate) mod perf_data;
pub(crate) mod perf_script;
pub(crate) mod perfetto;
pub(crate) mod pprof;
pub(crate) mod pstats;
pub(crate) mod pyinstrument;
pub(crate) mod safari;
pub(crate) mod scalene;
pub(crate) mod simpleperf;
pub(crate) mod speedscope;
pub(crate) mod stackprof;
pub(crate) mod v8;
pub(crate) mod v8_heap;
pub(crate) mod v8_log;
pub(crate) mod v8_old;
mod valgrind;
