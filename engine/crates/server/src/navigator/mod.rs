//! Open navigators: bottleneck searches, each with a thread of its own that executes its commands in order.

mod by_name;
pub(crate) mod convert;
pub(crate) mod flame;
pub(crate) mod hot_lines;
mod line_costs;
mod naming;
mod navigation;
pub(crate) mod places;
mod ran_lines;
mod recorded;
pub(crate) mod report;
mod search_snapshot;

use crossbeam_channel::{Sender, unbounded};
use fulcrum_model::Progress;

use crate::protocol::NavigatorId;
use crate::protocol::failure::Failure;
pub(crate) use navigation::Navigation;
pub(crate) use recorded::Place;
pub(crate) use search_snapshot::SearchSnapshot;

type Job = Box<dyn FnOnce(&mut Navigation) + Send>;

/// An open navigator, as the loop knows it. Dropping it cancels its searches; its thread ends when the commands that were sent
/// are done.
#[derive(Debug)]
pub(crate) struct Navigator {
    jobs: Sender<Job>,
    open: Progress,
}

impl Drop for Navigator {
    fn drop(&mut self) {
        self.open.cancel();
    }
}

impl Navigator {
    /// Sends the navigator's thread a job, which it does after all that were sent before.
    pub(crate) fn send(&self, job: impl FnOnce(&mut Navigation) + Send + 'static) {
        // The thread holds the other end as long as this one is.
        let _ = self.jobs.send(Box::new(job));
    }

    /// A navigator, and the work of its thread: it serves until the navigator is dropped.
    pub(crate) fn new() -> (Navigator, impl FnOnce(Navigation)) {
        let (jobs, receiver) = unbounded::<Job>();
        let serve = move |mut navigation: Navigation| {
            for job in receiver {
                job(&mut navigation);
            }
        };
        let open = Progress::default();
        (Navigator { jobs, open }, serve)
    }

    /// Cancelled when the navigator is closed.
    pub(crate) fn open(&self) -> &Progress {
        &self.open
    }

    /// The failure of a request for a navigator that is not open.
    pub(crate) fn absent(id: NavigatorId) -> Failure {
        Failure::user(
            format!("navigator {id} is not open"),
            Some("Open its profile again."),
        )
    }
}
