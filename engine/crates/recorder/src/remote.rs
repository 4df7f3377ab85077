//! Steering a run while it goes: stop, pause, another scope or target.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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

/// Steers a run from another thread; clones steer the same run.
#[derive(Clone, Debug, Default)]
pub struct Remote(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    stop: AtomicBool,
    paused: AtomicBool,
    aim: Mutex<Option<Aim>>,
}

impl Remote {
    /// A run that goes on until it ends.
    pub fn new() -> Remote {
        Remote::default()
    }

    /// Ends the program; what was recorded stays.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Release);
    }

    /// Whether the program was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Acquire)
    }

    /// No experiments until [`Remote::resume`]; the program runs on undelayed.
    pub fn pause(&self) {
        self.0.paused.store(true, Ordering::Release);
    }

    /// Experiments again.
    pub fn resume(&self) {
        self.0.paused.store(false, Ordering::Release);
    }

    /// Whether experiments are paused.
    pub fn is_paused(&self) -> bool {
        self.0.paused.load(Ordering::Acquire)
    }

    /// Experiments on something else from the next one on; the latest wish counts.
    pub fn retarget(&self, aim: Aim) {
        *self.0.aim.lock().unwrap_or_else(PoisonError::into_inner) = Some(aim);
    }

    /// The latest wish, once.
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
    fn clones_steer_the_same_run() {
        let remote = Remote::new();
        let other = remote.clone();
        assert!(!other.is_stopped() && !other.is_paused());
        remote.pause();
        remote.stop();
        assert!(other.is_stopped() && other.is_paused());
        other.resume();
        assert!(!remote.is_paused());
    }

    #[test]
    fn the_latest_aim_is_taken_once() {
        let remote = Remote::new();
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
