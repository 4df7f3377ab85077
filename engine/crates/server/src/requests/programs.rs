//! Programs that are traced, or whose transactions are recorded: each on a thread of its own, stopped when its request is cancelled, and then
//! answered with what there is.

use fulcrum_model::Progress;
use fulcrum_recorder::{Exit, Recorded, Remote};
use lsp_server::RequestId;
use serde::Serialize;

use crate::failure::{Failure, response};
use crate::pool::guarded;
use crate::protocol::{Method, ProgressToken};
use crate::state::{State, Task, Work, Working};

/// Does the work of a request on a thread; what it gives is the answer.
pub(crate) fn start<M: Method>(
    state: &mut State,
    id: RequestId,
    token: Option<ProgressToken>,
    request: &Progress,
    title: &str,
    run: impl FnOnce(&Remote, &Work) -> Result<M::Result, Failure> + Send + 'static,
) -> Result<(), Failure>
where
    M::Result: Serialize,
{
    let remote = Remote::new(request);
    let working = Working {
        token: token.clone(),
        progress: request.clone(),
        keeps: true,
    };
    let work = Work::new(token, state.tasks(), request);
    work.begin(title);
    let (thread_id, ending) = (id.clone(), work.clone());
    let started = std::thread::Builder::new()
        .name("fulcrum-program".into())
        .spawn(move || {
            let result = guarded(M::NAME, || run(&remote, &work));
            work.end();
            // The loop is gone only when the server is.
            let _ = work.tasks.send(Task::Respond(response(thread_id, result)));
        });
    if let Err(error) = started {
        ending.end();
        return Err(Failure::environment(
            format!("cannot start a thread for the program: {error}"),
            None,
        ));
    }
    state.working.insert(id, working);
    Ok(())
}

/// How a program ended, as a sentence.
pub(crate) fn exit(program: &str, recorded: &Recorded) -> String {
    let name = std::path::Path::new(program);
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    match recorded.exit {
        Exit::Code(0) => format!("{name} ended normally."),
        Exit::Stopped => format!("{name} was stopped."),
        Exit::Code(code) => format!("{name} ended with status {code}."),
        Exit::Signal(signal) => format!("{name} was ended by signal {signal}."),
    }
}

/// A name that is needed.
pub(crate) fn named(program: &str) -> Result<(), Failure> {
    match program.trim().is_empty() {
        false => Ok(()),
        true => Err(Failure::user(
            "no program was given: name one, or what starts it",
            None,
        )),
    }
}

/// What recording them fails by.
pub(crate) fn failure(error: fulcrum_recorder::Error) -> Failure {
    use fulcrum_recorder::Error;
    match error {
        Error::CannotStart(text) => Failure::user(text, Some("Correct it and run again.")),
        Error::CannotRecord(text) => Failure::environment(
            text,
            Some("Nothing was recorded; run again once that is put right."),
        ),
    }
}
