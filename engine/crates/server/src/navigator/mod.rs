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

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Sender, unbounded};
use fulcrum_profiles::Hear;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::main_loop::Task;
use crate::protocol::ProgressToken;
pub(crate) use look::Look;
pub(crate) use recorded::Place;
pub(crate) use session::Session;

type Job = Box<dyn FnOnce(&mut Session) + Send>;

/// An open navigator, seen from the loop. Its thread ends when this is dropped and what was sent is done.
#[derive(Debug)]
pub(crate) struct Navigator {
    jobs: Sender<Job>,
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
        (Navigator { jobs }, serve)
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

/// Work that takes long: it tells how it goes on, and stops when nobody waits for it any more.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub token: Option<ProgressToken>,
    pub tasks: Sender<Task>,
    pub cancelled: Arc<AtomicBool>,
}

impl Work {
    /// Whether it should go on.
    pub fn wanted(&self) -> bool {
        !self.cancelled.load(Ordering::Relaxed)
    }

    pub fn begin(&self, title: &str) {
        self.say(json!({ "kind": "begin", "title": title, "cancellable": true, "percentage": 0 }));
    }

    /// `part` is what is done, 0 to 1. Whether it should go on.
    pub fn report(&self, message: &str, part: f64) -> bool {
        let percentage = percentage(part);
        self.say(json!({ "kind": "report", "message": message, "percentage": percentage }));
        self.wanted()
    }

    /// Tells what it hears to the client, as long as that is new, and stops the work that nobody wants.
    pub fn hear(&self) -> Hear {
        let (work, said) = (self.clone(), Mutex::new((String::new(), u32::MAX)));
        Arc::new(move |what, part| {
            let percentage = percentage(part);
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if (said.0.as_str(), said.1) != (what, percentage) {
                *said = (what.to_owned(), percentage);
                work.report(what, part);
            }
            match work.wanted() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })
    }

    pub fn end(&self) {
        self.say(json!({ "kind": "end" }));
    }

    fn say(&self, value: Value) {
        if let Some(token) = &self.token {
            let params = json!({ "token": token, "value": value });
            // The loop is gone only when the server is.
            let _ = self.tasks.send(Task::Notify {
                method: "$/progress",
                params,
            });
        }
    }
}
