//! `fulcrum/causal/run`: profiles a program on a thread of its own, reports progress, opens the run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fulcrum_recorder::{EndToEnd, Exit, Options, Progress, Recorded, Remote, Stdio};
use lsp_server::RequestId;
use serde_json::json;

use crate::failure::Failure;
use crate::pool::guarded;
use crate::profile::OpenCausalProfile;
use crate::protocol::{CausalRun, Method, RunOutcome, RunParams};
use crate::requests::{control, live};
use crate::snapshot::Snapshot;
use crate::state::{Finished, Running, State, Task, Working};

/// Starts the recording thread.
pub(crate) fn run(
    state: &mut State,
    id: RequestId,
    params: RunParams,
    request: &fulcrum_model::Progress,
) -> Result<(), Failure> {
    let options = options(&params)?;
    let remote = Remote::new(request);
    let aim = Arc::new(Mutex::new(params.aim.clone().unwrap_or_default()));
    let running = Running::new(remote.clone(), Arc::clone(&aim));
    let (recorder, tasks, snapshot) =
        (Arc::clone(&state.recorder), state.tasks(), state.snapshot());
    let working = Working {
        token: params.work_done_token.clone(),
        progress: request.clone(),
        keeps: true,
    };
    let (token, run_id) = (params.work_done_token, id.clone());
    std::thread::Builder::new()
        .name("fulcrum-run".into())
        .spawn(move || {
            let mut report = |progress: &Progress| {
                let aim = aim.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // The loop is gone only when the server is.
                let _ = tasks.send(Task::Progress {
                    id: run_id.clone(),
                    live: Box::new(live::params(progress, token.clone(), aim)),
                });
                if let Some(profile) = &progress.profile {
                    let _ = tasks.send(Task::Analysed {
                        id: run_id.clone(),
                        run: progress.run.clone(),
                        profile: Arc::clone(profile),
                    });
                }
            };
            let finished = guarded(CausalRun::NAME, || {
                let recorded = recorder.record(&options, &remote, &mut report)?;
                Ok(Box::new(finish(recorded, &options, &snapshot)))
            });
            let _ = tasks.send(Task::RunDone {
                id: run_id,
                finished,
            });
        })
        .map_err(|error| {
            Failure::environment(format!("cannot start a thread for the run: {error}"), None)
        })?;
    if let Some(token) = &working.token {
        let program = Path::new(&params.program)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        state.progress_begin(token, &format!("Profiling {program}"));
    }
    state.working.insert(id.clone(), working);
    state.running.insert(id, running);
    Ok(())
}

/// The loop: a run has ended; it is shown, and the request answered.
pub(crate) fn done(state: &mut State, id: RequestId, finished: Result<Box<Finished>, Failure>) {
    state.running.remove(&id);
    let working = state.working.remove(&id);
    if let Some(token) = working.and_then(|working| working.token) {
        let message = match &finished {
            Ok(finished) => finished.exit.clone(),
            Err(failure) => failure.message().to_owned(),
        };
        let value = json!({ "kind": "end", "message": message });
        state.notify("$/progress", json!({ "token": token, "value": value }));
    }
    let outcome = finished.map(|finished| {
        let Finished {
            recorded,
            exit,
            profile,
        } = *finished;
        let mut notes = recorded.notes;
        let summary = match profile {
            Ok(profile) => {
                let profile = Arc::<OpenCausalProfile>::from(profile);
                for note in &profile.notes {
                    if !notes.contains(note) {
                        notes.push(note.clone());
                    }
                }
                state.show(Some(Arc::clone(&profile)));
                Some(state.snapshot().summary_of(&profile))
            }
            Err(failure) => {
                notes.push(failure.message().to_owned());
                None
            }
        };
        RunOutcome {
            run: recorded.run.to_string_lossy().into_owned(),
            exit,
            summary,
            notes,
        }
    });
    state.answer(id, outcome);
}

fn options(params: &RunParams) -> Result<Options, Failure> {
    let duration = match params.duration_seconds {
        None => None,
        Some(seconds) => Some(Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero()).ok_or_else(|| {
            Failure::user(
                format!("a run cannot last {seconds} seconds: give a duration above zero, or none"),
                None,
            )
        })?),
    };
    if params.program.trim().is_empty() {
        return Err(Failure::user(
            "no program was given: name the executable to profile",
            None,
        ));
    }
    if let Some(until) = params.until
        && !(until > 0.0 && until < 1.0)
    {
        return Err(Failure::user(
            format!(
                "results cannot be known to {until}: give a fraction between 0 and 1, such as 0.02"
            ),
            None,
        ));
    }
    if let Some(share) = params.max_overhead
        && !(share > 0.0 && share < 1.0)
    {
        return Err(Failure::user(
            format!(
                "profiling cannot take {share} of the time: give a fraction between 0 and 1, such as 0.03"
            ),
            None,
        ));
    }
    let aim = control::recorder_aim(&params.aim.clone().unwrap_or_default())?;
    Ok(Options {
        program: params.program.clone().into(),
        args: params.args.iter().map(Into::into).collect(),
        cwd: Some(PathBuf::from(&params.cwd)),
        workspace: Some(PathBuf::from(&params.workspace)),
        continues: params.continues.as_ref().map(PathBuf::from),
        duration,
        until: params.until,
        aim,
        progress: params.progress.clone().unwrap_or_default(),
        max_overhead: params.max_overhead,
        end_to_end: params.end_to_end.map(|it| EndToEnd { runs: it.runs }),
        stdio: Stdio::Files,
        ..Options::default()
    })
}

fn finish(recorded: Recorded, options: &Options, snapshot: &Snapshot) -> Finished {
    let profile = OpenCausalProfile::open(&recorded.run, &snapshot.folders, &snapshot.documents);
    let exit = exit(&recorded, options);
    Finished {
        recorded,
        exit,
        profile: profile.map(Box::new),
    }
}

/// How the program ended, with the last that it wrote to standard error when it failed.
fn exit(recorded: &Recorded, options: &Options) -> String {
    let program = Path::new(&options.program)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let sentence = match recorded.exit {
        Exit::Code(0) => return format!("{program} ended normally."),
        Exit::Stopped => return format!("{program} was stopped."),
        Exit::Code(code) => format!("{program} ended with status {code}."),
        Exit::Signal(signal) => format!("{program} was ended by signal {signal}."),
    };
    match last_lines(&recorded.run.join("stderr.txt")) {
        Some(lines) => format!("{sentence} It last wrote to standard error: {lines}"),
        None => sentence,
    }
}

/// The last five lines of a file, at most 500 bytes; `None` when it is empty or not there.
fn last_lines(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let tail = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(500)..]).into_owned();
    let lines: Vec<&str> = tail
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(5)..];
    (!last.is_empty()).then(|| last.join("\n"))
}
