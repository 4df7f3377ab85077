//! `fulcrum/causal/run`: profiles a program on a thread of its own, reports progress, opens the run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_recorder::{EndToEnd, Exit, Options, Recorded, Remote, RunStatus, Stdio};
use lsp_server::RequestId;
use serde_json::json;

use crate::causal::live;
use crate::causal::profile::OpenCausalProfile;
use crate::pool::guarded;
use crate::protocol::failure::Failure;
use crate::protocol::{CausalRun, Method, RunOutcome, RunParams};
use crate::requests::Deferred;
use crate::requests::causal::aim::recorder_aim;
use crate::requests::programs::{duration, exit_sentence, overhead};
use crate::snapshot::Snapshot;
use crate::state::{FinishedRun, LongRequest, OnCancel, Pending, RunningRun, State, Task};

pub(crate) enum Run {}

impl Deferred for Run {
    type Method = CausalRun;

    fn start(state: &mut State, pending: Pending, params: RunParams) -> Result<(), Failure> {
        run(state, pending, params)
    }
}

/// Starts the recording thread.
fn run(state: &mut State, pending: Pending, params: RunParams) -> Result<(), Failure> {
    let options = options(&params)?;
    let remote = Remote::new(&pending.progress);
    let aim = Arc::new(Mutex::new(params.aim.clone().unwrap_or_default()));
    let running = RunningRun::new(remote.clone(), Arc::clone(&aim));
    let (recorder, tasks, snapshot) =
        (Arc::clone(&state.recorder), state.tasks(), state.snapshot());
    let long = LongRequest {
        token: params.work_done_token.clone(),
        progress: pending.progress,
        on_cancel: OnCancel::StopProgram,
    };
    let (token, run_id) = (params.work_done_token, pending.id.clone());
    std::thread::Builder::new()
        .name("fulcrum-run".into())
        .spawn(move || {
            let mut report = |progress: &RunStatus| {
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
    if let Some(token) = &long.token {
        let program = Path::new(&params.program)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        state.progress_begin(token, &format!("Profiling {program}"));
    }
    state.long_requests.insert(pending.id.clone(), long);
    state.running.insert(pending.id, running);
    Ok(())
}

/// The loop: shows a run that has ended, and answers its request.
pub(crate) fn done(state: &mut State, id: RequestId, finished: Result<Box<FinishedRun>, Failure>) {
    state.running.remove(&id);
    let long = state.long_requests.remove(&id);
    if let Some(token) = long.and_then(|long| long.token) {
        let message = match &finished {
            Ok(finished) => finished.exit.clone(),
            Err(failure) => failure.message().to_owned(),
        };
        let value = json!({ "kind": "end", "message": message });
        state.notify("$/progress", json!({ "token": token, "value": value }));
    }
    let outcome = finished.map(|finished| {
        let FinishedRun {
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
    let duration = duration(params.duration_seconds)?;
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
    let max_overhead = overhead(params.max_overhead)?;
    let aim = recorder_aim(&params.aim.clone().unwrap_or_default())?;
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
        max_overhead,
        end_to_end: params.end_to_end.map(|it| EndToEnd { runs: it.runs }),
        stdio: Stdio::Files,
        ..Options::default()
    })
}

fn finish(recorded: Recorded, options: &Options, snapshot: &Snapshot) -> FinishedRun {
    let profile = OpenCausalProfile::open(&recorded.run, &snapshot.folders, &snapshot.documents);
    let exit = exit(&recorded, options);
    FinishedRun {
        recorded,
        exit,
        profile: profile.map(Box::new),
    }
}

/// How the program ended; if it failed, with the last lines that it wrote to standard error.
fn exit(recorded: &Recorded, options: &Options) -> String {
    let sentence = exit_sentence(Path::new(&options.program), recorded.exit);
    if let Exit::Code(0) | Exit::Stopped = recorded.exit {
        return sentence;
    }
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
