//! Records the transactions of a tree of processes (Whodunit §7.1): starts a program under `transaction-runtime`, samples it and
//! everything that it starts from outside, and leaves a run.
//!
//! The processes themselves write logs of what happens to transactions, so nothing is lost when the engine dies.

mod code;
mod newcomers;
mod pace;
mod perf;
mod process;
mod rate;
mod sampler;
mod session;
mod settings;
mod windows;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use session::record_transactions;

use crate::Stdio;

/// The default limit of one process's log, bytes.
pub const TRANSACTION_LOG_LIMIT: u64 = 1 << 30;

/// By how much recording may slow a program down if nobody says otherwise, as a fraction.
pub const TRANSACTION_OVERHEAD: f64 = 0.03;

/// What to record and how.
#[derive(Clone, Debug)]
pub struct TransactionOptions {
    /// The program: a server, or what starts one.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working folder; the recorder's own when `None`.
    pub cwd: Option<PathBuf>,
    /// The folder that holds `.fulcrum/runs`; the working folder when `None`.
    pub workspace: Option<PathBuf>,
    /// The folder to write, instead of a new one in the run store.
    pub output: Option<PathBuf>,
    /// Stop all processes after this long.
    pub duration: Option<Duration>,
    /// Where the program's standard streams go.
    pub stdio: Stdio,
    /// The largest size of a log, in bytes.
    pub limit: u64,
    /// Name requests by the first bytes of messages, which the logs keep for that purpose.
    pub names: bool,
    /// Watch critical sections for transactions that flow through shared memory, from thread to thread (Whodunit §3).
    pub shared_memory: bool,
    /// By how much recording may slow the program down in the long run, as a fraction: it pauses when it costs more. With `None`,
    /// everything is recorded.
    pub max_overhead: Option<f64>,
    /// The CPU time between two samples of a thread at first, in nanoseconds. It becomes longer when there are plenty of samples.
    pub period_ns: u64,
}

/// The CPU time between two samples of a thread if nobody asks for another one, in nanoseconds.
///
/// The kernel takes samples at multiples of the period, and turns to another thread at multiples of its tick: 1, 3⅓, 4 or 10 ms.
/// If one were a multiple of the other, threads that share a busy processor would be met at the same moments of their turns again
/// and again, and have up to two thirds too many samples. This is the fraction (3 − √5) / 4 of 10 ms.
const PERIOD_NS: u64 = 1_909_830;

impl Default for TransactionOptions {
    fn default() -> Self {
        TransactionOptions {
            program: OsString::new(),
            args: Vec::new(),
            cwd: None,
            workspace: None,
            output: None,
            duration: None,
            stdio: Stdio::Inherit,
            limit: TRANSACTION_LOG_LIMIT,
            names: true,
            shared_memory: true,
            max_overhead: Some(TRANSACTION_OVERHEAD),
            period_ns: PERIOD_NS,
        }
    }
}

/// The status of a recording of transactions. Sent about twice a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionProgress {
    /// The run folder.
    pub run: PathBuf,
    /// The time since the program started.
    pub elapsed: Duration,
    /// The number of processes with a log.
    pub processes: usize,
    /// How many of these still run.
    pub running: usize,
    /// The size of their logs, in bytes.
    pub bytes: u64,
    /// The number of CPU samples.
    pub samples: u64,
    /// Recording pauses at the moment, because it would cost too much.
    pub is_paused: bool,
    /// The program itself has ended, and processes that it started run on.
    pub program_ended: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_at_all_moments_between_two_ticks_of_the_kernel() {
        let periods = [1, 2, 4].map(|times| (times * PERIOD_NS) as f64);
        for (ticks_a_second, period) in [100, 250, 300, 1000]
            .into_iter()
            .flat_map(|ticks| periods.map(|period| (ticks, period)))
        {
            let tick = 1e9 / f64::from(ticks_a_second);
            let mut moments: Vec<f64> = (0..500)
                .map(|sample| f64::from(sample) * period % tick / tick)
                .collect();
            moments.sort_by(f64::total_cmp);
            let gaps = moments.windows(2).map(|it| it[1] - it[0]);
            let widest = gaps.fold(moments[0] + 1.0 - moments[499], f64::max);
            assert!(widest < 0.02, "{ticks_a_second} Hz, {period} ns: {widest}");
        }
    }
}
