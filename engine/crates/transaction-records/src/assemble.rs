//! Assembles records for stitching from the replayed world and the samples.

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::{Cancelled, Progress};
use fulcrum_transactions::latency::{Instance, InstanceId};
use fulcrum_transactions::stitch::{Ending, ProcessRecord};
use fulcrum_transactions::{self as transactions, ContextProfile, LockId, Name, Synopsis};

use crate::index::Index;
use crate::log::State;
use crate::names::{ProcessKey, Resolvers};
use crate::process::{ModuleMap, file_name, text};
use crate::replay::{Process, World};
use crate::samples::{Sample, Samples};
use crate::spots::{Code, Spots};

/// The samples of all processes.
pub(crate) struct Sampled<'a> {
    index: &'a Index,
    resolver: &'a Resolvers<'a>,
    owners: Owners,
    /// By process row.
    profiles: Vec<ContextProfile>,
    /// By process row.
    spots: Vec<Spots>,
    /// By run and process number.
    unlogged: BTreeMap<(usize, u32), Unlogged>,
}

/// A process with samples but without a log.
struct Unlogged {
    process: Process,
    profile: ContextProfile,
    spots: Spots,
    program: String,
    modules: Vec<ModuleMap>,
}

/// Finds the process of a sample. One process number may have several turns. By run and process number: the start and row
/// of each turn.
#[derive(Debug, Default)]
pub(crate) struct Owners(HashMap<(usize, u32), Vec<(u64, usize)>>);

impl Owners {
    pub(crate) fn of(index: &Index) -> Self {
        let mut owners: HashMap<(usize, u32), Vec<(u64, usize)>> = HashMap::new();
        for (row, it) in index.processes.iter().enumerate() {
            let began = (it.header.start_ns, row);
            let of = owners.entry((it.run, it.key.pid));
            of.or_default().push(began);
        }
        for turns in owners.values_mut() {
            turns.sort_unstable();
        }
        Owners(owners)
    }

    /// The row of the process, or `None` if it has no log.
    pub(crate) fn find(&self, run: usize, pid: u32, time_ns: u64) -> Option<usize> {
        let turns = self.0.get(&(run, pid))?;
        let after = turns.partition_point(|(began, _)| *began <= time_ns);
        // Samples from before the log begins belong to the program's loading.
        turns.get(after.saturating_sub(1)).map(|&(_, row)| row)
    }
}

/// The code mapped in a process without a log.
pub(crate) fn modules(samples: &Samples<'_>, pid: u32) -> Vec<ModuleMap> {
    let modules = samples.modules(pid).iter();
    let mut modules: Vec<ModuleMap> = modules
        .map(|it| ModuleMap {
            start: it.start,
            end: it.end,
            offset: it.offset,
            file: text(it.file),
        })
        .collect();
    modules.sort();
    modules.dedup();
    modules
}

impl<'a> Sampled<'a> {
    /// No samples.
    pub(crate) fn none(world: &World<'a>) -> Self {
        let (index, resolver) = (world.index(), world.resolver());
        Sampled {
            index,
            resolver,
            owners: Owners::of(index),
            profiles: vec![ContextProfile::default(); index.processes.len()],
            spots: index.processes.iter().map(|_| Spots::default()).collect(),
            unlogged: BTreeMap::new(),
        }
    }

    /// Assigns the samples of a run to the transactions that their threads worked for.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(crate) fn add_all(
        &mut self,
        run: usize,
        samples: &mut Samples<'_>,
        world: &mut World<'_>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let known = samples.clone();
        samples.each(|sample| {
            // The rest is skipped quickly.
            if progress.is_cancelled() {
                return;
            }
            let owner = self.owners.find(run, sample.pid, sample.time_ns);
            match owner {
                Some(row) => self.add(row, sample, world),
                None => self.add_unlogged(run, sample, &known),
            }
        });
        progress.check()
    }

    fn add(&mut self, row: usize, sample: &Sample<'_>, world: &mut World<'_>) {
        let process = &mut world.processes[row];
        let thread = process.thread(sample.tid, sample.time_ns);
        let thread = thread.map(|it| &world.threads[it]);
        let moment = thread.and_then(|it| it.at(sample.time_ns));
        let logged = thread.map_or("", |it| it.name_at(sample.time_ns));
        let name = match (sample.thread.is_empty(), logged) {
            (false, _) => text(sample.thread),
            (true, "") => self.index.processes[row].name().to_owned(),
            (true, name) => name.to_owned(),
        };
        let info = &self.index.processes[row];
        let code = Code {
            run: info.run,
            key: info.key,
            modules: &info.modules,
            resolver: self.resolver,
        };
        self.profiles[row].add(&transactions::Sample {
            context: moment.map_or(Synopsis::EMPTY, |it| it.context),
            thread: process.dictionary.names.intern(&name),
            instance: moment.and_then(|it| it.instance).map(instance_id),
            stack: &self.spots[row].stack(&code, process, sample.stack),
            cpu_ns: sample.weight_ns,
        });
    }

    fn add_unlogged(&mut self, run: usize, sample: &Sample<'_>, samples: &Samples<'_>) {
        let key = ProcessKey {
            pid: sample.pid,
            turn: 0,
        };
        let it = self.unlogged.entry((run, sample.pid));
        let it = it.or_insert_with(|| {
            let program = samples.program(sample.pid).map(text).unwrap_or_default();
            Unlogged {
                process: Process::new(0, run, key),
                profile: ContextProfile::default(),
                spots: Spots::default(),
                program: match file_name(&program) {
                    "" => "an unknown program".into(),
                    name => name.into(),
                },
                modules: modules(samples, sample.pid),
            }
        });
        let name = match sample.thread.is_empty() {
            true => it.program.clone(),
            false => text(sample.thread),
        };
        let code = Code {
            run,
            key,
            modules: &it.modules,
            resolver: self.resolver,
        };
        it.profile.add(&transactions::Sample {
            context: Synopsis::EMPTY,
            thread: it.process.dictionary.names.intern(&name),
            instance: None,
            stack: &it.spots.stack(&code, &mut it.process, sample.stack),
            cpu_ns: sample.weight_ns,
        });
    }

    /// The records of all processes. Those without a log come last.
    pub(crate) fn records(self, world: &mut World<'_>) -> Vec<ProcessRecord> {
        let mut instances: Vec<Vec<Instance>> = vec![Vec::new(); self.profiles.len()];
        for (row, instance) in (0..).zip(&world.instances) {
            instances[instance.process].push(world.ended(row));
        }
        let mut records = Vec::new();
        for ((row, profile), instances) in self.profiles.into_iter().enumerate().zip(instances) {
            let record = record(row, profile, self.index, world);
            records.push(ProcessRecord {
                instances,
                ..record
            });
        }
        for it in self.unlogged.into_values() {
            let dictionary = it.process.dictionary.export(it.program);
            records.push(ProcessRecord {
                profile: it.profile,
                ..ProcessRecord::new(dictionary)
            });
        }
        records
    }

    /// Programs without a log that used CPU time, each once.
    pub(crate) fn unlogged(&self) -> Vec<&str> {
        let mut programs: Vec<&str> = self.unlogged.values().map(|it| &*it.program).collect();
        programs.sort_unstable();
        programs.dedup();
        programs
    }
}

fn record(
    row: usize,
    profile: ContextProfile,
    index: &Index,
    world: &mut World<'_>,
) -> ProcessRecord {
    let waits = world.pairs(row);
    let resolver = world.resolver();
    let info = &index.processes[row];
    let locks = waits.ranked().into_iter().map(|it| it.lock);
    let process = &world.processes[row];
    let name = |lock: LockId| {
        let named = resolver.data(info.run, info.key, lock.0);
        // Short-lived locks, such as those on the heap, count as one lock if threads wait for them in the same place.
        named.or_else(|| process.lock_places.get(&lock).cloned())
    };
    let lock_names: BTreeMap<LockId, String> =
        locks.filter_map(|lock| Some((lock, name(lock)?))).collect();
    let walls = walls(row, world);
    let parts = parts(row, world);
    let process = &mut world.processes[row];
    ProcessRecord {
        walls,
        parts,
        cuts: process.dictionary.contexts().cuts(),
        profile,
        flows: std::mem::take(&mut process.flows),
        messages: std::mem::take(&mut process.messages),
        waits,
        lock_names,
        ending: match info.header.state {
            State::Ended | State::Executed => Ending::Complete,
            State::Open | State::Full => Ending::CutOff,
        },
        ..ProcessRecord::new(process.dictionary.export(info.name()))
    }
}

/// How long threads worked for each transaction.
fn walls(row: usize, world: &mut World<'_>) -> BTreeMap<(Synopsis, Name), u64> {
    let mut walls = BTreeMap::new();
    let process = &mut world.processes[row];
    let threads = &world.threads[process.rows.clone()];
    let names = &mut process.dictionary.names;
    for thread in threads {
        for (moment, to_ns) in thread.stays() {
            let name = names.intern(thread.name_at(moment.time_ns));
            *walls.entry((moment.context, name)).or_default() += to_ns - moment.time_ns;
        }
    }
    walls
}

/// The transactions that threads worked for, with the contexts.
fn parts(row: usize, world: &World<'_>) -> Vec<(Synopsis, InstanceId)> {
    let threads = &world.threads[world.processes[row].rows.clone()];
    let moments = threads.iter().flat_map(|it| &it.moments);
    let mut parts: Vec<(Synopsis, InstanceId)> = moments
        .filter(|it| !it.context.is_empty())
        .filter_map(|it| Some((it.context, instance_id(it.instance?))))
        .collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn instance_id(row: u32) -> InstanceId {
    InstanceId(row.into())
}

impl World<'_> {
    /// The instance in this row, ending with its last answer, or with the last activity for it if there is none.
    pub(crate) fn ended(&self, row: u32) -> Instance {
        let instance = &self.instances[row as usize];
        let task = &self.tasks[instance.task];
        let (end_ns, context) = match instance.answered {
            Some((time_ns, context)) => (time_ns, context),
            None => (task.active_ns, task.context),
        };
        Instance {
            id: instance_id(row),
            context,
            wall_ns: end_ns.saturating_sub(instance.began_ns),
            replied: instance.answered.is_some(),
        }
    }
}
