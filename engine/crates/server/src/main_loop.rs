//! The loop: one closed enum of events, one `select!`, all changes of state in one thread.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use fulcrum_model::Progress;
use fulcrum_model::causal::Profile;
use gen_lsp_types as lsp;
use lsp_server::{Connection, Message, Notification, ReqQueue, RequestId, Response};
use serde::Serialize;
use serde_json::json;

use crate::config::Config;
use crate::diagnostics::Published;
use crate::documents::Documents;
use crate::events::OpenTrace;
use crate::failure::Failure;
use crate::filters::Runs;
use crate::navigator::Navigator;
use crate::pool::Pool;
use crate::profile::OpenProfile;
use crate::protocol::{
    DID_CHANGE_RESULTS, DidChangeResultsParams, EventsOpened, LIVE, LiveParams, NavigatorOpened,
    ProgressToken,
};
use crate::recorder::Recorder;
use crate::requests::run::{Finished, Running};
use crate::state::Snapshot;
use crate::{ServerError, dispatch, requests};

/// How long the end of the server waits for a stopped program's run to be written.
const RUN_GRACE: Duration = Duration::from_secs(10);

/// Everything that wakes the loop.
enum Event {
    Client(Message),
    Task(Task),
    /// The client closed its end.
    Gone,
}

/// What other threads send to the loop.
#[derive(Debug)]
pub(crate) enum Task {
    /// A request is done.
    Respond(Response),
    /// `fulcrum/causal/open` is done.
    Opened {
        id: RequestId,
        order: u64,
        profile: Result<Box<OpenProfile>, Failure>,
    },
    /// The profile was read again because the workspace changed.
    Reopened {
        was: Weak<OpenProfile>,
        profile: Box<OpenProfile>,
    },
    /// A run goes on.
    Progress {
        id: RequestId,
        live: Box<LiveParams>,
    },
    /// The recorder analysed a run that goes on.
    Analysed {
        id: RequestId,
        run: PathBuf,
        profile: Arc<Profile>,
    },
    /// That analysis is ready to be shown; `None` when the run cannot be read.
    Live {
        id: RequestId,
        profile: Option<Box<OpenProfile>>,
    },
    /// A run ended.
    RunDone {
        id: RequestId,
        finished: Result<Box<Finished>, Failure>,
    },
    /// A notification of a thread that works.
    Notify {
        method: &'static str,
        params: serde_json::Value,
    },
    /// `fulcrum/navigator/open` is done.
    NavigatorOpened {
        id: RequestId,
        opened: Result<(Navigator, Box<NavigatorOpened>), Failure>,
    },
    /// `fulcrum/events/open` is done.
    EventsOpened {
        id: RequestId,
        opened: Result<(Arc<OpenTrace>, Box<EventsOpened>), Failure>,
    },
    /// A filter's text was checked.
    Checked {
        uri: String,
        version: i32,
        diagnostics: Vec<lsp::Diagnostic>,
    },
    /// Diagnostics were computed for the profile that was open then.
    Diagnostics {
        of: Weak<OpenProfile>,
        all: bool,
        published: Vec<Published>,
    },
}

/// A request that takes long.
#[derive(Debug)]
pub(crate) struct Working {
    /// The client's token: it hears of the work by it, and may cancel it.
    pub token: Option<ProgressToken>,
    pub progress: Progress,
    /// Cancelling it stops a program that is recorded: the request is answered with what was recorded until then.
    pub keeps: bool,
}

/// The server's state. Only the loop's thread has it.
pub(crate) struct State {
    client: Sender<Message>,
    task_sender: Sender<Task>,
    pub config: Config,
    pub folders: Arc<Vec<PathBuf>>,
    pub traced: Arc<Runs>,
    pub documents: Arc<Documents>,
    pub profile: Option<Arc<OpenProfile>>,
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
    shown_order: u64,
    last_navigator: u32,
    last_trace: u32,
}

impl State {
    /// Read-only view of this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            config: self.config,
            profile: self.profile.clone(),
            documents: Arc::clone(&self.documents),
            folders: Arc::clone(&self.folders),
            traced: Arc::clone(&self.traced),
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
        self.respond(dispatch::response(id, result));
    }

    pub fn send(&self, message: Message) {
        // The writer is gone only when the client is; the loop sees that for itself.
        let _ = self.client.send(message);
    }

    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// Shows a profile, or none, in place of the one that was open.
    pub fn show(&mut self, profile: Option<Arc<OpenProfile>>) {
        self.shown_order = self.next_order();
        self.profile = profile;
        let summary = self.snapshot().summary();
        self.notify(DID_CHANGE_RESULTS, DidChangeResultsParams { summary });
        self.refresh_diagnostics(None);
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

    fn progress_report(&self, live: &LiveParams) {
        let Some(token) = &live.token else { return };
        let mut value = json!({ "kind": "report", "message": live.message });
        if let Some(fraction) = live.fraction {
            value["percentage"] = ((fraction.clamp(0.0, 1.0) * 100.0) as u32).into();
        }
        self.notify("$/progress", json!({ "token": token, "value": value }));
    }

    fn task(&mut self, task: Task) {
        match task {
            Task::Respond(response) => self.respond(response),
            Task::Opened { id, order, profile } => {
                let profile = profile.map(Arc::<OpenProfile>::from);
                let summary = profile
                    .as_ref()
                    .map(|p| self.snapshot().summary_of(p))
                    .map_err(Clone::clone);
                // A cancelled request, or one that another has overtaken, must not replace what is shown.
                let wanted = !self.requests.incoming.is_completed(&id) && order > self.shown_order;
                self.answer(id, summary);
                if let (Ok(profile), true) = (profile, wanted) {
                    self.show(Some(profile));
                }
            }
            Task::Reopened { was, profile } => {
                let same = self
                    .profile
                    .as_ref()
                    .is_some_and(|now| Weak::ptr_eq(&was, &Arc::downgrade(now)));
                if same {
                    self.show(Some(Arc::from(profile)));
                }
            }
            Task::Progress { id, live } => {
                // A report that was under way when its run ended comes too late.
                if self.running.contains_key(&id) {
                    self.progress_report(&live);
                    self.notify(LIVE, live);
                }
            }
            Task::Analysed { id, run, profile } => {
                requests::live::analysed(self, id, run, profile);
            }
            Task::Live { id, profile } => requests::live::built(self, &id, profile),
            Task::RunDone { id, finished } => requests::run::done(self, id, finished),
            Task::Notify { method, params } => self.notify(method, params),
            Task::NavigatorOpened { id, opened } => self.navigator_opened(id, opened),
            Task::EventsOpened { id, opened } => self.trace_opened(id, opened),
            Task::Checked {
                uri,
                version,
                diagnostics,
            } => {
                // Of a text that was changed or closed meanwhile nothing is said.
                let document = self.documents.by_uri(&uri);
                if document.is_some_and(|document| document.version == version) {
                    let params =
                        json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
                    self.notify("textDocument/publishDiagnostics", params);
                }
            }
            Task::Diagnostics { of, all, published } => {
                let current = self
                    .profile
                    .as_ref()
                    .is_some_and(|now| Weak::ptr_eq(&of, &Arc::downgrade(now)));
                if current {
                    self.publish(all, published);
                }
            }
        }
    }

    fn navigator_opened(
        &mut self,
        id: RequestId,
        opened: Result<(Navigator, Box<NavigatorOpened>), Failure>,
    ) {
        // One that was cancelled meanwhile is dropped, and its thread ends.
        let wanted = !self.requests.incoming.is_completed(&id);
        let opened = opened.map(|(navigator, mut opened)| {
            if wanted {
                self.last_navigator += 1;
                opened.id = self.last_navigator;
                self.navigators.insert(opened.id, navigator);
            }
            opened
        });
        self.answer(id, opened);
    }

    fn trace_opened(
        &mut self,
        id: RequestId,
        opened: Result<(Arc<OpenTrace>, Box<EventsOpened>), Failure>,
    ) {
        let wanted = !self.requests.incoming.is_completed(&id);
        let opened = opened.map(|(trace, mut opened)| {
            if wanted {
                self.last_trace += 1;
                opened.id = self.last_trace;
                self.traces.insert(opened.id, trace);
            }
            opened
        });
        self.answer(id, opened);
    }
}

/// Serves one client until it leaves. `initialize` has been answered.
pub(crate) fn serve(
    connection: &Connection,
    config: Config,
    folders: Vec<PathBuf>,
    recorder: Arc<dyn Recorder>,
) -> Result<(), ServerError> {
    let (task_sender, tasks) = unbounded();
    let mut state = State {
        client: connection.sender.clone(),
        task_sender,
        config,
        folders: Arc::new(folders),
        traced: Arc::default(),
        documents: Arc::default(),
        profile: None,
        trace_pool: Pool::new(2)
            .map_err(|error| ServerError::new("cannot start threads", &error))?,
        pool: Pool::new(2).map_err(|error| ServerError::new("cannot start threads", &error))?,
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
    };
    let orderly = loop {
        match next(&connection.receiver, &tasks) {
            Event::Client(Message::Notification(n)) if n.method == "exit" => {
                break state.shutting_down;
            }
            Event::Client(message) => dispatch::client(&mut state, message),
            Event::Task(task) => state.task(task),
            Event::Gone => break true,
        }
    };
    stop_programs(&mut state, &tasks);
    if orderly {
        Ok(())
    } else {
        Err(ServerError::exit_without_shutdown())
    }
}

fn next(client: &Receiver<Message>, tasks: &Receiver<Task>) -> Event {
    select! {
        recv(client) -> message => message.map_or(Event::Gone, Event::Client),
        recv(tasks) -> task => Event::Task(task.expect("the state holds a sender")),
    }
}

/// Stops what still runs and waits until its run is written.
fn stop_programs(state: &mut State, tasks: &Receiver<Task>) {
    state.stop_programs();
    let until = Instant::now() + RUN_GRACE;
    while state.working.values().any(|it| it.keeps) {
        match tasks.recv_deadline(until) {
            Ok(task) => state.task(task),
            Err(_) => break,
        }
    }
}

/// Reads the workspace again: another folder came or went.
pub(crate) fn folders_changed(state: &mut State, added: Vec<PathBuf>, removed: &[PathBuf]) {
    let mut folders: Vec<PathBuf> = state
        .folders
        .iter()
        .filter(|f| !removed.contains(f))
        .cloned()
        .collect();
    folders.extend(added);
    state.folders = Arc::new(folders);
    requests::open::reopen(state);
}
