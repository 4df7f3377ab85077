//! Runs a program to its end, and measures its times.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::{Error, Remote};

/// How long a program may take to end after SIGTERM: Java programs write their last events meanwhile.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

/// How a program ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    pub status: ExitStatus,
    /// Whether we stopped it.
    pub stopped: bool,
    /// From its start to its end.
    pub wall: Duration,
    /// The CPU time of it and of the children that it waited for, in user and kernel mode.
    pub cpu: Duration,
}

/// Runs the program, and calls `report` about twice a second. It is stopped after `duration`, and when `remote` is cancelled.
pub(crate) fn run(
    mut command: Command,
    duration: Option<Duration>,
    remote: &Remote,
    report: &mut dyn FnMut(),
) -> Result<Ran, Error> {
    let start = Instant::now();
    let child = command.spawn().map_err(|error| {
        let name = command.get_program().display();
        Error::CannotStart(format!(
            "cannot start {name}: {error}; run it by itself to see why"
        ))
    })?;
    let pid = child.id() as libc::pid_t;
    let end = EndOf::process(pid);
    let mut asked: Option<Instant> = None;
    let mut killed = false;
    let mut next_report = REPORT_INTERVAL;
    loop {
        end.wait(POLL_INTERVAL);
        let found = reap(pid).map_err(|error| {
            Error::CannotRecord(format!("cannot wait for the program: {error}"))
        })?;
        if let Some((status, cpu)) = found {
            return Ok(Ran {
                status,
                stopped: asked.is_some(),
                wall: start.elapsed(),
                cpu,
            });
        }
        if start.elapsed() >= next_report {
            next_report = start.elapsed() + REPORT_INTERVAL;
            report();
        }
        let over = duration.is_some_and(|most| start.elapsed() >= most);
        match asked {
            None if over || remote.is_cancelled() => {
                asked = Some(Instant::now());
                signal(pid, libc::SIGTERM);
            }
            Some(since) if since.elapsed() > TERMINATION_TIMEOUT && !killed => {
                killed = true;
                signal(pid, libc::SIGKILL);
            }
            _ => {}
        }
    }
}

fn signal(pid: libc::pid_t, signal: libc::c_int) {
    // SAFETY: takes numbers only. The child was not reaped yet, so its process id is its own.
    unsafe { libc::kill(pid, signal) };
}

/// The end of a child, if it has ended, and its CPU time.
fn reap(pid: libc::pid_t) -> io::Result<Option<(ExitStatus, Duration)>> {
    let mut status = 0;
    // SAFETY: a `rusage` consists of numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes to two places, which are ours and outlive it.
    match unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) } {
        0 => Ok(None),
        found if found == pid => {
            let time = |it: libc::timeval| {
                Duration::from_secs(it.tv_sec as u64) + Duration::from_micros(it.tv_usec as u64)
            };
            let cpu = time(usage.ru_utime) + time(usage.ru_stime);
            Ok(Some((ExitStatus::from_raw(status), cpu)))
        }
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            error => Err(error),
        },
    }
}

/// Waits for the end of a process: a descriptor that becomes readable, or none (before Linux 5.3), which means polling.
struct EndOf(Option<OwnedFd>);

impl EndOf {
    fn process(pid: libc::pid_t) -> EndOf {
        // SAFETY: takes numbers and returns one.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        // SAFETY: the descriptor is new, and nothing else owns it.
        EndOf((fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as i32) }))
    }

    fn wait(&self, most: Duration) {
        let Some(fd) = &self.0 else {
            return std::thread::sleep(most);
        };
        let mut poll = libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry, which is ours and outlives the call. An interruption does not matter.
        unsafe { libc::poll(&raw mut poll, 1, most.as_millis() as libc::c_int) };
    }
}
