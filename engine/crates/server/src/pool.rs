//! A few threads for read-only requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use crossbeam_channel::{Sender, unbounded};

use crate::failure::Failure;

type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs in the order they come, on a fixed number of threads.
pub struct Pool {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of `size` threads.
    pub fn new(size: usize) -> std::io::Result<Pool> {
        let (jobs, receiver) = unbounded::<Job>();
        let threads = (0..size.max(1))
            .map(|n| {
                let receiver = receiver.clone();
                std::thread::Builder::new()
                    .name(format!("fulcrum-pool-{n}"))
                    .spawn(move || {
                        for job in receiver {
                            job();
                        }
                    })
            })
            .collect::<std::io::Result<_>>()?;
        Ok(Pool {
            jobs: Some(jobs),
            threads,
        })
    }

    /// Queues a job. It must not panic outside of [`guarded`].
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            // The threads end only when this sender is dropped.
            let _ = jobs.send(Box::new(job));
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Turns a panic of a request into its failure: one broken request is one failed request.
pub fn guarded<T>(method: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
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
