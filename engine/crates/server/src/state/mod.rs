//! What the server knows. Only the loop's thread has it; other threads read snapshots and send tasks.

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
use lsp_server::{Message, Notification, ReqQueue, RequestId, Response};
use serde::Serialize;
use serde_json::json;

use crate::config::Config;
use crate::documents::Documents;
use crate::events::OpenTrace;
use crate::failure::{Failure, response};
use crate::filters::LogCache;
use crate::navigator::Navigator;
use crate::pool::Pool;
use crate::profile::OpenCausalProfile;
use crate::protocol::{LiveParams, ProgressToken};
use crate::recorder::Recorder;
use crate::snapshot::Snapshot;
use crate::transactions::OpenRuns;
pub(crate) use running::{Finished, Running};
pub(crate) use task::Task;
pub(crate) use work::{Work, Working};

/// The server's state. Only the loop's thread has it.
pub(crate) struct State {
    client: Sender<Message>,
    task_sender: Sender<Task>,
    pub config: Config,
    pub folders: Arc<Vec<PathBuf>>,
    pub traced: Arc<LogCache>,
    pub transactions: Arc<OpenRuns>,
    pub documents: Arc<Documents>,
    pub profile: Option<Arc<OpenCausalProfile>>,
    pub pool: Pool,
    /// For event traces: going through a large one takes long, and hovers must not wait for it.
    pub trace_pool: Pool,
    pub recorder: Arc<dyn Recorder>,
    pub running: HashMap<RequestId, Running>,
    /// The open navigators, by number.
    pub navigators: HashMap<u32, Navigator>,
    /// The open event traces, by number.
    pub traces: HashMap<u32, Arc<OpenTrace>>,
    /// Requests that take long.
    pub working: HashMap<RequestId, Working>,
    /// What is not answered yet, and what cancels it.
    pub requests: ReqQueue<Progress, ()>,
    pub shutting_down: bool,
    /// Documents that show diagnostics of ours.
    pub published: BTreeSet<String>,
    /// Opening is numbered, so that of two the one asked for last is shown.
    last_order: u64,
    /// The number of what is shown.
    pub shown_order: u64,
    last_navigator: u32,
    last_trace: u32,
}

impl State {
    /// Before anything was asked. `client` and `tasks` are the ways to the client and to the loop.
    ///
    /// # Errors
    /// When the threads of the pools cannot be started.
    pub fn new(
        client: Sender<Message>,
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
            traced: Arc::default(),
            transactions: Arc::default(),
            documents: Arc::default(),
            profile: None,
            trace_pool: Pool::new(2)?,
            pool: Pool::new(2)?,
            recorder,
            running: HashMap::new(),
            navigators: HashMap::new(),
            traces: HashMap::new(),
            working: HashMap::new(),
            requests: ReqQueue::default(),
            shutting_down: false,
            published: BTreeSet::new(),
            last_order: 0,
            shown_order: 0,
            last_navigator: 0,
            last_trace: 0,
        })
    }

    /// Read-only view of this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            config: self.config,
            profile: self.profile.clone(),
            documents: Arc::clone(&self.documents),
            folders: Arc::clone(&self.folders),
            traced: Arc::clone(&self.traced),
            transactions: Arc::clone(&self.transactions),
        }
    }

    /// Stops everything that runs; what was recorded stays.
    pub fn stop_programs(&self) {
        for working in self.working.values().filter(|it| it.keeps) {
            working.progress.cancel();
        }
    }

    /// Where other threads report to.
    pub fn tasks(&self) -> Sender<Task> {
        self.task_sender.clone()
    }

    /// A number that is larger than all before.
    pub fn next_order(&mut self) -> u64 {
        self.last_order += 1;
        self.last_order
    }

    /// Answers a request, unless it was answered (cancelled) already.
    pub fn respond(&mut self, response: Response) {
        self.working.remove(&response.id);
        if self.requests.incoming.complete(&response.id).is_some() {
            self.send(response.into());
        }
    }

    /// Answers a request with what it gives, or why it failed.
    pub fn answer<T: Serialize>(&mut self, id: RequestId, result: Result<T, Failure>) {
        self.respond(response(id, result));
    }

    pub fn send(&self, message: Message) {
        // The writer is gone only when the client is; the loop sees that for itself.
        let _ = self.client.send(message);
    }

    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// The user wants to see `path`, or nothing: runs that go on do not replace it. Their own folder brings them back.
    pub fn look_at(&mut self, path: Option<&Path>) {
        for running in self.running.values_mut() {
            let own = running.latest.as_ref().map(|latest| &*latest.path);
            running.followed = path.is_some() && own == path;
        }
    }

    pub fn progress_begin(&self, token: &ProgressToken, title: &str) {
        let value =
            json!({ "kind": "begin", "title": title, "cancellable": true, "message": "starting" });
        self.notify("$/progress", json!({ "token": token, "value": value }));
    }

    pub fn progress_report(&self, live: &LiveParams) {
        let Some(token) = &live.token else { return };
        let mut value = json!({ "kind": "report", "message": live.message });
        if let Some(fraction) = live.fraction {
            value["percentage"] = ((fraction.clamp(0.0, 1.0) * 100.0) as u32).into();
        }
        self.notify("$/progress", json!({ "token": token, "value": value }));
    }

    /// Registers a request that takes long and keeps nothing when it is cancelled.
    pub fn begin(
        &mut self,
        id: &RequestId,
        token: Option<ProgressToken>,
        request: &Progress,
    ) -> Work {
        let working = Working {
            token: token.clone(),
            progress: request.clone(),
            keeps: false,
        };
        self.working.insert(id.clone(), working);
        Work::new(token, self.tasks(), request)
    }

    /// Keeps a navigator; its number.
    pub fn add_navigator(&mut self, navigator: Navigator) -> u32 {
        self.last_navigator += 1;
        self.navigators.insert(self.last_navigator, navigator);
        self.last_navigator
    }

    /// Keeps an open trace; its number.
    pub fn add_trace(&mut self, trace: Arc<OpenTrace>) -> u32 {
        self.last_trace += 1;
        self.traces.insert(self.last_trace, trace);
        self.last_trace
    }
}
