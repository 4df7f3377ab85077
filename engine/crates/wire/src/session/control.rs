//! `session.ctl`: heartbeat, commands and settings, from the engine to every process.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// First word of [`ControlBlock`].
pub const SESSION_MAGIC: u64 = u64::from_le_bytes(*b"FULCSESS");

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
/// Longest list of speedups to draw from.
pub const MAX_LEVELS: usize = 32;

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

/// How much of the runtime is active, for measuring what each part costs.
pub mod part {
    /// Everything.
    pub const ALL: u32 = 0;
    /// Hooks alone.
    pub const HOOKS: u32 = 1;
    /// Hooks and samples, no experiments.
    pub const SAMPLING: u32 = 2;
}

/// `session.ctl`: the engine's side of the control block.
#[repr(C)]
pub struct ControlBlock {
    /// [`SESSION_MAGIC`].
    pub magic: u64,
    /// [`VERSION`](crate::VERSION).
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
    /// Only this speedup; [`NONE`](crate::NONE) for a free draw. In end-to-end mode, what the next program's only experiment does; with
    /// [`PLACEBO`] added, as a placebo.
    pub fixed_speedup: AtomicU32,
    /// Seed of the draws.
    pub seed: u32,
    /// Share of the run time that samples and delays may take, ten-thousandths; [`NONE`](crate::NONE) for no limit.
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
