//! The record of a process.

use std::collections::BTreeMap;

use crate::Flows;
use crate::LockId;
use crate::Synopsis;
use crate::context::contexts::Cuts;
use crate::context::export::Exported;
use crate::context::names::Name;
use crate::context_profile::ContextProfile;
use crate::crosstalk::{Leftovers, Pairs};
use crate::latency::{Instance, InstanceId};
use crate::messages::ProcessMessages;

/// Everything that a process recorded. Contexts are those of its dictionary.
#[derive(Clone, Debug)]
pub struct ProcessRecord {
    /// Its contexts and names.
    pub dictionary: Exported,
    /// How often the dictionary reached a limit.
    pub cuts: Cuts,
    /// Its CPU samples.
    pub profile: ContextProfile,
    /// How long threads worked for transactions, or waited for others on their behalf, by context and thread name, in
    /// nanoseconds.
    pub walls: BTreeMap<(Synopsis, Name), u64>,
    /// The transactions that it worked for, with the contexts, each once. A transaction may have begun in another process.
    pub parts: Vec<(Synopsis, InstanceId)>,
    /// What flowed within it.
    pub flows: Flows<Synopsis>,
    /// What it sent and received.
    pub messages: ProcessMessages,
    /// Who waited for whom.
    pub waits: Pairs<Synopsis, LockId, Synopsis>,
    /// Locks held and waited for at its end.
    pub leftovers: Leftovers,
    /// Names of locks. Locks without a name are shown by address.
    pub lock_names: BTreeMap<LockId, String>,
    /// Its transactions.
    pub instances: Vec<Instance>,
    /// How the record ends.
    pub ending: Ending,
}

/// How a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the process.
    Complete,
    /// Early: the process was killed, or its log was lost.
    CutOff,
}

impl ProcessRecord {
    /// A record with only a dictionary.
    pub fn new(dictionary: Exported) -> Self {
        ProcessRecord {
            dictionary,
            cuts: Cuts::default(),
            profile: ContextProfile::default(),
            walls: BTreeMap::new(),
            parts: Vec::new(),
            flows: Flows::default(),
            messages: ProcessMessages::default(),
            waits: Pairs::default(),
            leftovers: Leftovers::default(),
            lock_names: BTreeMap::new(),
            instances: Vec::new(),
            ending: Ending::Complete,
        }
    }

    pub(super) fn lock_name(&self, lock: LockId) -> String {
        let known = self.lock_names.get(&lock).cloned();
        known.unwrap_or_else(|| format!("{:#x}", lock.0))
    }
}
