//! A process: its contexts and its records.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use fulcrum_transactions::messages::ProcessMessages;
use fulcrum_transactions::{
    CallPath, Chain, Dictionary, Element, Flows, LockId, Name, Step, Synopsis,
};

use super::doing::{Doing, Origin, ThreadRow};
use super::handlers::{Calls, Place, depth, is_librarys, is_put_off};
use super::library_files::is_library;
use super::wait::{JavaLock, OwnedWait, Released, SeenWait};
use crate::index::Index;
use crate::names::{Frame, ProcessKey, Resolvers};
use crate::process::{ModuleMap, id, module_row, path, path_numbers, place};

/// A process during replay.
#[derive(Debug)]
pub(crate) struct Process {
    row: usize,
    run: usize,
    key: ProcessKey,
    pub(crate) dictionary: Dictionary,
    pub(crate) flows: Flows<Synopsis>,
    pub(crate) messages: ProcessMessages,
    pub(in crate::replay) items: HashMap<u64, Item>,
    /// What new threads continue.
    pub(in crate::replay) spawned: HashMap<u32, Continued>,
    /// What new processes continue.
    pub(in crate::replay) forked: HashMap<u32, Handed>,
    pub(in crate::replay) has_begun: bool,
    /// The number of threads with records left.
    pub(in crate::replay) threads_left: usize,
    /// The rows of its threads.
    pub(crate) rows: Range<usize>,
    pub(in crate::replay) waits: Vec<SeenWait>,
    /// The waits of transactions, once they have been added up.
    pub(crate) owned_waits: Vec<OwnedWait>,
    pub(in crate::replay) releases: HashMap<u64, Vec<Released>>,
    /// For locks that were waited for: a name by the place of the first wait, or by the lock's class.
    pub(crate) lock_places: HashMap<LockId, String>,
    /// By the kernel's thread number, which is reused: the thread and the time since when it has the number.
    threads: HashMap<u32, Vec<(u64, ThreadRow)>>,
    paths: HashMap<u32, KnownPath>,
    /// Created on first use.
    calls: Option<Rc<Calls>>,
    /// Contexts, by the context they continue and the call path they add.
    appended: HashMap<(Synopsis, u32), Synopsis>,
    sends: HashMap<(Synopsis, u32), Rc<Outgoing>>,
    code: HashMap<u64, Place>,
}

#[derive(Clone, Debug)]
struct KnownPath {
    step: Step,
    names: Rc<[Name]>,
    places: Rc<[Place]>,
}

/// Whether a function only starts a program or a thread. All call paths begin with such functions.
fn is_start(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    let of_programs = [
        "_start",
        "__libc_start_main",
        "__libc_start_main_impl",
        "__libc_start_call_main",
    ];
    let of_threads = [
        "start_thread",
        "clone",
        "clone3",
        "__clone",
        "__clone3",
        "__GI___clone",
    ];
    of_programs.contains(&name) || of_threads.contains(&name)
}

/// Something that was produced for others.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Item {
    /// What the producer worked for.
    pub(crate) of: Doing,
    /// The producer's context with the call path of the production.
    pub(crate) produced: Synopsis,
    /// How often it is still to be consumed.
    pub(crate) left: u32,
    /// How many windows had ended when it was produced.
    pub(crate) window: u32,
}

/// What a thread continues from its creator.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Continued {
    pub(crate) of: Doing,
    /// The context with the call path of the thread's creation.
    pub(crate) context: Synopsis,
}

/// What a process continues from its creator.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Handed {
    pub(crate) outgoing: Rc<Outgoing>,
    pub(crate) origin: Rc<Origin>,
}

/// What accompanies a message.
#[derive(Debug)]
pub(in crate::replay) struct Outgoing {
    pub(crate) chain: Chain,
    /// The sender's context with the call path.
    pub(crate) sent: Synopsis,
}

impl Process {
    /// The process in this row of the index, from a run.
    pub(crate) fn new(row: usize, run: usize, key: ProcessKey) -> Self {
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
            rows: 0..0,
            waits: Vec::new(),
            owned_waits: Vec::new(),
            releases: HashMap::new(),
            lock_places: HashMap::new(),
            threads: HashMap::new(),
            paths: HashMap::new(),
            calls: None,
            appended: HashMap::new(),
            sends: HashMap::new(),
            code: HashMap::new(),
        }
    }

    /// The functions at a code address, outermost first. For a return address, callers pass one less.
    pub(crate) fn names(
        &mut self,
        modules: &[ModuleMap],
        resolver: &Resolvers<'_>,
        address: u64,
    ) -> Rc<[Name]> {
        self.known_code(modules, resolver, address).names
    }

    fn known_code(
        &mut self,
        modules: &[ModuleMap],
        resolver: &Resolvers<'_>,
        address: u64,
    ) -> Place {
        if let Some(known) = self.code.get(&address) {
            return known.clone();
        }
        let names = &mut self.dictionary.names;
        let frames = resolver.code(self.run, self.key, address);
        let is_named = frames.is_some();
        let names: Rc<[Name]> = match frames {
            None => Rc::new([names.intern(&place(modules, address))]),
            Some(frames) => {
                let outermost_first = frames.iter().rev();
                outermost_first
                    .map(|Frame { name, .. }| names.intern(name))
                    .collect()
            }
        };
        // Two ranges of one file are one module.
        let file = module_row(modules, address).map(|row| &modules[row].file);
        let module = file.and_then(|file| modules.iter().position(|it| it.file == *file));
        let found = Place {
            address,
            names,
            is_named,
            module,
        };
        self.code.insert(address, found.clone());
        found
    }

    /// A short description of what a thread does in a context.
    pub(crate) fn stage(&self, context: Synopsis) -> String {
        let name = |name: Name| self.dictionary.names.text(name).to_owned();
        match self.dictionary.contexts().last_element(context) {
            Some(Element::Step(step)) => name(step.short_name()),
            Some(Element::Received(_)) => "request".into(),
            None => "…".into(),
        }
    }

    /// Its row in the index.
    pub(in crate::replay) fn row(&self) -> usize {
        self.row
    }

    /// A window has ended: what was produced in it is for nobody any more.
    pub(in crate::replay) fn forgets_items(&mut self) {
        for item in self.items.values_mut() {
            item.of = Doing::default();
            item.produced = Synopsis::EMPTY;
        }
    }

    /// Takes an item for one consumption.
    pub(in crate::replay) fn take_item(&mut self, item: u64) -> Option<Item> {
        let there = self.items.get_mut(&item)?;
        there.left = there.left.saturating_sub(1);
        let taken = *there;
        if taken.left == 0 {
            self.items.remove(&item);
        }
        Some(taken)
    }

    /// The thread in this row has the kernel's thread number since then.
    pub(crate) fn add_thread(&mut self, tid: u32, from_ns: u64, row: ThreadRow) {
        let of_number = self.threads.entry(tid).or_default();
        let at = of_number.partition_point(|(other, _)| *other <= from_ns);
        of_number.insert(at, (from_ns, row));
    }

    /// The row of the thread that had the kernel's thread number at that time.
    pub(crate) fn thread(&self, tid: u32, time_ns: u64) -> Option<ThreadRow> {
        let of_number = self.threads.get(&tid)?;
        let after = of_number.partition_point(|(from, _)| *from <= time_ns);
        of_number.get(after.saturating_sub(1)).map(|(_, row)| *row)
    }

    /// The handler that begins at an address or has that number. `None` if it belongs to a library.
    pub(in crate::replay) fn handler_at(
        &mut self,
        index: &Index,
        resolver: &Resolvers<'_>,
        address: u64,
    ) -> Option<Name> {
        if let Some(name) = index.function(self.row, address) {
            return Some(self.dictionary.names.intern(name));
        }
        let modules = &index.processes[self.row].modules;
        let place = self.known_code(modules, resolver, address);
        let file = place.module.map(|row| modules[row].file.as_str());
        match file.is_some_and(is_library) {
            true => None,
            false => Some(place.names.first().copied().unwrap_or(Name::CUT)),
        }
    }

    /// What a monitor or a lock of Java is called: its class. Of locks that the platform's classes consist of there are many, which
    /// the method that waits tells apart.
    pub(in crate::replay) fn java_lock(&self, index: &Index, lock: JavaLock) -> Option<String> {
        let class = index.function(self.row, lock.class)?;
        let Some(part) = class.strip_prefix("java.util.concurrent.") else {
            return Some(class.into());
        };
        let part = part.strip_prefix("locks.").unwrap_or(part);
        let whole = match part.split_once('$') {
            Some((_, "ConditionObject")) => "Condition",
            Some((outer, _)) => outer,
            None => part,
        };
        let method = index.function(self.row, lock.method);
        Some(match method {
            Some(method) => format!("{whole} in {method}"),
            None => whole.into(),
        })
    }

    /// A call path.
    pub(crate) fn path(&mut self, index: &Index, resolver: &Resolvers<'_>, id: u32) -> Step {
        self.known_path(index, resolver, id).step.clone()
    }

    /// The functions of a call path, outermost first.
    pub(crate) fn path_names(
        &mut self,
        index: &Index,
        resolver: &Resolvers<'_>,
        id: u32,
    ) -> Rc<[Name]> {
        self.known_path(index, resolver, id).names.clone()
    }

    /// The handler that a loop, which waited at one call path, called when the other path was taken.
    pub(crate) fn handler(
        &mut self,
        index: &Index,
        resolver: &Resolvers<'_>,
        waiting: u32,
        path: u32,
    ) -> Option<Name> {
        let info = &index.processes[self.row];
        let program = info.modules.iter().position(|it| it.file == info.program);
        let waiting = self.known_path(index, resolver, waiting).places.clone();
        let path = self.known_path(index, resolver, path).places.clone();
        let mut depth = depth(&waiting, &path, program)?;
        if !is_librarys(&waiting, program) && is_put_off(&waiting, depth) {
            let calls = self.calls(index, resolver);
            depth = calls.behind_queue(&path, depth);
        }
        path[depth].names.first().copied()
    }

    fn calls(&mut self, index: &Index, resolver: &Resolvers<'_>) -> Rc<Calls> {
        if let Some(calls) = &self.calls {
            return Rc::clone(calls);
        }
        let mut calls = Calls::default();
        for id in path_numbers(&index.processes, self.row) {
            calls.add(&self.known_path(index, resolver, id).places);
        }
        let calls = Rc::new(calls);
        self.calls = Some(Rc::clone(&calls));
        calls
    }

    fn known_path(&mut self, index: &Index, resolver: &Resolvers<'_>, id: u32) -> &KnownPath {
        if !self.paths.contains_key(&id) {
            let addresses = path(&index.processes, self.row, id).unwrap_or_default();
            let modules = &index.processes[self.row].modules;
            let outermost_first = addresses.iter().rev().map(|it| it.saturating_sub(1));
            let mut places: Vec<Place> = outermost_first
                .map(|it| self.known_code(modules, resolver, it))
                .filter(|it| !it.names.is_empty())
                .collect();
            let texts = &self.dictionary.names;
            let is_start = |it: &Place| it.names.iter().all(|&it| is_start(texts.text(it)));
            let program = places.iter().take_while(|it| is_start(it)).count();
            if program < places.len() {
                places.drain(..program);
            }
            let mut all: Vec<Name> = places
                .iter()
                .flat_map(|it| it.names.iter().copied())
                .collect();
            if all.is_empty() {
                all.push(Name::CUT);
            }
            let step = Step::Path(CallPath::new(all));
            let known = KnownPath {
                names: step.names().into(),
                step,
                places: places.into(),
            };
            self.paths.insert(id, known);
        }
        &self.paths[&id]
    }

    /// The innermost named function of a call path, or else the innermost function.
    pub(crate) fn innermost(
        &mut self,
        index: &Index,
        resolver: &Resolvers<'_>,
        path: u32,
    ) -> Option<Name> {
        let places = &self.known_path(index, resolver, path).places;
        let named = places.iter().rev().find(|it| it.is_named);
        named.or(places.last())?.names.last().copied()
    }

    /// The file of a call path's innermost function.
    pub(crate) fn innermost_file<'i>(
        &mut self,
        index: &'i Index,
        resolver: &Resolvers<'_>,
        path: u32,
    ) -> Option<&'i str> {
        let places = &self.known_path(index, resolver, path).places;
        let module = places.last()?.module?;
        Some(&index.processes[self.row].modules[module].file)
    }

    /// The context that continues with a call path.
    pub(crate) fn append_path(
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

    /// The context that continues with the program's part of a call path, without calls inside event libraries.
    pub(in crate::replay) fn append_program_path(
        &mut self,
        index: &Index,
        resolver: &Resolvers<'_>,
        context: Synopsis,
        path: u32,
    ) -> Synopsis {
        let modules = &index.processes[self.row].modules;
        let is_own = |it: &&Place| !it.module.is_some_and(|row| is_library(&modules[row].file));
        let places = self.known_path(index, resolver, path).places.clone();
        let all = places.iter().filter(is_own);
        let names: Vec<Name> = all.flat_map(|it| it.names.iter().copied()).collect();
        if names.is_empty() {
            return self.append_path(index, resolver, context, path);
        }
        let step = Step::Path(CallPath::new(names));
        self.dictionary.append(context, step)
    }

    /// What accompanies a message that is sent in a context from a call path.
    pub(in crate::replay) fn outgoing(
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
