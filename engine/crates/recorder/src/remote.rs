//! Controls a run in progress: cancels, pauses, changes its scope or target.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_model::Progress;

/// What experiments may speed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// File patterns (`%` matches anything); empty is every file that is not a system header.
    pub source_scope: Vec<String>,
    /// Binary patterns, `MAIN` is the program itself; empty is the program itself.
    pub binary_scope: Vec<String>,
    /// Lines, functions, paths or blocked calls.
    pub target: TargetChoice,
}

/// The kind of target that a run experiments on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetChoice {
    /// Source lines (COZ).
    #[default]
    Line,
    /// Functions, without what they call.
    Function,
    /// Functions with everything they call.
    Inclusive,
    /// Call sequences, each outermost function first, with everything the last one calls.
    Path(Vec<Vec<String>>),
    /// Time spent waiting in calls such as `read` or `nanosleep`.
    Blocked,
}

impl std::fmt::Display for TargetChoice {
    /// As on the command line: `line`, `path:A > B`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TargetChoice::Line => f.write_str("line"),
            TargetChoice::Function => f.write_str("function"),
            TargetChoice::Inclusive => f.write_str("inclusive"),
            TargetChoice::Blocked => f.write_str("blocked"),
            TargetChoice::Path(paths) => {
                for (index, path) in paths.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}path:{}", path.join(" > "))?;
                }
                Ok(())
            }
        }
    }
}

/// Controls a run from another thread; clones control the same run.
#[derive(Clone, Debug, Default)]
pub struct Remote(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    progress: Progress,
    paused: AtomicBool,
    background: AtomicBool,
    aim: Mutex<Option<Aim>>,
}

impl Remote {
    /// Controls a run that `progress` cancels: the program is stopped, and what was recorded stays.
    pub fn new(progress: &Progress) -> Remote {
        Remote(Arc::new(Inner {
            progress: progress.clone(),
            ..Inner::default()
        }))
    }

    /// Cancels the run: the program is stopped, and what was recorded stays.
    pub fn cancel(&self) {
        self.0.progress.cancel();
    }

    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.progress.is_cancelled()
    }

    /// Pauses experiments until [`Remote::resume`]; the program runs on without delays.
    pub fn pause(&self) {
        self.0.paused.store(true, Ordering::Release);
    }

    /// Resumes experiments.
    pub fn resume(&self) {
        self.0.paused.store(false, Ordering::Release);
    }

    /// Whether experiments are paused.
    pub fn is_paused(&self) -> bool {
        self.0.paused.load(Ordering::Acquire)
    }

    /// Whether the program has ended, and what it left running is profiled. Ctrl-C in the terminal does not reach that.
    pub fn is_in_background(&self) -> bool {
        self.0.background.load(Ordering::Acquire)
    }

    /// The program has ended and left something running.
    pub(crate) fn set_background(&self) {
        self.0.background.store(true, Ordering::Release);
    }

    /// Experiments on other targets from the next experiment on. The latest call counts.
    pub fn retarget(&self, aim: Aim) {
        *self.0.aim.lock().unwrap_or_else(PoisonError::into_inner) = Some(aim);
    }

    /// The aim of the latest [`Remote::retarget`], once.
    pub(crate) fn take_aim(&self) -> Option<Aim> {
        self.0
            .aim
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_control_the_same_run() {
        let token = Progress::default();
        let remote = Remote::new(&token);
        let other = remote.clone();
        assert!(!other.is_cancelled() && !other.is_paused());
        remote.pause();
        token.cancel();
        assert!(other.is_cancelled() && other.is_paused());
        other.resume();
        assert!(!remote.is_paused());
    }

    #[test]
    fn the_latest_aim_is_taken_once() {
        let remote = Remote::default();
        for target in [TargetChoice::Function, TargetChoice::Blocked] {
            remote.retarget(Aim {
                target,
                ..Aim::default()
            });
        }
        assert_eq!(
            remote.take_aim().map(|it| it.target),
            Some(TargetChoice::Blocked)
        );
        assert_eq!(remote.take_aim(), None);
    }
}
