//! Layouts shared with code injected into other people's programs: the control block of a live run.
//!
//! Three kinds of file live in a run folder while the run goes on, each mapped `MAP_SHARED` by both sides:
//! - [`Session`] (`session.ctl`): written by the engine before the program starts. Heartbeat, commands, settings.
//! - [`Process`] (`<pid>-<n>.proc`): created by the runtime inside each process. State and live counters.
//! - [`MapHeader`] (`<pid>-<n>.map`): written by the engine in answer. Address ranges of the lines in scope, their
//!   names, and one sample counter a line, which outlives the process whatever kills it.
//!
//! Everything is `repr(C)`, little-endian, and versioned by [`VERSION`]: two sides that differ refuse each other.
#![no_std]

use core::mem::size_of;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// Changes whenever a layout in this crate does.
pub const VERSION: u32 = 1;
/// First word of [`Session`].
pub const SESSION_MAGIC: u64 = u64::from_le_bytes(*b"FULCSESS");
/// First word of [`Process`].
pub const PROCESS_MAGIC: u64 = u64::from_le_bytes(*b"FULCPROC");
/// First word of [`MapHeader`].
pub const MAP_MAGIC: u64 = u64::from_le_bytes(*b"FULCMAPS");

/// Environment variable that carries the run folder's absolute path to the runtime.
pub const SESSION_VARIABLE: &str = "FULCRUM_SESSION";
/// File name of the [`Session`] in the run folder.
pub const SESSION_FILE: &str = "session.ctl";

/// The engine counts as gone when its heartbeat is older than this: delays switch off.
pub const HEARTBEAT_LIMIT_NS: u64 = 2_000_000_000;

/// Speedups are kept in ten-thousandths: 2500 is 25 %.
pub const FULL_SPEEDUP: u32 = 10_000;
/// Longest list of speedups to draw from.
pub const MAX_LEVELS: usize = 32;
/// "None" in `u32` fields that hold a line's index or a speedup.
pub const NONE: u32 = u32::MAX;

/// What the engine asks of every process of a session.
pub mod command {
    /// Run experiments.
    pub const RUN: u32 = 0;
    /// Sample, but start no experiment.
    pub const PAUSE: u32 = 1;
    /// End the current experiment, write the last records, switch delays off. The program goes on.
    pub const FINISH: u32 = 2;
}

/// How samples are taken.
pub mod sampler {
    /// perf events where allowed, else the CPU timer, decided per thread.
    pub const AUTO: u32 = 0;
    /// perf events only.
    pub const PERF: u32 = 1;
    /// CPU timers only.
    pub const TIMER: u32 = 2;
}

/// Where a process stands.
pub mod state {
    /// The runtime waits for the engine's answer.
    pub const HELLO: u32 = 1;
    /// The engine has written the map: profile.
    pub const READY: u32 = 2;
    /// The engine found nothing to profile here: stay out of the way.
    pub const DORMANT: u32 = 3;
    /// The runtime takes samples and runs experiments.
    pub const RUNNING: u32 = 4;
    /// The runtime has written its last record.
    pub const FINISHED: u32 = 5;
}

/// `session.ctl`: the engine's side of the control block.
#[repr(C)]
pub struct Session {
    /// [`SESSION_MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// One of [`command`]; a futex word.
    pub command: AtomicU32,
    /// `CLOCK_MONOTONIC` nanoseconds, renewed about ten times a second while the engine lives.
    pub heartbeat_ns: AtomicU64,
    /// Counts processes that have created their `.proc` file.
    pub hellos: AtomicU32,
    /// Signal number that samples arrive with.
    pub signal: i32,
    /// CPU time between two samples of a thread, nanoseconds: `P` of COZ eq. 1.
    pub period_ns: u64,
    /// Samples per signal.
    pub batch: u32,
    /// One of [`sampler`].
    pub sampler: u32,
    /// Shortest experiment, nanoseconds; doubled while progress points are visited too rarely.
    pub experiment_ns: u64,
    /// Pause between experiments, nanoseconds.
    pub cooloff_ns: u64,
    /// Visits an experiment should have (COZ: 5).
    pub min_visits: u32,
    /// Number of entries in `levels`.
    pub level_count: u32,
    /// Speedups to draw from, 0 excluded, ascending.
    pub levels: [u32; MAX_LEVELS],
    /// Only this speedup; [`NONE`] for a free draw.
    pub fixed_speedup: u32,
    /// Seed of the draws.
    pub seed: u32,
}

/// `<pid>-<n>.proc`: the runtime's side of the control block.
#[repr(C)]
pub struct Process {
    /// [`PROCESS_MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// The process.
    pub pid: u32,
    /// One of [`state`]; a futex word.
    pub state: AtomicU32,
    /// Bit set: 1 perf sampling in use, 2 timer sampling in use, 4 more threads than can be followed,
    /// 8 more progress points than can be followed, 16 records could not be written.
    pub flags: AtomicU32,
    /// `CLOCK_MONOTONIC` nanoseconds when the runtime began; times in records count from here.
    pub start_ns: u64,
    /// Experiments written.
    pub experiments: AtomicU64,
    /// Visits to all progress points.
    pub visits: AtomicU64,
    /// Progress points that the program has registered.
    pub points: AtomicU32,
    /// Index of the line under experiment, or [`NONE`].
    pub selected: AtomicU32,
    /// Samples taken in all threads.
    pub samples: AtomicU64,
    /// Samples in a line in scope.
    pub in_scope: AtomicU64,
    /// Delay inserted so far on the longest-delayed thread, nanoseconds: the global count of COZ §3.4.
    pub global_ns: AtomicU64,
    /// Negative errno of the last failed write of a record; 0 when none failed.
    pub write_error: AtomicI64,
}

/// Bits of [`Process::flags`].
pub mod flag {
    /// At least one thread is sampled by perf events.
    pub const PERF: u32 = 1;
    /// At least one thread is sampled by the CPU timer.
    pub const TIMER: u32 = 2;
    /// Some threads run unprofiled.
    pub const TOO_MANY_THREADS: u32 = 4;
    /// Some progress points are not counted.
    pub const TOO_MANY_POINTS: u32 = 8;
    /// Some records could not be written.
    pub const WRITE_FAILED: u32 = 16;
    /// At least one thread could not be sampled at all.
    pub const NOT_SAMPLED: u32 = 32;
}

/// Head of `<pid>-<n>.map`; the arrays follow at the offsets it names.
#[repr(C)]
pub struct MapHeader {
    /// [`MAP_MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Number of lines in scope.
    pub line_count: u32,
    /// Number of [`Range`]s.
    pub range_count: u32,
    /// Index of the only line that may be selected, or [`NONE`].
    pub fixed_line: u32,
    /// Byte offset of `[Range; range_count]`, sorted by start, disjoint.
    pub ranges_at: u64,
    /// Byte offset of `[Text; line_count]`: each line's `FILE:LINE`, UTF-8, JSON-escaped already.
    pub names_at: u64,
    /// Byte offset of `[AtomicU64; line_count]`: samples of each line.
    pub counts_at: u64,
    /// Length of the whole file.
    pub length: u64,
}

/// Addresses that belong to one line, as they are in the running process.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// Index of the line.
    pub line: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
}

/// A text elsewhere in the map file.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Byte offset in the file.
    pub at: u64,
    /// Length in bytes.
    pub length: u64,
}

/// Byte offsets of a map file's parts, for `lines` lines, `ranges` ranges and `text` bytes of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapLayout {
    /// [`MapHeader::ranges_at`].
    pub ranges_at: usize,
    /// [`MapHeader::names_at`].
    pub names_at: usize,
    /// [`MapHeader::counts_at`].
    pub counts_at: usize,
    /// Where the names' bytes begin.
    pub text_at: usize,
    /// Length of the file.
    pub length: usize,
}

impl MapLayout {
    /// Lays the parts out one after another, each aligned to 8 bytes.
    pub const fn new(lines: usize, ranges: usize, text: usize) -> MapLayout {
        let ranges_at = size_of::<MapHeader>().next_multiple_of(8);
        let names_at = ranges_at + ranges * size_of::<Range>();
        let counts_at = names_at + lines * size_of::<Text>();
        let text_at = counts_at + lines * size_of::<AtomicU64>();
        MapLayout {
            ranges_at,
            names_at,
            counts_at,
            text_at,
            length: text_at + text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{align_of, offset_of};

    /// The layouts are a contract between two builds: a change here needs a new [`VERSION`].
    #[test]
    fn layouts_are_fixed() {
        assert_eq!(size_of::<Session>(), 208);
        assert_eq!(offset_of!(Session, heartbeat_ns), 16);
        assert_eq!(offset_of!(Session, levels), 72);
        assert_eq!(size_of::<Process>(), 88);
        assert_eq!(offset_of!(Process, state), 16);
        assert_eq!(offset_of!(Process, start_ns), 24);
        assert_eq!(size_of::<MapHeader>(), 56);
        assert_eq!((size_of::<Range>(), align_of::<Range>()), (24, 8));
    }

    #[test]
    fn a_map_keeps_every_part_aligned() {
        for (lines, ranges, text) in [(0, 0, 0), (1, 1, 5), (7, 13, 101)] {
            let layout = MapLayout::new(lines, ranges, text);
            for at in [layout.ranges_at, layout.names_at, layout.counts_at] {
                assert_eq!(at % 8, 0);
            }
            assert!(layout.text_at + text == layout.length);
            assert_eq!(layout.text_at - layout.counts_at, lines * 8);
        }
    }
}
