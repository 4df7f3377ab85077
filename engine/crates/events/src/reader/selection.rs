//! Filters a recorded trace (JPMT §4.2: filtering during and after execution).

use std::collections::{BTreeMap, HashSet};

use fulcrum_filter::Filter;

use crate::reader::dictionary::{Class, Method};
use crate::reader::event::What;

/// The methods, by number.
type Methods = BTreeMap<u32, Method>;
/// The classes, by number.
type Classes = BTreeMap<u32, Class>;

/// The part of a trace that a filter would have observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    methods: HashSet<u32>,
    contention: bool,
    /// The classes whose objects are observed.
    allocation: HashSet<u32>,
    /// Releases do not have the class.
    releases: bool,
    collections: bool,
    classes: bool,
}

impl Selection {
    /// The selection of a filter.
    pub(crate) fn new(methods: &Methods, classes: &Classes, filter: &Filter) -> Selection {
        let mut all = Selection::all(methods, classes);
        all.narrow(methods, classes, filter);
        all
    }

    /// Everything in the log's dictionary.
    pub(crate) fn all(methods: &Methods, classes: &Classes) -> Selection {
        Selection {
            methods: methods.keys().copied().collect(),
            contention: true,
            allocation: classes.keys().copied().collect(),
            releases: true,
            collections: true,
            classes: true,
        }
    }

    /// Restricts the selection to what another filter would have observed, too.
    pub(crate) fn narrow(&mut self, methods: &Methods, classes: &Classes, filter: &Filter) {
        self.methods.retain(|id| {
            let method = methods.get(id);
            method.is_some_and(|it| filter.selects(&it.class, &it.name, &it.descriptor))
        });
        self.allocation.retain(|id| {
            let class = classes.get(id);
            class.is_some_and(|it| filter.allocates(&it.name))
        });
        self.contention &= filter.contention;
        self.releases &= !filter.allocation.is_empty();
        self.collections &= filter.collections;
        self.classes &= filter.classes;
    }

    /// Restricts the methods.
    pub(crate) fn retain_methods(&mut self, wanted: impl Fn(u32) -> bool) {
        self.methods.retain(|id| wanted(*id));
    }

    /// The number of methods.
    pub(crate) fn methods(&self) -> usize {
        self.methods.len()
    }

    /// Whether waiting for monitors is in the selection.
    pub(crate) fn contention(&self) -> bool {
        self.contention
    }

    /// Whether an event is in the selection. Events of threads and the virtual machine always are.
    pub(crate) fn has(&self, what: &What) -> bool {
        match what {
            What::Enter { method }
            | What::Exit { method, .. }
            | What::Objects { method, .. }
            | What::Result { method, .. }
            | What::Arguments { method, .. }
            | What::Returned { method, .. } => self.methods.contains(method),
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
