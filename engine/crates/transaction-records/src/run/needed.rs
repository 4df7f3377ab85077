//! Which addresses of a run need names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fulcrum_model::Progress;
use fulcrum_wire::transactions::{NAMED_FUNCTIONS, Record};

use super::folder::Folder;
use crate::assemble::{Owners, modules};
use crate::error::RunError;
use crate::index::Index;
use crate::log::Log;
use crate::names::ProcessKey;
use crate::process::{ModuleMap, module_of, text};
use crate::spots::looked_up;

/// The addresses of processes that have the same files at the same addresses, such as forked ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolsNeeded {
    /// The processes.
    pub processes: Vec<ProcessKey>,
    /// The file that the first process executes. Empty if unknown.
    pub program: String,
    /// The mapped files, sorted by start.
    pub modules: Vec<ModuleMap>,
    /// Code addresses, ascending, as they are looked up: for a return address, one less.
    pub code: Vec<u64>,
    /// Addresses of locks and conditions, ascending.
    pub data: Vec<u64>,
}

impl SymbolsNeeded {
    /// The file mapped at an address.
    pub fn module_of(&self, address: u64) -> Option<&ModuleMap> {
        module_of(&self.modules, address)
    }
}

#[derive(Default)]
struct Addresses {
    processes: Vec<ProcessKey>,
    program: String,
    code: BTreeSet<u64>,
    data: BTreeSet<u64>,
}

/// All addresses of a run that its profile shows: those of call paths, handlers, locks and samples.
///
/// # Errors
/// [`RunError`], if the run cannot be read.
pub fn symbols_needed(folder: &Path) -> Result<Vec<SymbolsNeeded>, RunError> {
    let folder = Folder::read(folder)?;
    let logs = folder.logs();
    let windows = vec![folder.windows().clone()];
    let index = Index::of(&logs, &vec![0; logs.len()], windows, &Progress::default())?;
    let mut groups: BTreeMap<Vec<ModuleMap>, Addresses> = BTreeMap::new();
    for (info, log) in index.processes.iter().zip(&logs) {
        let group = groups.entry(info.modules.clone()).or_default();
        group.processes.push(info.key);
        if group.program.is_empty() {
            group.program.clone_from(&info.program);
        }
        group.code.extend(info.code());
        of_log(log, group);
    }
    if let Some(mut samples) = folder.samples()? {
        let known = samples.clone();
        let owners = Owners::of(&index);
        let mut unlogged: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        let mut logged: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); index.processes.len()];
        samples.each(|it| match owners.find(0, it.pid, it.time_ns) {
            Some(row) => logged[row].extend(looked_up(it.stack)),
            None => unlogged
                .entry(it.pid)
                .or_default()
                .extend(looked_up(it.stack)),
        });
        for (info, code) in index.processes.iter().zip(logged) {
            groups
                .entry(info.modules.clone())
                .or_default()
                .code
                .extend(code);
        }
        for (pid, code) in unlogged {
            let group = groups.entry(modules(&known, pid)).or_default();
            group.processes.push(ProcessKey { pid, turn: 0 });
            if group.program.is_empty() {
                group.program = known.program(pid).map(text).unwrap_or_default();
            }
            group.code.extend(code);
        }
    }
    let needed = |(modules, it): (Vec<ModuleMap>, Addresses)| SymbolsNeeded {
        processes: it.processes,
        program: it.program,
        modules,
        code: it.code.into_iter().collect(),
        data: it.data.into_iter().collect(),
    };
    Ok(groups.into_iter().map(needed).collect())
}

fn of_log(log: &Log<'_>, group: &mut Addresses) {
    for row in 0..log.threads().len() {
        for (_, record) in log.records(row) {
            match record {
                Record::Wait { lock, .. } => {
                    group.data.insert(lock);
                }
                Record::Handler { function, .. } if (1..NAMED_FUNCTIONS).contains(&function) => {
                    group.code.insert(function);
                }
                _ => {}
            }
        }
    }
}
