//! A program that keeps running: each run of an iteration is a session of the agent in it. Classes are changed when a session
//! begins, and restored when it ends.

use std::env;
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::jvm::{Ran, is_ready, trace_attached};
use crate::program::launch;
use crate::{Error, Recorded, Remote, Stdio, TraceOptions};

/// How long a virtual machine that was just started may take until it can be attached to.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a program may take to end after SIGTERM.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(5);

/// The length of the sessions, and their program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepRunning {
    /// The length of each session.
    pub session: Duration,
    /// A program that is running already, and keeps running afterwards. When `None`, the program is started, and ended afterwards.
    pub attach: Option<u32>,
}

/// The program that keeps running.
pub(crate) struct Live {
    pid: u32,
    session: Duration,
    child: Option<Started>,
}

/// A program that we have started.
struct Started {
    child: Child,
    since: Instant,
    /// The folder with its output, until that is copied to a run.
    streams: PathBuf,
}

impl Live {
    pub(crate) fn start(keep: KeepRunning, options: &TraceOptions) -> Result<Live, Error> {
        let child = match keep.attach {
            Some(_) => None,
            None => Some(Started::start(options)?),
        };
        let pid = child.as_ref().map(|it| it.child.id()).or(keep.attach);
        Ok(Live {
            pid: pid.unwrap_or_default(),
            session: keep.session,
            child,
        })
    }

    /// Whether it is running.
    pub(crate) fn is_running(&mut self) -> bool {
        match &mut self.child {
            Some(started) => matches!(started.child.try_wait(), Ok(None)),
            None => Path::new("/proc").join(self.pid.to_string()).exists(),
        }
    }

    /// Records one session.
    pub(crate) fn session(
        &mut self,
        options: &TraceOptions,
        remote: &Remote,
    ) -> Result<(Recorded, Ran), Error> {
        let options = TraceOptions {
            duration: Some(self.session),
            ..options.clone()
        };
        while self.is_starting() && !remote.is_cancelled() && !is_ready(self.pid, remote) {
            sleep(Duration::from_millis(100));
        }
        let begin = Instant::now();
        let recorded = trace_attached(self.pid, &options, remote)?;
        let ran = Ran {
            status: ExitStatus::from_raw(0),
            stopped: true,
            wall: begin.elapsed(),
            cpu: Duration::ZERO,
        };
        Ok((recorded, ran))
    }

    /// Whether it may not accept the agent yet.
    fn is_starting(&mut self) -> bool {
        let young = |it: &Started| it.since.elapsed() < START_TIMEOUT;
        self.child.as_ref().is_some_and(young) && self.is_running()
    }

    /// Ends a program that we have started, and copies its output to a run.
    pub(crate) fn finish(&mut self, run: Option<&Path>) {
        let Some(mut started) = self.child.take() else {
            return;
        };
        started.end();
        if let Some(run) = run {
            for name in ["stdout.txt", "stderr.txt"] {
                // A failure is no reason to lose the rest.
                let _ = fs::copy(started.streams.join(name), run.join(name));
            }
        }
        let _ = fs::remove_dir_all(&started.streams);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.finish(None);
    }
}

impl Started {
    fn start(options: &TraceOptions) -> Result<Started, Error> {
        let cannot = |error: std::io::Error| Error::CannotRecord(error.to_string());
        let here = env::current_dir().map_err(cannot)?;
        let cwd = options.cwd.as_ref();
        let cwd = cwd.map_or_else(|| here.clone(), |it| here.join(it));
        let program = launch::program(&options.program, &cwd)?;
        // A language server may run several loops.
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let streams =
            env::temp_dir().join(format!("fulcrum-refine-{}-{number}", std::process::id()));
        fs::create_dir_all(&streams).map_err(cannot)?;
        let mut command = Command::new(program);
        command
            .arg0(&options.program)
            .args(&options.args)
            .current_dir(cwd);
        launch::streams(&mut command, Stdio::Files, &streams)?;
        let child = command.spawn().map_err(|error| {
            Error::CannotStart(format!(
                "cannot start {}: {error}; run it by itself to see why",
                options.program.display()
            ))
        })?;
        Ok(Started {
            child,
            since: Instant::now(),
            streams,
        })
    }

    fn end(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // SAFETY: takes numbers only. The child was not reaped yet, so its process id is its own.
            unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGTERM) };
        }
        let asked = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if asked.elapsed() > TERMINATION_TIMEOUT {
                // It may have ended by itself just now.
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            sleep(Duration::from_millis(20));
        }
    }
}
