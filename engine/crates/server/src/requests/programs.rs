//! What requests share that run a program: a thread of its own, stopped when the request is cancelled and then answered with
//! what was recorded until then.

use std::path::Path;
use std::time::Duration;

use fulcrum_recorder::{Exit, Recorded, Remote};

use crate::pool::guarded;
use crate::protocol::failure::Failure;
use crate::protocol::{Method, ProgressToken};
use crate::state::{LongRequest, OnCancel, Pending, State, Work};

/// Does the work of a request on a thread; its result is the answer. `title` is shown with the progress.
pub(crate) fn start<M: Method>(
    state: &mut State,
    pending: Pending,
    token: Option<ProgressToken>,
    title: &str,
    run: impl FnOnce(&Remote, &Work) -> Result<M::Result, Failure> + Send + 'static,
) -> Result<(), Failure> {
    let remote = Remote::new(&pending.progress);
    let long = LongRequest {
        token: token.clone(),
        progress: pending.progress.clone(),
        on_cancel: OnCancel::StopProgram,
    };
    let id = pending.id.clone();
    let work = Work::new(pending, token, state.tasks());
    work.begin(title);
    let ending = work.clone();
    let started = std::thread::Builder::new()
        .name("fulcrum-program".into())
        .spawn(move || {
            let result = guarded(M::NAME, || run(&remote, &work));
            work.end();
            work.answer(result);
        });
    if let Err(error) = started {
        ending.end();
        return Err(Failure::environment(
            format!("cannot start a thread for the program: {error}"),
            None,
        ));
    }
    state.long_requests.insert(id, long);
    Ok(())
}

/// How a program ended, as a sentence.
pub(crate) fn exit_sentence(program: &Path, exit: Exit) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    match exit {
        Exit::Code(0) => format!("{name} ended normally."),
        Exit::Stopped => format!("{name} was stopped."),
        Exit::Code(code) => format!("{name} ended with status {code}."),
        Exit::Signal(signal) => format!("{name} was ended by signal {signal}."),
    }
}

/// How the program of a recording ended, as a sentence.
pub(crate) fn exit(program: &str, recorded: &Recorded) -> String {
    exit_sentence(Path::new(program), recorded.exit)
}

/// Refuses a request without a program.
pub(crate) fn check_program(program: &str) -> Result<(), Failure> {
    match program.trim().is_empty() {
        false => Ok(()),
        true => Err(Failure::user(
            "no program was given: name one, or what starts it",
            None,
        )),
    }
}

/// How long a run may last, in seconds. `None` when nothing is said.
pub(crate) fn duration(seconds: Option<f64>) -> Result<Option<Duration>, Failure> {
    let Some(seconds) = seconds else {
        return Ok(None);
    };
    let duration = Duration::try_from_secs_f64(seconds).ok();
    match duration.filter(|it| !it.is_zero()) {
        Some(duration) => Ok(Some(duration)),
        None => Err(Failure::user(
            format!("a run cannot last {seconds} seconds: give a duration above zero, or none"),
            None,
        )),
    }
}

/// How much of a program's time recording may take. `None` when nothing is said.
pub(crate) fn overhead(share: Option<f64>) -> Result<Option<f64>, Failure> {
    match share {
        Some(share) if !(share > 0.0 && share < 1.0) => Err(Failure::user(
            format!(
                "profiling cannot take {share} of the time: give a fraction between 0 and 1, such as 0.03"
            ),
            None,
        )),
        _ => Ok(share),
    }
}

/// Why nothing was recorded of an event trace, a refine loop, transactions or a critical section.
pub(crate) fn failure(error: fulcrum_recorder::Error) -> Failure {
    use fulcrum_recorder::Error;
    match error {
        Error::CannotStart(text) => Failure::user(text, Some("Correct it and run again.")),
        Error::CannotRecord(text) => {
            Failure::environment(text, Some("Nothing was recorded: fix this and run again."))
        }
    }
}
