//! Threads for requests: a few for those that only read, and threads of their own for what takes long.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam_channel::{Sender, unbounded};

use crate::protocol::failure::Failure;

type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs in the order they come, on a fixed number of threads. A clone is the same pool.
#[derive(Clone)]
pub(crate) struct Pool {
    /// The threads end when all clones are dropped and the queue is empty. Nothing waits for them: a request that hangs must not
    /// keep the server from ending.
    jobs: Sender<Job>,
}

impl Pool {
    /// A pool of `size` threads.
    pub(crate) fn new(size: usize) -> std::io::Result<Pool> {
        let (jobs, receiver) = unbounded::<Job>();
        for n in 0..size.max(1) {
            let receiver = receiver.clone();
            std::thread::Builder::new()
                .name(format!("fulcrum-pool-{n}"))
                .spawn(move || {
                    for job in receiver {
                        job();
                    }
                })?;
        }
        Ok(Pool { jobs })
    }

    /// Queues a job. It must not panic outside of [`guarded`].
    pub(crate) fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        // The threads hold the other end as long as this one is.
        let _ = self.jobs.send(Box::new(job));
    }
}

/// Turns a panic of a request into its failure, so that other requests go on.
pub(crate) fn guarded<T>(
    method: &str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(Failure::fulcrum(format!(
            "{method} failed inside Fulcrum: {what}"
        )))
    })
}

/// Starts a thread for work on a profile or a trace that takes long.
pub(crate) fn thread(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = std::thread::Builder::new().name("fulcrum-navigator".into());
    let started = thread.spawn(work);
    started.map(drop).map_err(|error| {
        Failure::environment(
            format!("cannot start a thread for a profile: {error}"),
            None,
        )
    })
}
