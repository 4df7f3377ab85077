//! `<pid>-<n>.proc`: the state and the live counters of one process.

use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// First word of [`Process`].
pub const PROCESS_MAGIC: u64 = u64::from_le_bytes(*b"FULCPROC");

/// How far a process has come.
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

/// `<pid>-<n>.proc`: the runtime's side of the control block.
#[repr(C)]
pub struct Process {
    /// [`PROCESS_MAGIC`].
    pub magic: u64,
    /// [`VERSION`](crate::VERSION).
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
    /// Index of the line under experiment, or [`NONE`](crate::NONE).
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
