//! A process: its contexts, and what it recorded.

use std::collections::HashMap;
use std::rc::Rc;

use fulcrum_transactions::messages::ProcessMessages;
use fulcrum_transactions::{CallPath, Chain, Dictionary, Element, Flows, Name, Step, Synopsis};

use super::requests::Origin;
use super::thread::Doing;
use super::waits::{Released, SeenWait};
use crate::index::Index;
use crate::names::{Frame, ProcessKey, Resolvers};
use crate::process::{ModuleMap, id, path, place};

/// A process as it is replayed.
#[derive(Debug)]
pub(crate) struct Process {
    row: usize,
    run: usize,
    key: ProcessKey,
    pub dictionary: Dictionary,
    pub flows: Flows<Synopsis>,
    pub messages: ProcessMessages,
    pub(super) items: HashMap<u64, Item>,
    /// What new threads continue.
    pub(super) spawned: HashMap<u32, Continued>,
    /// What new processes continue.
    pub(super) forked: HashMap<u32, Handed>,
    pub(super) has_begun: bool,
    /// Threads that still have records.
    pub(super) threads_left: usize,
    pub(super) waits: Vec<SeenWait>,
    pub(super) releases: HashMap<u64, Vec<Released>>,
    /// By the kernel's number.
    pub(super) threads: HashMap<u32, usize>,
    paths: HashMap<u32, KnownPath>,
    /// Contexts by what they continue, and the call path that they add.
    appended: HashMap<(Synopsis, u32), Synopsis>,
    sends: HashMap<(Synopsis, u32), Rc<Outgoing>>,
    code: HashMap<u64, Rc<[Name]>>,
}

#[derive(Clone, Debug)]
struct KnownPath {
    step: Step,
    names: Rc<[Name]>,
}

/// What was produced for others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// For whom the producer worked.
    pub of: Doing,
    /// The same with the call path at which it was produced.
    pub produced: Synopsis,
}

/// What a thread continues that another one made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continued {
    pub of: Doing,
    /// The context with the call path at which the thread was made.
    pub context: Synopsis,
}

/// What a process continues that another one made.
#[derive(Clone, Debug)]
pub(super) struct Handed {
    pub outgoing: Rc<Outgoing>,
    pub origin: Rc<Origin>,
}

/// What goes beside a message.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub chain: Chain,
    /// The sender's context with the call path.
    pub sent: Synopsis,
}

impl Process {
    /// The process in this row of the index, of a run.
    pub fn new(row: usize, run: usize, key: ProcessKey) -> Self {
        Process {
            row,
            run,
            key,
            dictionary: Dictionary::new(id(run, key)),
            flows: Flows::default(),
            messages: ProcessMessages::default(),
            items: HashMap::new(),
            spawned: HashMap::new(),
            forked: HashMap::new(),
            has_begun: false,
            threads_left: 0,
            waits: Vec::new(),
            releases: HashMap::new(),
            threads: HashMap::new(),
            paths: HashMap::new(),
            appended: HashMap::new(),
            sends: HashMap::new(),
            code: HashMap::new(),
        }
    }

    /// The names of an address of code, outermost first. Of a return address, one less is to be given.
    pub fn names(
        &mut self,
        modules: &[ModuleMap],
        resolver: &Resolvers<'_>,
        address: u64,
    ) -> Rc<[Name]> {
        if let Some(known) = self.code.get(&address) {
            return known.clone();
        }
        let names = &mut self.dictionary.names;
        let found: Rc<[Name]> = match resolver.code(self.run, self.key, address) {
            None => Rc::new([names.intern(&place(modules, address))]),
            Some(frames) => {
                let outermost_first = frames.iter().rev();
                outermost_first
                    .map(|Frame { name, .. }| names.intern(name))
                    .collect()
            }
        };
        self.code.insert(address, found.clone());
        found
    }

    /// What a thread in a context does, in a few words.
    pub fn stage(&self, context: Synopsis) -> String {
        let name = |name: Name| self.dictionary.names.text(name).to_owned();
        match self.dictionary.contexts().last_element(context) {
            Some(Element::Step(step)) => name(step.short_name()),
            Some(Element::Received(_)) => "request".into(),
            None => "…".into(),
        }
    }

    /// The row of a thread by the kernel's number.
    pub fn thread(&self, tid: u32) -> Option<usize> {
        self.threads.get(&tid).copied()
    }

    /// The function that begins at an address.
    pub fn function(&mut self, index: &Index, resolver: &Resolvers<'_>, address: u64) -> Name {
        let names = self.names(&index.processes[self.row].modules, resolver, address);
        names.first().copied().unwrap_or(Name::CUT)
    }

    /// A call path.
    pub fn path(&mut self, index: &Index, resolver: &Resolvers<'_>, id: u32) -> Step {
        self.known_path(index, resolver, id).step.clone()
    }

    /// The functions of a call path, outermost first.
    pub fn path_names(&mut self, index: &Index, resolver: &Resolvers<'_>, id: u32) -> Rc<[Name]> {
        self.known_path(index, resolver, id).names.clone()
    }

    fn known_path(&mut self, index: &Index, resolver: &Resolvers<'_>, id: u32) -> &KnownPath {
        if !self.paths.contains_key(&id) {
            let addresses = path(&index.processes, self.row, id).unwrap_or_default();
            let modules = &index.processes[self.row].modules;
            let mut all = Vec::new();
            for address in addresses.iter().rev() {
                all.extend_from_slice(&self.names(modules, resolver, address.saturating_sub(1)));
            }
            if all.is_empty() {
                all.push(Name::CUT);
            }
            let step = Step::Path(CallPath::new(all));
            let names = step.names().into();
            self.paths.insert(id, KnownPath { step, names });
        }
        &self.paths[&id]
    }

    /// The context that goes on with a call path.
    pub fn append_path(
        &mut self,
        index: &Index,
        resolver: &Resolvers<'_>,
        context: Synopsis,
        path: u32,
    ) -> Synopsis {
        if let Some(&known) = self.appended.get(&(context, path)) {
            return known;
        }
        let step = self.path(index, resolver, path);
        let appended = self.dictionary.append(context, step);
        self.appended.insert((context, path), appended);
        appended
    }

    /// What goes beside a message that leaves a context by a call path.
    pub(super) fn outgoing(
        &mut self,
        index: &Index,
        resolver: &Resolvers<'_>,
        context: Synopsis,
        path: u32,
    ) -> Rc<Outgoing> {
        if let Some(known) = self.sends.get(&(context, path)) {
            return known.clone();
        }
        let at = self.path(index, resolver, path);
        let sent = self.dictionary.append(context, at.clone());
        let chain = self.dictionary.send(context, at);
        let outgoing = Rc::new(Outgoing { chain, sent });
        self.sends.insert((context, path), outgoing.clone());
        outgoing
    }
}
