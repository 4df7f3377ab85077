//! What the server knows. Only the loop's thread has it; other threads read snapshots and send tasks.

mod diagnostics;
mod publish;
mod running;
mod task;
mod work;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam_channel::Sender;
use fulcrum_model::Progress;
use lsp_server::{Message, Notification, ReqQueue, RequestId};
use serde::Serialize;
use serde_json::json;

use crate::causal::profile::OpenCausalProfile;
use crate::documents::Documents;
use crate::events::OpenTrace;
use crate::filters::LogCache;
use crate::navigator::Navigator;
use crate::pool::Pool;
use crate::protocol::config::Config;
use crate::protocol::failure::{Failure, response};
use crate::protocol::transport::{Answered, Client, Outgoing};
use crate::protocol::{LiveParams, NavigatorId, ProgressToken, TraceId};
use crate::recording::recorder::Recorder;
use crate::snapshot::Snapshot;
use crate::transactions::OpenRuns;
pub(crate) use diagnostics::is_no_progress_point;
pub(crate) use running::{FinishedRun, RunningRun};
pub(crate) use task::{OpenOrder, Task};
pub(crate) use work::{LongRequest, OnCancel, Pending, Work};

/// The server's state. Only the loop's thread has it.
pub(crate) struct State {
    client: Client,
    task_sender: Sender<Task>,
    pub config: Config,
    pub folders: Arc<Vec<PathBuf>>,
    pub logs: Arc<LogCache>,
    pub transactions: Arc<OpenRuns>,
    pub documents: Arc<Documents>,
    pub profile: Option<Arc<OpenCausalProfile>>,
    pub pool: Pool,
    /// For event traces: going through a large one takes long, and hovers must not wait for it.
    pub trace_pool: Pool,
    pub recorder: Arc<dyn Recorder>,
    /// Causal runs that are going on.
    pub running: HashMap<RequestId, RunningRun>,
    pub navigators: HashMap<NavigatorId, Navigator>,
    pub traces: HashMap<TraceId, Arc<OpenTrace>>,
    pub long_requests: HashMap<RequestId, LongRequest>,
    /// Requests that are not answered yet, and what cancels them.
    pub requests: ReqQueue<Progress, ()>,
    pub shutting_down: bool,
    /// The URIs of documents that show our diagnostics.
    published: BTreeSet<String>,
    last_order: OpenOrder,
    /// The order of the profile that is shown.
    pub shown_order: OpenOrder,
    last_navigator: NavigatorId,
    last_trace: TraceId,
}

impl State {
    /// The state before the first request. `client` and `tasks` lead to the client and to the loop.
    ///
    /// # Errors
    /// When the threads of the pools cannot be started.
    pub(crate) fn new(
        client: Client,
        tasks: Sender<Task>,
        config: Config,
        folders: Vec<PathBuf>,
        recorder: Arc<dyn Recorder>,
    ) -> io::Result<State> {
        Ok(State {
            client,
            task_sender: tasks,
            config,
            folders: Arc::new(folders),
            logs: Arc::default(),
            transactions: Arc::default(),
            documents: Arc::default(),
            profile: None,
            trace_pool: Pool::new(2)?,
            pool: Pool::new(2)?,
            recorder,
            running: HashMap::new(),
            navigators: HashMap::new(),
            traces: HashMap::new(),
            long_requests: HashMap::new(),
            requests: ReqQueue::default(),
            shutting_down: false,
            published: BTreeSet::new(),
            last_order: OpenOrder::default(),
            shown_order: OpenOrder::default(),
            last_navigator: NavigatorId::default(),
            last_trace: TraceId::default(),
        })
    }

    /// A read-only view of the state as it is now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            config: self.config,
            profile: self.profile.clone(),
            documents: Arc::clone(&self.documents),
            folders: Arc::clone(&self.folders),
            logs: Arc::clone(&self.logs),
            transactions: Arc::clone(&self.transactions),
        }
    }

    /// Stops all programs that are recorded. What was recorded stays.
    pub(crate) fn stop_programs(&self) {
        for recording in self.recordings() {
            recording.progress.cancel();
        }
    }

    /// Whether any program is still recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.recordings().next().is_some()
    }

    fn recordings(&self) -> impl Iterator<Item = &LongRequest> {
        let all = self.long_requests.values();
        all.filter(|it| it.on_cancel == OnCancel::StopProgram)
    }

    /// Where other threads send their tasks.
    pub(crate) fn tasks(&self) -> Sender<Task> {
        self.task_sender.clone()
    }

    /// The order of a request to open, after all before.
    pub(crate) fn next_order(&mut self) -> OpenOrder {
        self.last_order = self.last_order.next();
        self.last_order
    }

    /// Answers a request, unless it was answered (cancelled) already.
    pub(crate) fn respond(&mut self, answered: Answered) {
        self.long_requests.remove(&answered.id);
        if self.requests.incoming.complete(&answered.id).is_some() {
            self.client.send(Outgoing::Answered(answered));
        }
    }

    /// Answers a request with its result or failure.
    pub(crate) fn answer<T: Serialize>(&mut self, id: RequestId, result: Result<T, Failure>) {
        self.respond(response(id, result));
    }

    pub(crate) fn send(&self, message: Message) {
        self.client.send(Outgoing::Message(message));
    }

    pub(crate) fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// The user wants to see `path`, or nothing. Runs that go on no longer replace what is shown; opening a run's own folder
    /// follows it again.
    pub(crate) fn set_followed(&mut self, path: Option<&Path>) {
        for running in self.running.values_mut() {
            let own = running.latest.as_ref().map(|latest| &*latest.path);
            running.followed = path.is_some() && own == path;
        }
    }

    pub(crate) fn progress_begin(&self, token: &ProgressToken, title: &str) {
        let value =
            json!({ "kind": "begin", "title": title, "cancellable": true, "message": "starting" });
        self.notify("$/progress", json!({ "token": token, "value": value }));
    }

    pub(crate) fn progress_report(&self, live: &LiveParams) {
        let Some(token) = &live.token else { return };
        let mut value = json!({ "kind": "report", "message": live.message });
        if let Some(fraction) = live.fraction {
            value["percentage"] = ((fraction.clamp(0.0, 1.0) * 100.0) as u32).into();
        }
        self.notify("$/progress", json!({ "token": token, "value": value }));
    }

    /// Registers a request that takes long and keeps nothing when it is cancelled.
    pub(crate) fn begin(&mut self, pending: Pending, token: Option<ProgressToken>) -> Work {
        let long = LongRequest {
            token: token.clone(),
            progress: pending.progress.clone(),
            on_cancel: OnCancel::Drop,
        };
        self.long_requests.insert(pending.id.clone(), long);
        Work::new(pending, token, self.tasks())
    }

    /// Keeps a navigator and returns its new id.
    pub(crate) fn add_navigator(&mut self, navigator: Navigator) -> NavigatorId {
        self.last_navigator.0 += 1;
        self.navigators.insert(self.last_navigator, navigator);
        self.last_navigator
    }

    /// Keeps an open trace and returns its new id.
    pub(crate) fn add_trace(&mut self, trace: Arc<OpenTrace>) -> TraceId {
        self.last_trace.0 += 1;
        self.traces.insert(self.last_trace, trace);
        self.last_trace
    }
}
