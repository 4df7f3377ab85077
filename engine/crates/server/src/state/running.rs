//! Causal runs, while they go on and when they end.

use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_recorder::{Recorded, Remote};

use crate::causal::profile::OpenCausalProfile;
use crate::protocol::Aim;
use crate::protocol::failure::Failure;

/// A run that is going on.
#[derive(Debug)]
pub(crate) struct RunningRun {
    pub remote: Remote,
    /// What is shown follows the run, unless the user has opened something else meanwhile.
    pub followed: bool,
    /// The last analysis that can be shown.
    pub latest: Option<Arc<OpenCausalProfile>>,
    /// An analysis is being prepared for showing.
    pub preparing: bool,
    /// What the run experiments on; the run's thread reads it.
    aim: Arc<Mutex<Aim>>,
}

impl RunningRun {
    /// A run that begins, and is followed.
    pub(crate) fn new(remote: Remote, aim: Arc<Mutex<Aim>>) -> RunningRun {
        RunningRun {
            remote,
            followed: true,
            latest: None,
            preparing: false,
            aim,
        }
    }

    /// The user chose another target or scope.
    pub(crate) fn set_aim(&self, aim: Aim) {
        *self.aim.lock().unwrap_or_else(PoisonError::into_inner) = aim;
    }
}

/// A run that ended, before it is shown.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    pub recorded: Recorded,
    /// How the program ended, as a sentence.
    pub exit: String,
    pub profile: Result<Box<OpenCausalProfile>, Failure>,
}
