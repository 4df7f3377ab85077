//! Open navigators: bottleneck searches, each with a thread of its own that does its commands in order.

mod by_name;
pub(crate) mod convert;
pub(crate) mod flame;
pub(crate) mod hot_lines;
mod naming;
mod navigation;
pub(crate) mod places;
mod ran_lines;
mod recorded;
pub(crate) mod report;
mod search_snapshot;

use crossbeam_channel::{Sender, unbounded};
use fulcrum_model::Progress;

use crate::failure::Failure;
pub(crate) use navigation::Navigation;
pub(crate) use recorded::Place;
pub(crate) use search_snapshot::SearchSnapshot;

type Job = Box<dyn FnOnce(&mut Navigation) + Send>;

/// An open navigator, seen from the loop. When this is dropped, its searches are cancelled, and its thread ends when the
/// commands that were sent are done.
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
    /// Has something done, after everything that was sent before.
    pub fn send(&self, job: impl FnOnce(&mut Navigation) + Send + 'static) {
        // The thread holds the other end as long as this one is.
        let _ = self.jobs.send(Box::new(job));
    }

    /// A navigator, and what its thread must do for it.
    pub fn new() -> (Navigator, impl FnOnce(Navigation)) {
        let (jobs, receiver) = unbounded::<Job>();
        let serve = move |mut navigation: Navigation| {
            for job in receiver {
                job(&mut navigation);
            }
        };
        let open = Progress::default();
        (Navigator { jobs, open }, serve)
    }

    /// A request's token, which closing the navigator cancels too.
    pub fn request(&self, request: &Progress) -> Progress {
        request.within(&self.open)
    }

    /// There is none with this number.
    pub fn absent(id: u32) -> Failure {
        Failure::user(
            format!("navigator {id} is not open"),
            Some("Open its profile again."),
        )
    }
}
