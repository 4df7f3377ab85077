//! The loop: one closed enum of events, one `select!`, all changes of state in one thread.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, select, unbounded};
use lsp_server::{Connection, Message};
use serde_json::json;

use crate::config::Config;
use crate::error::ServerError;
use crate::profile::OpenCausalProfile;
use crate::protocol::LIVE;
use crate::recorder::Recorder;
use crate::state::{State, Task};
use crate::{dispatch, requests};

/// How long the end of the server waits for a stopped program's run to be written.
const RUN_GRACE: Duration = Duration::from_secs(10);

/// Everything that wakes the loop.
enum Event {
    Client(Message),
    Task(Task),
    /// The client closed its end.
    Gone,
}

/// Serves one client until it leaves. `initialize` has been answered.
pub(crate) fn serve(
    connection: &Connection,
    config: Config,
    folders: Vec<PathBuf>,
    recorder: Arc<dyn Recorder>,
) -> Result<(), ServerError> {
    let (task_sender, tasks) = unbounded();
    let client = connection.sender.clone();
    let mut state = State::new(client, task_sender, config, folders, recorder)
        .map_err(|error| ServerError::new("cannot start threads", &error))?;
    let orderly = loop {
        match next(&connection.receiver, &tasks) {
            Event::Client(Message::Notification(n)) if n.method == "exit" => {
                break state.shutting_down;
            }
            Event::Client(message) => dispatch::client(&mut state, message),
            Event::Task(task) => self::task(&mut state, task),
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
            Ok(task) => self::task(state, task),
            Err(_) => break,
        }
    }
}

/// Does what another thread sent.
fn task(state: &mut State, task: Task) {
    match task {
        Task::Respond(response) => state.respond(response),
        Task::Opened { id, order, profile } => {
            let profile = profile.map(Arc::<OpenCausalProfile>::from);
            let summary = profile
                .as_ref()
                .map(|p| state.snapshot().summary_of(p))
                .map_err(Clone::clone);
            // A cancelled request, or one that another has overtaken, must not replace what is shown.
            let wanted = !state.requests.incoming.is_completed(&id) && order > state.shown_order;
            state.answer(id, summary);
            if let (Ok(profile), true) = (profile, wanted) {
                state.show(Some(profile));
            }
        }
        Task::Reopened { was, profile } => {
            let same = state
                .profile
                .as_ref()
                .is_some_and(|now| Weak::ptr_eq(&was, &Arc::downgrade(now)));
            if same {
                state.show(Some(Arc::from(profile)));
            }
        }
        Task::Progress { id, live } => {
            // A report that was under way when its run ended comes too late.
            if state.running.contains_key(&id) {
                state.progress_report(&live);
                state.notify(LIVE, live);
            }
        }
        Task::Analysed { id, run, profile } => {
            requests::live::analysed(state, id, run, profile);
        }
        Task::Live { id, profile } => requests::live::built(state, &id, profile),
        Task::RunDone { id, finished } => requests::run::done(state, id, finished),
        Task::Notify { method, params } => state.notify(method, params),
        Task::NavigatorOpened { id, opened } => requests::navigator::opened(state, id, opened),
        Task::EventsOpened { id, opened } => requests::events::opened(state, id, opened),
        Task::Checked {
            uri,
            version,
            diagnostics,
        } => {
            // Of a text that was changed or closed meanwhile nothing is said.
            let document = state.documents.by_uri(&uri);
            if document.is_some_and(|document| document.version == version) {
                let params = json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
                state.notify("textDocument/publishDiagnostics", params);
            }
        }
        Task::Diagnostics { of, all, published } => {
            let current = state
                .profile
                .as_ref()
                .is_some_and(|now| Weak::ptr_eq(&of, &Arc::downgrade(now)));
            if current {
                state.publish(all, published);
            }
        }
    }
}
