//! Layouts shared with code injected into other people's programs: the control block of a live run.
//!
//! Three kinds of file live in a run folder while the run goes on, each mapped `MAP_SHARED` by both sides:
//! - [`ControlBlock`] (`session.ctl`): written by the engine before the program starts. Heartbeat, commands, settings.
//! - [`Process`] (`<pid>-<n>.proc`): created by the runtime inside each process. State and live counters.
//! - [`MapHeader`] (`<pid>-<n>.<generation>.map`): written by the engine in answer. What may be sped up ("targets"), and
//!   the address ranges that belong to each. A new generation follows when libraries come or the user aims elsewhere.
//! - sample counters (`<pid>-<n>.<generation>.counts`), one a target, and behind them what targets do in calls
//!   ([`CallSlot`]): they outlive the process whatever kills it. A forked child shares its parent's map and makes counters of
//!   its own.
//! - [`UnwindHeader`] (`<pid>-<n>.<generation>.unwind`): how to find callers, for code without frame pointers.
//!
//! [`causal`] names the records of causal runs; [`log`] is the layout of event logs, which outlive their programs, and
//! [`transactions`] that of logs of what transactions did.
//!
//! Everything else is `repr(C)`, little-endian, and versioned by [`VERSION`]: two sides that differ refuse each other.
#![no_std]
#![forbid(unsafe_code)]

mod calls;
pub mod causal;
pub mod log;
pub mod perf;
mod points;
pub mod transactions;

use core::mem::size_of;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

pub use calls::*;
pub use points::*;

/// Changes whenever a layout in this crate does.
pub const VERSION: u32 = 7;
/// First word of [`ControlBlock`].
pub const SESSION_MAGIC: u64 = u64::from_le_bytes(*b"FULCSESS");
/// First word of [`Process`].
pub const PROCESS_MAGIC: u64 = u64::from_le_bytes(*b"FULCPROC");
/// First word of [`MapHeader`].
pub const MAP_MAGIC: u64 = u64::from_le_bytes(*b"FULCMAPS");
/// First word of [`UnwindHeader`].
pub const UNWIND_MAGIC: u64 = u64::from_le_bytes(*b"FULCUNWI");

/// Environment variable that carries the run folder's absolute path to the runtime.
pub const SESSION_VARIABLE: &str = "FULCRUM_SESSION";
/// File name of the [`ControlBlock`] in the run folder.
pub const SESSION_FILE: &str = "session.ctl";

/// The engine counts as gone when its heartbeat is older than this: delays switch off.
pub const HEARTBEAT_LIMIT_NS: u64 = 2_000_000_000;

/// Speedups are kept in ten-thousandths: 2500 is 25 %.
pub const FULL_SPEEDUP: u32 = 10_000;
/// Added to [`ControlBlock::fixed_speedup`] in end-to-end mode: every thread makes the pauses of this speedup.
pub const PLACEBO: u32 = 1 << 16;
/// [`MapHeader::lock`] that stands for every lock.
pub const ANY_LOCK: u64 = 1;
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

/// What experiments speed up.
pub mod mode {
    /// Lines: a sample belongs to the innermost line in scope.
    pub const LINE: u32 = 0;
    /// Functions without what they call: to the innermost function in scope.
    pub const FUNCTION: u32 = 1;
    /// Functions with what they call: to every function in the call chain.
    pub const INCLUSIVE: u32 = 2;
    /// Call sequences: to every sequence that the call chain contains.
    pub const PATH: u32 = 3;
    /// Blocked calls: the time that a thread waits, at the innermost line in scope.
    pub const BLOCKED: u32 = 4;
}

/// How much of the runtime is at work: for measuring what each part costs.
pub mod part {
    /// Everything.
    pub const ALL: u32 = 0;
    /// Hooks alone.
    pub const HOOKS: u32 = 1;
    /// Hooks and samples, no experiments.
    pub const SAMPLING: u32 = 2;
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
pub struct ControlBlock {
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
    /// Only this speedup; [`NONE`] for a free draw. In end-to-end mode, what the next program's only experiment does; with
    /// [`PLACEBO`] added, as a placebo.
    pub fixed_speedup: AtomicU32,
    /// Seed of the draws.
    pub seed: u32,
    /// Share of the run time that samples and delays may take, ten-thousandths; [`NONE`] for no limit.
    pub max_overhead: u32,
    /// One of [`part`].
    pub part: u32,
    /// Not zero: the whole life of a process is one experiment, on the fixed target.
    pub end_to_end: u32,
    /// Not zero: some of the experiments without a speedup are placebos.
    pub placebo: u32,
    /// Before an experiment is measured, its speedup is in force for so long, nanoseconds: queues fill or drain.
    pub warmup_ns: u64,
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
    /// The newest map that the engine has written for this process; 0 is the first.
    pub generation: AtomicU32,
    /// The newest unwind table that the engine has written, counted from 1; 0 when there is none yet.
    pub unwind: AtomicU32,
    /// The newest generation that the runtime uses.
    pub adopted: AtomicU32,
    /// Whose map this process uses: its own id, or that of the parent it was forked from.
    pub map_pid: u32,
    /// And that process's turn.
    pub map_turn: u32,
    /// Which of the programs that this process has executed in turn; or of its lives as a forked child.
    pub turn: u32,
    /// Generation of the map when a forked child began; 0 otherwise.
    pub first_generation: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
    /// Time that the process's threads have stood in run queues, nanoseconds; written by the engine.
    pub queued_ns: AtomicU64,
    /// `CLOCK_MONOTONIC` nanoseconds when the stream of the newest map began.
    pub epoch_ns: AtomicU64,
    /// [`Process::global_ns`] at that moment.
    pub epoch_delay_ns: AtomicU64,
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
    /// The program restricts itself to system calls without ours, so recording ended before.
    pub const SEALED: u32 = 64;
    /// Samples of at least one thread leave out the time in which the kernel works for it.
    pub const KERNEL_UNSEEN: u32 = 128;
}

/// Head of a map file; the arrays follow at the offsets it names.
#[repr(C)]
pub struct MapHeader {
    /// [`MAP_MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// One of [`mode`].
    pub mode: u32,
    /// Number of targets.
    pub target_count: u32,
    /// Number of [`Range`]s.
    pub range_count: u32,
    /// Number of [`Node`]s; 0 when ranges name targets themselves.
    pub node_count: u32,
    /// Number of entries in all paths together ([`mode::PATH`]).
    pub step_count: u32,
    /// Index of the only target that may be selected, or [`NONE`].
    pub fixed: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
    /// Byte offset of `[Range; range_count]`, sorted by start, disjoint.
    pub ranges_at: u64,
    /// Byte offset of `[Node; node_count]`.
    pub nodes_at: u64,
    /// Byte offset of `[Text; target_count]`: each target's name (`FILE:LINE`, `function:NAME@FILE:LINE`…), UTF-8,
    /// JSON-escaped already.
    pub names_at: u64,
    /// Byte offset of `[Steering; target_count]`.
    pub steering_at: u64,
    /// Byte offset of `[u32; step_count]`: the paths one after another, each a target, outermost function first, each
    /// ended by [`NONE`].
    pub steps_at: u64,
    /// Length of the whole file.
    pub length: u64,
    /// Only samples of threads that hold the lock at this address count, or any lock ([`ANY_LOCK`]); 0 for all samples.
    pub lock: u64,
    /// The type of the requests that are progress points; empty when none are.
    pub request: Text,
}

/// What the engine asks for one target. It changes as the engine learns.
#[repr(C)]
#[derive(Debug)]
pub struct Steering {
    /// How likely a sample is accepted as the choice of what to speed up, 1 to [`FULL_WEIGHT`].
    pub weight: AtomicU32,
    /// Experiments warm up at least this long, milliseconds, if that is longer than [`ControlBlock::warmup_ns`].
    pub warmup_ms: AtomicU32,
    /// The speedups that its experiments draw from, a bit for each of [`ControlBlock::levels`]; 0 for all.
    pub levels: AtomicU32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
}

/// The weight of a target that is always accepted.
pub const FULL_WEIGHT: u32 = 65_536;

/// In sample counters of [`mode::BLOCKED`], the call is kept above this bit (index + 1), the count below.
pub const CALL_SHIFT: u32 = 56;

/// The calls that [`mode::BLOCKED`] tells apart, by their index.
pub const CALLS: [&str; 16] = [
    "read",
    "write",
    "recv",
    "accept",
    "poll",
    "select",
    "epoll_wait",
    "nanosleep",
    "futex",
    "pthread_cond_wait",
    "pthread_mutex_lock",
    "pthread_rwlock_lock",
    "sem_wait",
    "pthread_barrier_wait",
    "pthread_join",
    "sigwait",
];

/// Addresses that belong to one target or node, as they are in the running process.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// Index of the node; of the target when the map has no nodes.
    pub index: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
}

/// A function's activation, possibly inlined into another.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of the function: a target, or a step of paths. [`NONE`] when nobody asks for it.
    pub function: u32,
    /// The node it is inlined into, or [`NONE`].
    pub parent: u32,
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

/// How many of each a map holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapSizes {
    /// Targets.
    pub targets: usize,
    /// Ranges.
    pub ranges: usize,
    /// Nodes.
    pub nodes: usize,
    /// Steps of paths.
    pub steps: usize,
    /// Bytes of names.
    pub text: usize,
}

/// Byte offsets of a map file's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapLayout {
    /// [`MapHeader::ranges_at`].
    pub ranges_at: usize,
    /// [`MapHeader::nodes_at`].
    pub nodes_at: usize,
    /// [`MapHeader::names_at`].
    pub names_at: usize,
    /// [`MapHeader::steering_at`].
    pub steering_at: usize,
    /// [`MapHeader::steps_at`].
    pub steps_at: usize,
    /// Where the names' bytes begin.
    pub text_at: usize,
    /// Length of the file.
    pub length: usize,
}

impl MapLayout {
    /// Lays the parts out one after another, each aligned to 8 bytes.
    pub const fn new(sizes: MapSizes) -> MapLayout {
        let ranges_at = size_of::<MapHeader>().next_multiple_of(8);
        let nodes_at = ranges_at + sizes.ranges * size_of::<Range>();
        let names_at = nodes_at + sizes.nodes * size_of::<Node>();
        let steering_at = names_at + sizes.targets * size_of::<Text>();
        let steps_at = steering_at + sizes.targets * size_of::<Steering>();
        let text_at = steps_at + (sizes.steps * size_of::<u32>()).next_multiple_of(8);
        MapLayout {
            ranges_at,
            nodes_at,
            names_at,
            steering_at,
            steps_at,
            text_at,
            length: text_at + sizes.text,
        }
    }
}

/// Head of an unwind file; `[Unwind; row_count]` follows, sorted by start.
#[repr(C)]
pub struct UnwindHeader {
    /// [`UNWIND_MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Number of rows.
    pub row_count: u32,
}

/// How to find the caller's frame from an address on, up to the next row (x86-64; the return address is at CFA − 8).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwind {
    /// First address, as it is in the running process.
    pub start: u64,
    /// The canonical frame address less the base register.
    pub cfa_offset: i32,
    /// Where the caller's `rbp` is saved, relative to the CFA; 0 when it is still in the register.
    pub rbp_offset: i16,
    /// One of [`base`].
    pub base: u8,
    /// Keeps the layout the same everywhere.
    pub unused: u8,
}

/// What the canonical frame address is computed from.
pub mod base {
    /// There is no caller, or no rule that a row can hold.
    pub const END: u8 = 0;
    /// `rsp`.
    pub const RSP: u8 = 1;
    /// `rbp`.
    pub const RBP: u8 = 2;
    /// In a procedure linkage table: `rsp + 8`, and 8 more in the second half of an entry.
    pub const PLT: u8 = 3;
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{align_of, offset_of};

    /// The layouts are a contract between two builds: a change here needs a new [`VERSION`].
    #[test]
    fn layouts_are_fixed() {
        assert_eq!(size_of::<ControlBlock>(), 232);
        assert_eq!(offset_of!(ControlBlock, heartbeat_ns), 16);
        assert_eq!(offset_of!(ControlBlock, levels), 72);
        assert_eq!(offset_of!(ControlBlock, max_overhead), 208);
        assert_eq!(size_of::<Process>(), 144);
        assert_eq!(offset_of!(Process, state), 16);
        assert_eq!(offset_of!(Process, start_ns), 24);
        assert_eq!(offset_of!(Process, queued_ns), 120);
        assert_eq!(size_of::<MapHeader>(), 112);
        assert_eq!((size_of::<Range>(), align_of::<Range>()), (24, 8));
        assert_eq!((size_of::<Unwind>(), size_of::<Node>()), (16, 8));
        assert_eq!(size_of::<UnwindHeader>(), 16);
    }

    #[test]
    fn a_map_keeps_every_part_aligned() {
        for (targets, ranges, nodes, steps, text) in
            [(0, 0, 0, 0, 0), (1, 1, 1, 1, 5), (7, 13, 3, 9, 101)]
        {
            let layout = MapLayout::new(MapSizes {
                targets,
                ranges,
                nodes,
                steps,
                text,
            });
            for at in [
                layout.ranges_at,
                layout.nodes_at,
                layout.names_at,
                layout.steering_at,
                layout.steps_at,
                layout.text_at,
            ] {
                assert_eq!(at % 8, 0);
            }
            assert_eq!(layout.text_at + text, layout.length);
            assert!(layout.steps_at - layout.steering_at >= targets * 8);
        }
    }
}
