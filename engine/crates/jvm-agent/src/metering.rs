//! What a session with a rule has: meters, gates, and which methods have probes.

use std::sync::{Mutex, PoisonError};

use fulcrum_agent_core::metering::Metering as Core;

use crate::gates::Gates;

/// What a session with a rule has.
pub struct Metering {
    core: Core,
    gates: &'static Gates,
    /// The numbers of methods with probes.
    probed: Mutex<Vec<u32>>,
}

impl Metering {
    /// Before any method has probes.
    pub fn new(core: Core, gates: &'static Gates) -> Self {
        Metering {
            core,
            gates,
            probed: Mutex::default(),
        }
    }

    /// What is the same for all agents.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// The gates of methods.
    pub fn gates(&self) -> &'static Gates {
        self.gates
    }

    /// These methods have probes now.
    pub fn has_probes(&self, methods: impl Iterator<Item = u32>) {
        let mut probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        probed.extend(methods);
    }

    /// The numbers of all methods that ever had probes, in order.
    pub fn all_probed(&self) -> Vec<u32> {
        let probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = probed.clone();
        drop(probed);
        all.sort_unstable();
        all.dedup();
        all
    }
}
