//! Requests that take long: what the loop and the thread that works know of them, and what the client is told meanwhile.

use std::sync::{Mutex, PoisonError};

use crossbeam_channel::Sender;
use fulcrum_model::Progress;
use lsp_server::RequestId;
use serde::Serialize;
use serde_json::{Value, json};

use super::task::Task;
use crate::protocol::ProgressToken;
use crate::protocol::failure::{Failure, response};

/// A request that is answered later.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub id: RequestId,
    /// Cancelled with the request.
    pub progress: Progress,
}

impl Pending {
    /// The same request, which cancelling `other` cancels too.
    pub(crate) fn within(self, other: &Progress) -> Pending {
        let progress = self.progress.within(other);
        Pending { progress, ..self }
    }
}

/// What cancelling a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnCancel {
    /// Answers the request as cancelled; what was done so far is dropped.
    Drop,
    /// Stops the program that is recorded; the request is answered with what was recorded until then.
    StopProgram,
}

/// A request that takes long, as the loop knows it.
#[derive(Debug)]
pub(crate) struct LongRequest {
    /// The client's token: progress is reported on it, and it cancels the request.
    pub token: Option<ProgressToken>,
    pub progress: Progress,
    pub on_cancel: OnCancel,
}

/// A request that takes long, as the thread that works on it knows it.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    id: RequestId,
    pub token: Option<ProgressToken>,
    tasks: Sender<Task>,
    /// Cancelled with the request. Phases that it is told of are reported to the client.
    pub progress: Progress,
}

impl Work {
    /// The work of a request; `tasks` leads to the loop.
    pub(crate) fn new(pending: Pending, token: Option<ProgressToken>, tasks: Sender<Task>) -> Work {
        let (to, at) = (tasks.clone(), token.clone());
        let last = Mutex::new((String::new(), u32::MAX));
        let listener = move |phase: &str, fraction: f64| {
            let percentage = percentage(fraction);
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            // Only what is new.
            if (last.0.as_str(), last.1) != (phase, percentage) {
                *last = (phase.to_owned(), percentage);
                let report =
                    json!({ "kind": "report", "message": phase, "percentage": percentage });
                send_progress(&to, at.as_ref(), report);
            }
        };
        Work {
            id: pending.id,
            progress: pending.progress.with_listener(listener),
            token,
            tasks,
        }
    }

    /// Shows the client that the work begins.
    pub(crate) fn begin(&self, title: &str) {
        let begin =
            json!({ "kind": "begin", "title": title, "cancellable": true, "percentage": 0 });
        send_progress(&self.tasks, self.token.as_ref(), begin);
    }

    /// Shows the client how a program that is recorded stands. The recorder checks for itself whether it was cancelled.
    pub(crate) fn report(&self, message: &str, fraction: f64) {
        let _ = self.progress.with_phase(message).at(fraction);
    }

    /// Shows the client that the work is over.
    pub(crate) fn end(&self) {
        send_progress(&self.tasks, self.token.as_ref(), json!({ "kind": "end" }));
    }

    /// Sends the client a notification.
    pub(crate) fn notify(&self, method: &'static str, params: impl Serialize) {
        let params = serde_json::to_value(params).unwrap_or_default();
        self.send(|_| Task::Notify { method, params });
    }

    /// Answers the request.
    pub(crate) fn answer<T: Serialize>(&self, result: Result<T, Failure>) {
        self.send(|id| Task::Respond(response(id, result)));
    }

    /// Sends the loop a task that is made with the request's id.
    pub(crate) fn send(&self, task: impl FnOnce(RequestId) -> Task) {
        // The loop is gone only when the server is.
        let _ = self.tasks.send(task(self.id.clone()));
    }
}

fn percentage(fraction: f64) -> u32 {
    (fraction.clamp(0.0, 1.0) * 100.0) as u32
}

fn send_progress(tasks: &Sender<Task>, token: Option<&ProgressToken>, value: Value) {
    if let Some(token) = token {
        let params = json!({ "token": token, "value": value });
        // The loop is gone only when the server is.
        let _ = tasks.send(Task::Notify {
            method: "$/progress",
            params,
        });
    }
}
