//! What a log contains about its process as a whole: its program, its code and its call paths.

use std::collections::{BTreeSet, HashMap};

use fulcrum_transactions::ProcessId;
use fulcrum_wire::transactions::{COPIES_MODULE, Record};

use crate::context_keys::ContextKeys;
use crate::log::{Header, Log};
use crate::names::ProcessKey;

/// A file mapped in a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleMap {
    /// The address of its first byte.
    pub start: u64,
    /// The address after its last byte.
    pub end: u64,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The file.
    pub file: String,
}

/// A process, as described by its log.
#[derive(Clone, Debug)]
pub(crate) struct ProcessInfo {
    /// The row of the run.
    pub(crate) run: usize,
    pub(crate) key: ProcessKey,
    pub(crate) header: Header,
    /// The executed file. Empty if the log does not name it.
    pub(crate) program: String,
    /// The name of its first thread when it started to execute the file: the program as it was invoked, truncated to 15
    /// bytes by the kernel. Empty in a forked copy.
    called: String,
    /// Sorted by start address.
    pub(crate) modules: Vec<ModuleMap>,
    /// The names of its spans' attributes.
    pub(crate) context_keys: ContextKeys,
    /// Return addresses by path number, innermost first.
    pub(crate) paths: HashMap<u32, Box<[u64]>>,
    /// The row of the process that forked or spawned it.
    pub(crate) parent: Option<usize>,
    /// Whether it is a forked copy of its parent, with the same program and code.
    pub(crate) is_copy: bool,
    /// The row of the same process before it executed this program.
    pub(crate) before: Option<usize>,
}

impl ProcessInfo {
    fn of((log, &run): (&Log<'_>, &usize)) -> Self {
        let header = *log.header();
        let mut info = ProcessInfo {
            run,
            key: ProcessKey {
                pid: header.pid,
                turn: header.turn,
            },
            header,
            program: String::new(),
            called: String::new(),
            modules: Vec::new(),
            context_keys: ContextKeys::default(),
            paths: HashMap::new(),
            parent: None,
            is_copy: false,
            before: None,
        };
        for row in 0..log.threads().len() {
            for (_, record) in log.records(row) {
                info.take(&record);
            }
        }
        info.modules.sort();
        info.modules.dedup();
        let first = log.threads().iter().find(|it| it.number == 1);
        let name = first.and_then(|it| it.names.first());
        if let (None, Some((_, name))) = (header.parent, name) {
            info.called = name.clone();
        }
        info
    }

    fn take(&mut self, record: &Record<'_>) {
        match *record {
            Record::Program(file) => self.program = text(file),
            // Names are only added, so the last message has them all.
            Record::Context(message) => self.context_keys = ContextKeys::read(message),
            Record::Module {
                start,
                end,
                offset,
                file,
            } => self.modules.push(ModuleMap {
                start,
                end,
                offset,
                file: text(file),
            }),
            Record::Path { id, addresses } => {
                let words = addresses.chunks_exact(8);
                let word = |it: &[u8]| u64::from_le_bytes(it.try_into().unwrap_or_default());
                self.paths.insert(id, words.map(word).collect());
            }
            _ => {}
        }
    }

    /// The process's identifier in profiles.
    pub(crate) fn id(&self) -> ProcessId {
        id(self.run, self.key)
    }

    /// The program's name without its folder, or the name it was invoked by if that is a link or a script.
    pub(crate) fn name(&self) -> &str {
        match file_name(&self.program) {
            "" => "an unknown program",
            name if name.starts_with(&self.called) => name,
            _ => &self.called,
        }
    }

    /// The code addresses in its log, as they are looked up.
    pub(crate) fn code(&self) -> BTreeSet<u64> {
        let all = self.paths.values().flat_map(|it| it.iter());
        all.map(|&it| it.saturating_sub(1)).collect()
    }
}

/// The identifier of a run's process in profiles.
pub(crate) fn id(run: usize, key: ProcessKey) -> ProcessId {
    ProcessId((run as u64) << 48 | key.id().0)
}

/// The file mapped at an address. `modules` are sorted by start.
pub(crate) fn module_of(modules: &[ModuleMap], address: u64) -> Option<&ModuleMap> {
    module_row(modules, address).map(|row| &modules[row])
}

/// The row of the file mapped at an address.
pub(crate) fn module_row(modules: &[ModuleMap], address: u64) -> Option<usize> {
    let after = modules.partition_point(|it| it.start <= address);
    let row = after.checked_sub(1)?;
    (address < modules[row].end).then_some(row)
}

/// The name of code that belongs to no file.
pub(crate) const MADE_CODE: &str = "[code without a file]";

/// The name of an address for which only the mapped file is known: `libc.so.6+0x1234`.
pub(crate) fn place(modules: &[ModuleMap], address: u64) -> String {
    match module_of(modules, address) {
        // Users need not tell apart what our own code does there.
        Some(module) if module.file == COPIES_MODULE => COPIES_MODULE.into(),
        Some(module) => {
            let offset = (address - module.start).wrapping_add(module.offset);
            format!("{}+{offset:#x}", file_name(&module.file))
        }
        // Just-in-time code. Its address differs in each run, and for each version of a method.
        None => MADE_CODE.into(),
    }
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The processes of these logs, in the same order. The logs belong to these runs.
pub(crate) fn processes(logs: &[Log<'_>], runs: &[usize]) -> Vec<ProcessInfo> {
    let mut all: Vec<ProcessInfo> = logs.iter().zip(runs).map(ProcessInfo::of).collect();
    let keys = all.iter().map(|it| (it.run, it.key));
    let rows: HashMap<(usize, ProcessKey), usize> = keys.zip(0..).collect();
    for (row, info) in all.iter_mut().enumerate() {
        let (run, key) = (info.run, info.key);
        let parent = info.header.parent.map(|it| ProcessKey {
            pid: it.pid,
            turn: it.turn,
        });
        let before = key
            .turn
            .checked_sub(1)
            .map(|turn| ProcessKey { turn, ..key });
        let other = |it: Option<ProcessKey>| {
            let found = rows.get(&(run, it?)).copied();
            found.filter(|&it| it != row)
        };
        info.parent = other(parent);
        info.is_copy = info.parent.is_some();
        info.before = other(before);
    }
    for row in 0..all.len() {
        inherit(&mut all, row);
    }
    all
}

/// A forked process has its parent's code, and may refer to call paths that its parent has written.
fn inherit(all: &mut [ProcessInfo], row: usize) {
    // Damaged logs may name each other as parents.
    let mut at = row;
    for _ in 0..all.len() {
        let Some(parent) = all[at].parent.filter(|_| all[at].is_copy) else {
            break;
        };
        at = parent;
        if all[row].program.is_empty() {
            all[row].program = all[at].program.clone();
        }
        if all[row].called.is_empty() {
            all[row].called = all[at].called.clone();
        }
        if all[row].modules.is_empty() {
            all[row].modules = all[at].modules.clone();
        }
    }
}

/// A call path of a process, or of the one that it was forked from.
pub(crate) fn path(all: &[ProcessInfo], row: usize, id: u32) -> Option<&[u64]> {
    let mut at = row;
    for _ in 0..all.len() {
        if let Some(path) = all[at].paths.get(&id) {
            return Some(path);
        }
        at = all[at].parent.filter(|_| all[at].is_copy)?;
    }
    None
}

/// The numbers of all call paths of a process and of those that it was forked from.
pub(crate) fn path_numbers(all: &[ProcessInfo], row: usize) -> BTreeSet<u32> {
    let mut numbers = BTreeSet::new();
    let mut at = Some(row);
    for _ in 0..all.len() {
        let Some(info) = at.map(|it| &all[it]) else {
            break;
        };
        numbers.extend(info.paths.keys());
        at = info.parent.filter(|_| info.is_copy);
    }
    numbers
}
