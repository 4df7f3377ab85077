//! The types of transactions with their costs and waits, and flows between stages, over all processes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::{CallTreeBuilder, CallTreeError, Frame, FrameId, ValueType};

use super::notes;
use super::record::ProcessRecord;
use crate::context::chain::Link;
use crate::context::export::ExportError;
use crate::context::joined::Joined;
use crate::context::names::Name;
use crate::context::types::{NamingRule, Type, TypeId, Types};
use crate::context_profile::{CallingContextTree, Spot};
use crate::crosstalk::{Pair, Pairs};
use crate::ids::ProcessId;
use crate::latency::{InstanceId, Latencies, Latency};
use crate::messages::{Matches, match_messages};
use crate::{Flow, FlowKind, Flows, Place};
use crate::{LockId, Synopsis};

/// The profile of all processes.
#[derive(Debug)]
pub struct Stitched {
    records: Vec<ProcessRecord>,
    joined: Joined,
    types: Types,
    /// The types of the contexts that have samples, instances or waits in some record.
    types_of: BTreeMap<(ProcessId, Synopsis), TypeId>,
    total_cpu_ns: u64,
    latencies: Latencies<TypeId>,
    /// For each type, the number of transactions that threads worked for.
    transactions: BTreeMap<TypeId, u64>,
    pairs: Pairs<TypeId, String, String>,
    /// The functions of call paths in [`Self::pairs`], by text.
    functions: HashMap<String, Functions>,
    flows: Flows<Place>,
    notes: Vec<String>,
}

/// The functions of a call path or a context, outermost first.
pub type Functions = Vec<String>;

/// Costs by program and thread.
type StageCosts<'a> = BTreeMap<(&'a str, &'a str), StageCost>;

#[derive(Clone, Copy, Debug, Default)]
struct StageCost {
    cpu_ns: u64,
    wall_ns: u64,
}

/// A share of the CPU time of all processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// The share of all CPU time, 0 to 1.
    pub of_all: f64,
}

impl StageCost {
    fn add(&mut self, other: StageCost) {
        self.cpu_ns += other.cpu_ns;
        self.wall_ns += other.wall_ns;
    }
}

/// A type of transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeProfile {
    /// Its number.
    pub id: TypeId,
    /// Its name.
    pub name: String,
    /// The common prefix of all its contexts, one string for each element.
    pub context: Vec<String>,
    /// The functions, handlers and stages in that prefix.
    pub functions: Functions,
    /// Its cost.
    pub cpu: Share,
    /// Its cost by stage, the most expensive first.
    pub stages: Vec<StageShare>,
    /// The latency of its instances. `None` if none began in a recorded process.
    pub latency: Option<Latency>,
    /// How long it waited for others in total, in nanoseconds.
    pub wait_ns: u64,
}

/// The cost of a type in threads of one name, in processes of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct StageShare {
    /// The program.
    pub process: String,
    /// The name of the threads.
    pub thread: String,
    /// The cost there.
    pub cpu: Share,
    /// How long threads worked for it there, or waited for others on its behalf, in total, in nanoseconds.
    pub wall_ns: u64,
}

/// Why records cannot be stitched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StitchError {
    /// A dictionary is damaged.
    Export(ExportError),
    /// A sample uses a name that its process does not have.
    Name {
        /// The process.
        process: ProcessId,
        /// The number of the name.
        name: u32,
    },
}

impl Stitched {
    /// Stitches the records of processes. `rules` name types.
    ///
    /// # Errors
    /// [`StitchError`], if a record is damaged. [`Stitched::notes`] report what is merely missing.
    pub fn of(
        mut records: Vec<ProcessRecord>,
        rules: Vec<NamingRule>,
    ) -> Result<Self, StitchError> {
        let mut joined = joined(&records)?;
        let mut types = Types::new(rules);
        let mut types_of = BTreeMap::new();
        let mut total_cpu_ns = 0;
        let mut latencies = Latencies::default();
        let mut parts = Vec::new();
        let mut pairs = Pairs::default();
        let mut functions = HashMap::new();
        for record in &mut records {
            let process = record.dictionary.process;
            let paths = path_texts(record, &mut joined, &mut functions);
            let mut type_of = |synopsis: Synopsis| {
                let context = joined.resolve_or_missing(Link { process, synopsis });
                let id = types.of(context, &joined);
                types_of.insert((process, synopsis), id);
                id
            };
            for (context, _, tree) in record.profile.trees() {
                type_of(context);
                total_cpu_ns += tree.total().cpu_ns;
            }
            for (context, _) in record.walls.keys() {
                type_of(*context);
            }
            for instance in &record.instances {
                let of = type_of(instance.context);
                latencies.add(of, instance);
                parts.push((of, instance.id));
            }
            // There are as many of these as transactions, and nothing else needs them.
            let of_record = std::mem::take(&mut record.parts).into_iter();
            parts.extend(of_record.map(|(context, instance)| (type_of(context), instance)));
            pairs.add_all(
                &record.waits,
                |&context| type_of(context),
                |&lock| record.lock_name(lock),
                |synopsis| paths[synopsis].clone(),
            );
        }
        let matches = matches(&records);
        let flows = flows(&records, &matches.flows, &mut joined);
        let notes = notes::notes(&records, &matches, &joined);
        Ok(Stitched {
            records,
            joined,
            types,
            types_of,
            total_cpu_ns,
            latencies,
            transactions: counted(parts),
            pairs,
            functions,
            flows,
            notes,
        })
    }

    /// CPU time of all samples, in nanoseconds.
    pub fn total_cpu_ns(&self) -> u64 {
        self.total_cpu_ns
    }

    /// All types, the most expensive first.
    pub fn types(&self) -> Vec<TypeProfile> {
        let waits = self.pairs.waits();
        let mut costs: BTreeMap<TypeId, StageCosts> = BTreeMap::new();
        for (id, stage, cost) in self.costs() {
            costs
                .entry(id)
                .or_default()
                .entry(stage)
                .or_default()
                .add(cost);
        }
        let profile = |(id, it): (TypeId, &Type)| {
            let costs = costs.remove(&id).unwrap_or_default();
            TypeProfile {
                id,
                name: it.name.clone(),
                context: self.joined.texts(it.context),
                functions: self.joined.functions(it.context),
                cpu: self.share(costs.values().map(|it| it.cpu_ns).sum()),
                stages: self.shares(costs),
                latency: self.latencies.of(&id),
                wait_ns: waits.get(&id).copied().unwrap_or(0),
            }
        };
        let mut all: Vec<TypeProfile> = self.types.all().map(profile).collect();
        all.sort_by(|a, b| (b.cpu.cpu_ns, &a.name).cmp(&(a.cpu.cpu_ns, &b.name)));
        all
    }

    /// The cost of all types by program and thread, the most expensive first.
    pub fn stages(&self) -> Vec<StageShare> {
        let mut costs = StageCosts::new();
        for (_, stage, cost) in self.costs() {
            costs.entry(stage).or_default().add(cost);
        }
        self.shares(costs)
    }

    /// The cost of each type by program and thread, possibly with repetitions.
    fn costs(&self) -> impl Iterator<Item = (TypeId, (&str, &str), StageCost)> {
        let cpu = self.trees().map(|(record, id, thread, tree)| {
            let cost = StageCost {
                cpu_ns: tree.total().cpu_ns,
                wall_ns: 0,
            };
            (id, self.stage(record, thread), cost)
        });
        let wall = self.records.iter().flat_map(move |record| {
            let process = record.dictionary.process;
            record
                .walls
                .iter()
                .map(move |(&(context, thread), &wall_ns)| {
                    let id = self.types_of[&(process, context)];
                    let cost = StageCost { cpu_ns: 0, wall_ns };
                    (id, self.stage(record, thread), cost)
                })
        });
        cpu.chain(wall)
    }

    fn shares(&self, costs: StageCosts) -> Vec<StageShare> {
        let share = |((process, thread), cost): ((&str, &str), StageCost)| StageShare {
            process: process.into(),
            thread: thread.into(),
            cpu: self.share(cost.cpu_ns),
            wall_ns: cost.wall_ns,
        };
        let mut shares: Vec<StageShare> = costs.into_iter().map(share).collect();
        shares.sort_by_key(|it| Reverse((it.cpu.cpu_ns, it.wall_ns)));
        shares
    }

    fn share(&self, cpu_ns: u64) -> Share {
        Share {
            cpu_ns,
            of_all: cpu_ns as f64 / self.total_cpu_ns.max(1) as f64,
        }
    }

    fn stage<'a>(&'a self, record: &'a ProcessRecord, thread: Name) -> (&'a str, &'a str) {
        (&record.dictionary.program, self.text(record, thread))
    }

    /// The call tree of a type: processes, threads, and functions with their CPU time and samples. It can be searched like
    /// any profile. Empty without samples.
    ///
    /// # Errors
    /// [`CallTreeError`], if the tree exceeds the size limit.
    pub fn tree(&self, of: TypeId) -> Result<CallTree, CallTreeError> {
        let mut builder = tree_builder()?;
        let functions = |record: &ProcessRecord, spot: Spot| self.function(record, spot);
        self.add_type(of, &mut builder, &[], functions)?;
        builder.finish()
    }

    /// The same, with a frame for each line in place of each function, where lines are known.
    ///
    /// # Errors
    /// As [`Self::tree`].
    pub fn lines_tree(&self, of: TypeId) -> Result<CallTree, CallTreeError> {
        let mut builder = tree_builder()?;
        let lines = |record: &ProcessRecord, spot: Spot| self.line(record, spot);
        self.add_type(of, &mut builder, &[], lines)?;
        builder.finish()
    }

    /// The call tree of all types, each below a frame of its name.
    ///
    /// # Errors
    /// As [`Self::tree`].
    pub fn whole_tree(&self) -> Result<CallTree, CallTreeError> {
        let mut builder = tree_builder()?;
        for (id, it) in self.types.all() {
            let root = builder.intern(Frame::container(&it.name))?;
            let functions = |record: &ProcessRecord, spot: Spot| self.function(record, spot);
            self.add_type(id, &mut builder, &[root], functions)?;
        }
        builder.finish()
    }

    fn add_type(
        &self,
        of: TypeId,
        builder: &mut CallTreeBuilder,
        under: &[FrameId],
        frame: impl Fn(&ProcessRecord, Spot) -> Frame,
    ) -> Result<(), CallTreeError> {
        for (record, id, thread, tree) in self.trees() {
            if id != of {
                continue;
            }
            let mut under = under.to_vec();
            for container in self.containers(record, thread) {
                under.push(builder.intern(container)?);
            }
            tree.add_to(builder, &under, |builder, spot| {
                builder.intern(frame(record, spot))
            })?;
        }
        Ok(())
    }

    /// The process and the thread of a sample.
    pub(super) fn containers(&self, record: &ProcessRecord, thread: Name) -> [Frame; 2] {
        let program = record.dictionary.program.as_str();
        [program, self.text(record, thread)].map(Frame::container)
    }

    /// A function, with its file if known.
    pub(super) fn function(&self, record: &ProcessRecord, spot: Spot) -> Frame {
        Frame {
            file: spot
                .line
                .map(|(file, _)| self.text(record, file).to_owned()),
            ..Frame::function(self.text(record, spot.function))
        }
    }

    /// A line of a function, if known.
    pub(super) fn line(&self, record: &ProcessRecord, spot: Spot) -> Frame {
        Frame {
            line: spot.line.map(|(_, line)| line),
            ..self.function(record, spot)
        }
    }

    /// The number of transactions that threads worked for under a type's name.
    pub fn transactions_of(&self, of: TypeId) -> u64 {
        self.transactions.get(&of).copied().unwrap_or(0)
    }

    /// Who waited for whom, at which lock and through which call paths, the longest waits first.
    pub fn crosstalk(&self) -> Vec<Pair<TypeId, String, String>> {
        self.pairs.ranked()
    }

    /// The functions of a call path from [`Self::crosstalk`], outermost first.
    pub fn functions_of(&self, path: &str) -> &[String] {
        self.functions.get(path).map_or(&[], Vec::as_slice)
    }

    /// The functions, handlers and stages that a process's context goes through, in all processes. Empty if it has no
    /// samples, instances or waits there.
    pub fn functions_in(&self, process: ProcessId, context: Synopsis) -> Functions {
        let synopsis = context;
        let resolved = self.joined.resolved(Link { process, synopsis });
        resolved.map_or_else(Vec::new, |it| self.joined.functions(it))
    }

    /// The type of a process's context, or `None` if it has no samples, instances or waits there.
    pub fn type_of(&self, process: ProcessId, context: Synopsis) -> Option<TypeId> {
        self.types_of.get(&(process, context)).copied()
    }

    /// A type's name.
    pub fn type_name(&self, id: TypeId) -> &str {
        self.types.name(id)
    }

    /// The name of a process's lock in [`Self::crosstalk`].
    pub fn lock_name(&self, process: ProcessId, lock: LockId) -> String {
        let mut records = self.records.iter();
        let record = records.find(|it| it.dictionary.process == process);
        record.map_or_else(String::new, |it| it.lock_name(lock))
    }

    /// What flowed from where to where, the most frequent first.
    pub fn flows(&self) -> Vec<Flow<String>> {
        let mut flows = Flows::with_limit(usize::MAX);
        flows.add_all(&self.flows, |it| it.name.clone());
        flows.ranked()
    }

    /// The same with programs, since several may have places of the same name.
    pub fn placed_flows(&self) -> Vec<Flow<Place>> {
        self.flows.ranked()
    }

    /// What a reader should know, as whole sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Each calling context tree, with its record, type and thread name.
    pub(super) fn trees(
        &self,
    ) -> impl Iterator<Item = (&ProcessRecord, TypeId, Name, &CallingContextTree)> {
        self.records.iter().flat_map(move |record| {
            let process = record.dictionary.process;
            let trees = record.profile.trees();
            trees.map(move |(context, thread, tree)| {
                (record, self.types_of[&(process, context)], thread, tree)
            })
        })
    }

    pub(super) fn text<'a>(&'a self, record: &'a ProcessRecord, name: Name) -> &'a str {
        &record.dictionary.names[name.number() as usize]
    }
}

/// The number of transactions of each type. Ignores repeated pairs.
fn counted(mut parts: Vec<(TypeId, InstanceId)>) -> BTreeMap<TypeId, u64> {
    parts.sort_unstable();
    parts.dedup();
    let mut counts = BTreeMap::new();
    for (of, _) in parts {
        *counts.entry(of).or_default() += 1;
    }
    counts
}

/// The joined contexts of all processes, whose records are checked.
fn joined(records: &[ProcessRecord]) -> Result<Joined, StitchError> {
    let joined = Joined::of(records.iter().map(|it| &it.dictionary));
    let joined = joined.map_err(StitchError::Export)?;
    records.iter().try_for_each(check_names)?;
    Ok(joined)
}

/// The call paths of a process's waits as texts. Adds their functions by these texts.
fn path_texts(
    record: &ProcessRecord,
    joined: &mut Joined,
    functions: &mut HashMap<String, Functions>,
) -> HashMap<Synopsis, String> {
    let process = record.dictionary.process;
    let text = |&synopsis: &Synopsis| {
        let context = joined.resolve_or_missing(Link { process, synopsis });
        let text = joined.texts(context).join(" → ");
        functions.insert(text.clone(), joined.functions(context));
        (synopsis, text)
    };
    record.waits.paths().map(text).collect()
}

/// The messages of all processes, matched.
fn matches(records: &[ProcessRecord]) -> Matches {
    let messages = records.iter();
    let messages: Vec<_> = messages
        .map(|it| (it.dictionary.process, &it.messages))
        .collect();
    match_messages(&messages)
}

/// A tree of CPU time and sample counts.
fn tree_builder() -> Result<CallTreeBuilder, CallTreeError> {
    CallTreeBuilder::new(vec![
        ValueType::new("cpu", "ns"),
        ValueType::new("samples", ""),
    ])
}

fn check_names(record: &ProcessRecord) -> Result<(), StitchError> {
    let known = record.dictionary.names.len();
    let trees = record.profile.trees();
    let of_trees = trees.flat_map(|(_, thread, tree)| tree.names().chain([thread]));
    let mut names = of_trees.chain(record.walls.keys().map(|(_, thread)| *thread));
    match names.find(|it| it.number() as usize >= known) {
        None => Ok(()),
        Some(name) => Err(StitchError::Name {
            process: record.dictionary.process,
            name: name.number(),
        }),
    }
}

fn flows(
    records: &[ProcessRecord],
    messages: &BTreeMap<(Link, Link), u64>,
    joined: &mut Joined,
) -> Flows<Place> {
    let programs: BTreeMap<ProcessId, &str> = records
        .iter()
        .map(|it| (it.dictionary.process, it.dictionary.program.as_str()))
        .collect();
    let mut place = |link: Link| {
        let context = joined.resolve_or_missing(link);
        let own = programs.get(&link.process).copied();
        Place {
            // A context without steps belongs to its process.
            program: joined.program(context).or(own).unwrap_or_default().into(),
            name: joined.short_text(context),
        }
    };
    let mut flows = Flows::with_limit(usize::MAX);
    for record in records {
        let process = record.dictionary.process;
        flows.add_all(&record.flows, |&synopsis| place(Link { process, synopsis }));
    }
    for (&(from, to), &count) in messages {
        flows.add(FlowKind::Message, place(from), place(to), count);
    }
    flows
}

impl fmt::Display for StitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StitchError::Export(error) => error.fmt(f),
            StitchError::Name { process, name } => write!(
                f,
                "a sample of process {process} has the name {name}, which is not in its list of names"
            ),
        }
    }
}

impl std::error::Error for StitchError {}
