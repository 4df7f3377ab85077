//! Open navigators: bottleneck searches, each with a thread of its own that does its commands in order.

pub(crate) mod convert;
pub(crate) mod flame;
pub(crate) mod hot_lines;
mod look;
mod naming;
pub(crate) mod places;
mod ran_lines;
mod recorded;
pub(crate) mod report;
mod session;

use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Sender, unbounded};
use fulcrum_model::Progress;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::main_loop::Task;
use crate::protocol::ProgressToken;
pub(crate) use look::Look;
pub(crate) use recorded::Place;
pub(crate) use session::Session;

type Job = Box<dyn FnOnce(&mut Session) + Send>;

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
    pub fn send(&self, job: impl FnOnce(&mut Session) + Send + 'static) {
        // The thread holds the other end as long as this one is.
        let _ = self.jobs.send(Box::new(job));
    }

    /// A navigator, and what its thread must do for it.
    pub fn new() -> (Navigator, impl FnOnce(Session)) {
        let (jobs, receiver) = unbounded::<Job>();
        let serve = move |mut session: Session| {
            for job in receiver {
                job(&mut session);
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

fn percentage(part: f64) -> u32 {
    (part.clamp(0.0, 1.0) * 100.0) as u32
}

/// Work that takes long, and what the client hears of it.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub token: Option<ProgressToken>,
    pub tasks: Sender<Task>,
    /// Cancelled with the request; what it hears goes to the client.
    pub progress: Progress,
}

impl Work {
    /// The work of a request. Whoever cancels `request` cancels it.
    pub fn new(token: Option<ProgressToken>, tasks: Sender<Task>, request: &Progress) -> Work {
        let (to, at) = (tasks.clone(), token.clone());
        let said = Mutex::new((String::new(), u32::MAX));
        let progress = request.with_listener(move |phase: &str, fraction: f64| {
            let percentage = percentage(fraction);
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            // Only what is new.
            if (said.0.as_str(), said.1) != (phase, percentage) {
                *said = (phase.to_owned(), percentage);
                let report =
                    json!({ "kind": "report", "message": phase, "percentage": percentage });
                say(&to, at.as_ref(), report);
            }
        });
        Work {
            token,
            tasks,
            progress,
        }
    }

    pub fn begin(&self, title: &str) {
        let begin =
            json!({ "kind": "begin", "title": title, "cancellable": true, "percentage": 0 });
        say(&self.tasks, self.token.as_ref(), begin);
    }

    pub fn end(&self) {
        say(&self.tasks, self.token.as_ref(), json!({ "kind": "end" }));
    }
}

fn say(tasks: &Sender<Task>, token: Option<&ProgressToken>, value: Value) {
    if let Some(token) = token {
        let params = json!({ "token": token, "value": value });
        // The loop is gone only when the server is.
        let _ = tasks.send(Task::Notify {
            method: "$/progress",
            params,
        });
    }
}
