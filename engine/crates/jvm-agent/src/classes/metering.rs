//! The state of a session with a rule: meters, gates, and which methods have probes.

use std::sync::{Mutex, PoisonError};

use fulcrum_agent_core::metering::Metering as Core;

use crate::classes::gates::Gates;

/// Meters, gates, and which methods have probes.
pub(crate) struct Metering {
    core: Core,
    gates: &'static Gates,
    /// The numbers of methods with probes.
    probed: Mutex<Vec<u32>>,
}

impl Metering {
    /// Before any method has probes.
    pub(crate) fn new(core: Core, gates: &'static Gates) -> Self {
        Metering {
            core,
            gates,
            probed: Mutex::default(),
        }
    }

    /// The part that all agents share.
    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// The gates of methods.
    pub(crate) fn gates(&self) -> &'static Gates {
        self.gates
    }

    /// Adds methods that have probes now.
    pub(crate) fn add_probed(&self, methods: impl Iterator<Item = u32>) {
        let mut probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        probed.extend(methods);
    }

    /// The numbers of all methods that ever had probes, in order.
    pub(crate) fn all_probed(&self) -> Vec<u32> {
        let probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = probed.clone();
        drop(probed);
        all.sort_unstable();
        all.dedup();
        all
    }
}
