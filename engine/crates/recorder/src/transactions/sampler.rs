//! Turns what perf recorded into samples with call chains, which it finds on the copies of the stacks.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use fulcrum_transaction_records::samples::{Module, Sample, SampleWriter};
use fulcrum_unwind::{Registers, walk};
use fulcrum_wire::transactions::MAX_PATH;

use super::code::Code;
use super::perf::{Event, Perf, Sampled, Scope};
use super::rate::Rate;
use crate::program::clock::monotonic_ns;
use crate::program::proc::Memory;
use crate::program::unwind;

/// Reads the events of a run and writes its samples.
pub(crate) struct Sampler {
    perf: Perf,
    /// Recording pauses.
    is_paused: bool,
    writing: Writing,
}

/// The period of the machine's samples in pauses, nanoseconds. The events stay open, since they also tell of processes.
const PAUSED_PERIOD_NS: u64 = 1_000_000_000;

/// Writes the samples of a run.
struct Writing {
    out: SampleWriter<BufWriter<File>>,
    rate: Rate,
    tables: unwind::Cache,
    /// The code of processes without a log, and of all processes before their logs exist.
    strangers: HashMap<u32, Code>,
    /// The processes of the tree, if the whole machine is sampled.
    tree: Option<Tree>,
    /// Names of threads.
    names: HashMap<u32, Vec<u8>>,
    taken: u64,
    lost: u64,
    failed: Option<io::Error>,
}

/// The processes that a thread has started, directly or not.
struct Tree {
    /// The thread.
    root: u32,
    processes: HashSet<u32>,
}

impl Tree {
    fn of_this_thread() -> Tree {
        // SAFETY: takes nothing and cannot fail.
        let thread = unsafe { libc::gettid() };
        Tree {
            root: thread as u32,
            processes: HashSet::new(),
        }
    }

    fn made(&mut self, pid: u32, by: u32, by_thread: u32) {
        if by_thread == self.root || self.processes.contains(&by) {
            self.processes.insert(pid);
        }
    }
}

impl Sampler {
    /// Samples what the calling thread starts from now on, and writes the samples to a file.
    ///
    /// # Errors
    /// When perf events are not allowed, or the file cannot be written.
    pub(crate) fn start(path: &Path, period_ns: u64, tables: unwind::Cache) -> io::Result<Sampler> {
        let perf = Perf::open(period_ns)?;
        let mut out = SampleWriter::new(BufWriter::new(File::create(path)?))?;
        out.flush()?;
        let tree = (perf.scope == Scope::Machine).then(Tree::of_this_thread);
        Ok(Sampler {
            perf,
            is_paused: false,
            writing: Writing {
                out,
                rate: Rate::new(period_ns),
                tables,
                strangers: HashMap::new(),
                tree,
                names: HashMap::new(),
                taken: 0,
                lost: 0,
                failed: None,
            },
        })
    }

    /// What becomes readable when there is much to read.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = i32> {
        self.perf.descriptors()
    }

    /// Whether time in the kernel is sampled too.
    pub(crate) fn with_kernel(&self) -> bool {
        self.perf.with_kernel
    }

    /// The number of samples so far.
    pub(crate) fn taken(&self) -> u64 {
        self.writing.taken
    }

    /// Hardly takes samples while recording pauses.
    pub(crate) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        if self.perf.scope == Scope::Machine {
            let period_ns = match is_paused {
                true => PAUSED_PERIOD_NS,
                false => self.writing.rate.period_ns(),
            };
            if let Err(error) = self.perf.set_period(period_ns) {
                self.writing.failed.get_or_insert(error);
            }
        }
    }

    /// Writes what was recorded since the last call, but for samples of the moments that `leaves_out` tells. `known` has the code of
    /// processes with a log.
    pub(crate) fn drain(&mut self, known: &HashMap<u32, Code>, leaves_out: impl Fn(u64) -> bool) {
        let writing = &mut self.writing;
        self.perf.read(|event| {
            if matches!(event, Event::Sample(it) if leaves_out(it.time_ns)) {
                return;
            }
            if let Err(error) = writing.take(&event, known) {
                writing.failed.get_or_insert(error);
            }
        });
        // Nothing that was read is lost when the recorder is killed.
        if let Err(error) = writing.out.flush() {
            writing.failed.get_or_insert(error);
        }
        if self.perf.scope == Scope::Machine
            && !self.is_paused
            && let Some(period_ns) = writing.rate.next_ns(writing.taken)
        {
            match self.perf.set_period(period_ns) {
                Ok(()) => writing
                    .rate
                    .change(period_ns, monotonic_ns(), writing.taken),
                Err(error) => drop(writing.failed.get_or_insert(error)),
            }
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The first error: samples after it are missing.
    pub(crate) fn finish(
        mut self,
        known: &HashMap<u32, Code>,
        leaves_out: impl Fn(u64) -> bool,
    ) -> io::Result<()> {
        self.drain(known, leaves_out);
        let mut writing = self.writing;
        if writing.lost > 0 {
            writing.out.lost(writing.lost)?;
        }
        match writing.failed {
            Some(error) => Err(error),
            None => writing.out.finish().map(drop),
        }
    }
}

impl Writing {
    fn take(&mut self, event: &Event<'_>, known: &HashMap<u32, Code>) -> io::Result<()> {
        match event {
            Event::Lost(count) => self.lost += count,
            Event::Made { pid, by, by_thread } => {
                if let Some(tree) = &mut self.tree {
                    tree.made(*pid, *by, *by_thread);
                }
            }
            Event::Name {
                pid,
                tid,
                name,
                executed,
            } => {
                if !self.is_of_tree(*pid) {
                    return Ok(());
                }
                if *executed {
                    self.strangers.remove(pid);
                }
                self.names.insert(*tid, name.to_vec());
            }
            Event::Sample(sampled) if self.is_of_tree(sampled.pid) => self.write(sampled, known)?,
            Event::Sample(_) => {}
        }
        Ok(())
    }

    fn is_of_tree(&self, pid: u32) -> bool {
        let tree = self.tree.as_ref();
        tree.is_none_or(|tree| tree.processes.contains(&pid))
    }

    fn write(&mut self, sampled: &Sampled<'_>, known: &HashMap<u32, Code>) -> io::Result<()> {
        if !known.contains_key(&sampled.pid) && !self.strangers.contains_key(&sampled.pid) {
            self.add_stranger(sampled.pid)?;
        }
        let code = known.get(&sampled.pid).or(self.strangers.get(&sampled.pid));
        let mut chain = [0; MAX_PATH];
        let depth = code.map_or(0, |code| call_chain(sampled, code, &mut chain));
        self.taken += 1;
        self.out.sample(&Sample {
            pid: sampled.pid,
            tid: sampled.tid,
            time_ns: sampled.time_ns,
            weight_ns: self.rate.weight_ns(sampled.time_ns),
            thread: self.names.get(&sampled.tid).map_or(&[], Vec::as_slice),
            stack: &chain[..depth],
        })
    }

    /// Makes the table of a process without a log, and writes its modules. The table is empty when the process is gone: its
    /// samples then have no callers.
    fn add_stranger(&mut self, pid: u32) -> io::Result<()> {
        let memory = Memory::of(pid);
        let table = memory
            .as_ref()
            .map_or_else(|_| Vec::new(), |it| self.tables.table(it));
        let code = Code {
            table: Arc::new(table),
            copies: Vec::new(),
        };
        self.strangers.insert(pid, code);
        if let Ok(memory) = memory {
            self.out
                .process(pid, memory.main().as_os_str().as_bytes())?;
            for module in memory.mapped_code() {
                self.out.module(
                    pid,
                    &Module {
                        start: module.start,
                        end: module.end,
                        offset: module.offset,
                        file: module.file.as_bytes(),
                    },
                )?;
            }
        }
        Ok(())
    }
}

/// Writes the addresses in user mode to `chain`, innermost first, and returns how many there are.
fn call_chain(sampled: &Sampled<'_>, code: &Code, chain: &mut [u64]) -> usize {
    let Some(user) = sampled.user else {
        return 0;
    };
    let at = Registers {
        rip: code.original(user.rip),
        rsp: user.rsp,
        rbp: user.rbp,
    };
    let read = |address: u64| {
        let at = usize::try_from(address.checked_sub(user.rsp)?).ok()?;
        let bytes = user.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    walk(&code.table, at, read, chain)
}

#[cfg(test)]
mod tests {
    use super::super::perf::User;
    use super::*;
    use fulcrum_wire::{Unwind, base};

    #[test]
    fn only_the_tree_counts_on_a_sampled_machine() {
        let mut tree = Tree::of_this_thread();
        let root = tree.root;
        for (pid, by, by_thread) in [
            (10, 1, root),
            (11, 10, 10),
            (12, 11, 77),
            (20, 1, 1),
            (21, 20, 20),
        ] {
            tree.made(pid, by, by_thread);
        }
        let mut found: Vec<u32> = tree.processes.into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [10, 11, 12]);
    }

    #[test]
    fn callers_are_found_on_the_copy_of_the_stack_and_end_with_it() {
        let row = |start, base, cfa_offset| Unwind {
            start,
            cfa_offset,
            rbp_offset: 0,
            base,
            unused: 0,
        };
        let table = vec![
            row(100, base::RSP, 8),
            row(200, base::RSP, 16),
            row(300, base::RSP, 8),
            row(400, base::END, 0),
        ];
        let code = Code {
            table: Arc::new(table),
            copies: Vec::new(),
        };
        let stack: Vec<u8> = [210_u64, 7, 310]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let mut chain = [0; 8];
        let mut sampled = Sampled {
            pid: 1,
            tid: 1,
            time_ns: 0,
            ip: 150,
            user: Some(User {
                rip: 150,
                rsp: 0x7000,
                rbp: 0,
                stack: &stack,
            }),
        };
        let depth = call_chain(&sampled, &code, &mut chain);
        assert_eq!(chain[..depth], [150, 210, 310]);
        sampled.user = None;
        assert_eq!(call_chain(&sampled, &code, &mut chain), 0);
    }
}
