//! Causal runs, while they go on and when they end.

use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_recorder::{Recorded, Remote};

use crate::failure::Failure;
use crate::profile::OpenCausalProfile;
use crate::protocol::Aim;

/// A run that is going on.
#[derive(Debug)]
pub(crate) struct Running {
    pub remote: Remote,
    /// What is shown follows the run; not after the user opened something else meanwhile.
    pub followed: bool,
    /// What was found last.
    pub latest: Option<Arc<OpenCausalProfile>>,
    /// An analysis is being prepared for showing.
    pub building: bool,
    /// What the run experiments on; the run's thread reads it.
    aim: Arc<Mutex<Aim>>,
}

impl Running {
    /// A run that begins, and is followed.
    pub fn new(remote: Remote, aim: Arc<Mutex<Aim>>) -> Running {
        Running {
            remote,
            followed: true,
            latest: None,
            building: false,
            aim,
        }
    }

    /// The user chose another target or scope.
    pub fn set_aim(&self, aim: Aim) {
        *self.aim.lock().unwrap_or_else(PoisonError::into_inner) = aim;
    }
}

/// How a run ended, before it is shown.
#[derive(Debug)]
pub(crate) struct Finished {
    pub recorded: Recorded,
    /// How the program ended, as a sentence.
    pub exit: String,
    pub profile: Result<Box<OpenCausalProfile>, Failure>,
}
