//! The main loop: one closed enum of events, one `select!`, all changes of the state on one thread.

pub(crate) mod dispatch;
mod notifications;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, select, unbounded};
use lsp_server::Message;

use crate::protocol::config::Config;
use crate::protocol::error::ServerError;
use crate::protocol::transport::Client;
use crate::recording::recorder::Recorder;
use crate::requests::{causal, events, navigator};
use crate::state::{State, Task};

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
    (client, messages): (Client, &Receiver<Message>),
    config: Config,
    folders: Vec<PathBuf>,
    recorder: Arc<dyn Recorder>,
) -> Result<(), ServerError> {
    let (task_sender, tasks) = unbounded();
    let mut state = State::new(client, task_sender, config, folders, recorder)
        .map_err(|error| ServerError::new("cannot start threads", &error))?;
    let orderly = loop {
        match next(messages, &tasks) {
            Event::Client(Message::Notification(n)) if n.method == "exit" => {
                break state.shutting_down;
            }
            Event::Client(Message::Request(request)) => dispatch::request(&mut state, request),
            Event::Client(Message::Notification(notification)) => {
                notifications::notification(&mut state, notification);
            }
            // The server sends no requests.
            Event::Client(Message::Response(_)) => {}
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

/// Stops the programs that still run and waits until their runs are written.
fn stop_programs(state: &mut State, tasks: &Receiver<Task>) {
    state.stop_programs();
    let until = Instant::now() + RUN_GRACE;
    while state.is_recording() {
        match tasks.recv_deadline(until) {
            Ok(task) => self::task(state, task),
            Err(_) => break,
        }
    }
}

/// Does what another thread asks for.
fn task(state: &mut State, task: Task) {
    match task {
        Task::Respond(response) => state.respond(response),
        Task::Opened { id, order, profile } => causal::open::opened(state, id, order, profile),
        Task::Reopened { was, profile } => causal::open::reopened(state, &was, profile),
        Task::Progress { id, live } => causal::live::progress(state, &id, live),
        Task::Analysed { id, run, profile } => causal::live::analysed(state, id, run, profile),
        Task::Live { id, profile } => causal::live::prepared(state, &id, profile),
        Task::RunDone { id, finished } => causal::run::done(state, id, finished),
        Task::Notify { method, params } => state.notify(method, params),
        Task::NavigatorOpened { id, opened } => navigator::serve::opened(state, id, opened),
        Task::EventsOpened { id, opened } => events::open::opened(state, id, opened),
        Task::FilterChecked {
            uri,
            version,
            diagnostics,
        } => state.publish_filter(&uri, version, &diagnostics),
        Task::Diagnostics {
            of,
            checked,
            published,
        } => {
            if state.is_open(&of) {
                state.publish(checked, &published);
            }
        }
    }
}
