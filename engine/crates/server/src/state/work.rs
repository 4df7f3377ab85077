//! Requests that take long, and what the client hears of them.

use std::sync::{Mutex, PoisonError};

use crossbeam_channel::Sender;
use fulcrum_model::Progress;
use serde_json::{Value, json};

use super::task::Task;
use crate::protocol::ProgressToken;

/// A request that takes long, as the loop knows it.
#[derive(Debug)]
pub(crate) struct Working {
    /// The client's token: it hears of the work by it, and may cancel it.
    pub token: Option<ProgressToken>,
    pub progress: Progress,
    /// Cancelling it stops a program that is recorded: the request is answered with what was recorded until then.
    pub keeps: bool,
}

/// Work that takes long, as the thread that does it knows it.
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

fn percentage(part: f64) -> u32 {
    (part.clamp(0.0, 1.0) * 100.0) as u32
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
