//! `fulcrum/causal/run`: profiles a program on a thread of its own, reports progress, opens the run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fulcrum_recorder::{Error, Exit, Options, Progress, Recorded, Remote, Stdio};
use lsp_server::RequestId;

use crate::failure::Failure;
use crate::main_loop::{State, Task};
use crate::pool::guarded;
use crate::profile::OpenProfile;
use crate::protocol::{CausalRun, Method, ProgressToken, RunParams};
use crate::state::Snapshot;
use crate::words::percent;

/// How programs are recorded: `fulcrum_recorder::record`, or a stand-in under test.
pub type Recorder = Arc<
    dyn Fn(&Options, &Remote, &mut dyn FnMut(&Progress)) -> Result<Recorded, Error> + Send + Sync,
>;

/// A run that is going on.
#[derive(Debug)]
pub(crate) struct Running {
    pub remote: Remote,
    pub token: Option<ProgressToken>,
}

impl Running {
    /// The program is stopped; what was recorded stays, and the request is answered with it.
    pub fn stop(&self) {
        self.remote.stop();
    }
}

/// How a run ended, before it is shown.
#[derive(Debug)]
pub(crate) struct Finished {
    pub recorded: Recorded,
    /// How the program ended, as a sentence.
    pub exit: String,
    pub profile: Result<Box<OpenProfile>, Failure>,
}

/// Starts the recording thread.
pub(crate) fn run(state: &mut State, id: RequestId, params: RunParams) -> Result<(), Failure> {
    let options = options(&params)?;
    let remote = Remote::new();
    let running = Running {
        remote: remote.clone(),
        token: params.work_done_token.clone(),
    };
    let (recorder, tasks, snapshot) =
        (Arc::clone(&state.recorder), state.tasks(), state.snapshot());
    let (token, run_id) = (params.work_done_token, id.clone());
    std::thread::Builder::new()
        .name("fulcrum-run".into())
        .spawn(move || {
            let mut report = |progress: &Progress| {
                if let Some(token) = &token {
                    let _ = tasks.send(Task::Progress {
                        token: token.clone(),
                        message: message(progress),
                        percentage: progress
                            .fraction
                            .map(|f| (f.clamp(0.0, 1.0) * 100.0) as u32),
                    });
                }
            };
            let finished = guarded(CausalRun::NAME, || {
                let recorded = recorder(&options, &remote, &mut report)?;
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
    if let Some(token) = &running.token {
        let program = Path::new(&params.program)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        state.progress_begin(token, &format!("Profiling {program}"));
    }
    state.running.insert(id, running);
    Ok(())
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
    Ok(Options {
        program: params.program.clone().into(),
        args: params.args.iter().map(Into::into).collect(),
        cwd: Some(PathBuf::from(&params.cwd)),
        workspace: Some(PathBuf::from(&params.workspace)),
        duration,
        stdio: Stdio::Files,
        ..Options::default()
    })
}

fn finish(recorded: Recorded, options: &Options, snapshot: &Snapshot) -> Finished {
    let profile = OpenProfile::open(&recorded.run, &snapshot.folders, &snapshot.documents);
    let exit = exit(&recorded, options);
    Finished {
        recorded,
        exit,
        profile: profile.map(Box::new),
    }
}

/// `23 experiments · 2 lines · best two-threads.cpp:12 +4.1 %`.
fn message(progress: &Progress) -> String {
    let count = |n: u64, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    if progress.experiments == 0 {
        return format!(
            "no experiment yet · {} to progress points",
            count(progress.visits, "visit")
        );
    }
    let mut parts = vec![count(progress.experiments, "experiment")];
    if progress.lines > 0 {
        parts.push(count(progress.lines, "line"));
    }
    if let Some((at, slope, _)) = progress.best.as_ref().filter(|(_, slope, _)| *slope > 0.0) {
        parts.push(format!("best {} {}", at.short_label(), percent(*slope)));
    }
    parts.join(" · ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_in_words() {
        let at: fulcrum_model::TargetId = "/a/b.cpp:12".parse().expect("a target");
        let harm = Some((at.clone(), -0.2, None));
        let best = Some((at, 0.041, None));
        for (experiments, lines, visits, best, expect) in [
            (
                0,
                0,
                1,
                None,
                "no experiment yet · 1 visit to progress points",
            ),
            (3, 0, 9, None, "3 experiments"),
            (1, 1, 9, None, "1 experiment · 1 line"),
            (9, 2, 9, harm, "9 experiments · 2 lines"),
            (
                23,
                2,
                9,
                best,
                "23 experiments · 2 lines · best b.cpp:12 +4.1\u{a0}%",
            ),
        ] {
            let progress = Progress {
                experiments,
                lines,
                visits,
                best,
                ..Progress::default()
            };
            assert_eq!(message(&progress), expect);
        }
    }
}
