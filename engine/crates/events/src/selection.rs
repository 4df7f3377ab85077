//! Filters on a trace that is recorded already (JPMT §4.2: filtering during and after execution).

use std::collections::HashSet;

use fulcrum_jvm_core::filter::Filter;

use crate::event::What;
use crate::open::Trace;

/// What of a trace a filter would have observed.
#[derive(Clone, Debug)]
pub struct Selection {
    methods: HashSet<u32>,
    contention: bool,
    /// Classes whose objects are observed.
    allocation: HashSet<u32>,
    /// Releases do not tell the class.
    releases: bool,
    collections: bool,
    classes: bool,
}

impl Selection {
    pub fn new(trace: &Trace, filter: &Filter) -> Selection {
        let methods = trace
            .methods
            .iter()
            .filter(|(_, method)| filter.selects(&method.class, &method.name, &method.descriptor));
        let classes = trace.classes.iter();
        let allocated = classes.filter(|(_, class)| filter.allocates(&class.name));
        Selection {
            methods: methods.map(|(id, _)| *id).collect(),
            contention: filter.contention,
            allocation: allocated.map(|(id, _)| *id).collect(),
            releases: !filter.allocation.is_empty(),
            collections: filter.collections,
            classes: filter.classes,
        }
    }

    /// Whether an event is in the selection. Threads and the machine always are.
    pub fn has(&self, what: &What) -> bool {
        match what {
            What::Enter { method } | What::Exit { method, .. } => self.methods.contains(method),
            What::ContendedEnter { .. }
            | What::ContendedEntered { .. }
            | What::Wait { .. }
            | What::Waited { .. } => self.contention,
            What::Allocation { class, .. } => self.allocation.contains(class),
            What::Release { .. } => self.releases,
            What::GcStart | What::GcEnd => self.collections,
            What::ClassLoad { .. } | What::ClassUnload { .. } => self.classes,
            What::ThreadStart { .. } | What::ThreadEnd | What::VmStart { .. } | What::VmEnd => true,
        }
    }
}
