//! The ways of single transactions through threads and processes.

use std::collections::{BTreeMap, HashMap};

use fulcrum_transactions::latency::InstanceId;
use fulcrum_transactions::stitch::Stitched;
use fulcrum_transactions::{ProcessId, Synopsis, TraceParent, TypeId};

use super::functions::Functions;
use crate::replay::World;

/// The number of slowest transactions kept for each type.
const SLOWEST: usize = 20;
/// The number of others kept for each type, chosen at random.
const DRAWN: usize = 80;
/// The most stays kept of a transaction, which are the first.
const MOST_STAYS: usize = 2000;

/// The way of one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its ID.
    pub id: InstanceId,
    /// Its type.
    pub of: TypeId,
    /// The process where it began.
    pub process: ProcessId,
    /// When its request arrived, in nanoseconds on the first process's clock.
    pub began_ns: u64,
    /// The time until its last answer was sent, or until it was last worked on, in nanoseconds.
    pub wall_ns: u64,
    /// Whether it was answered.
    pub replied: bool,
    /// The trace that it belongs to, from the first request that names one.
    pub trace: Option<TraceParent>,
    /// The stays, by start.
    pub stays: Vec<Stay>,
    /// The number of later stays that are not kept.
    pub left_out: u64,
}

/// A period in which a thread works for a transaction, or waits for others on its behalf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The process.
    pub process: ProcessId,
    /// The process number.
    pub pid: u32,
    /// Its program.
    pub program: String,
    /// The kernel's thread number.
    pub tid: u32,
    /// The thread's name.
    pub thread: String,
    /// What it does: the handler, the stage, or the place where the transaction was handed on.
    pub stage: String,
    /// The innermost function on the transaction's way here whose source is known.
    pub source: Option<String>,
    /// The start, in nanoseconds on the first process's clock.
    pub from_ns: u64,
    /// The end.
    pub to_ns: u64,
}

/// The ways of the slowest transactions of each type, and of a random but reproducible sample of others.
pub(super) fn drawn(world: &World<'_>, stitched: &Stitched, functions: &Functions) -> Vec<Way> {
    let mut by_type: BTreeMap<TypeId, Vec<Candidate>> = BTreeMap::new();
    for (row, instance) in (0..).zip(&world.instances) {
        let ended = world.ended(row);
        let process = world.index().processes[instance.process].id();
        if let Some(of) = stitched.type_of(process, ended.context) {
            by_type.entry(of).or_default().push(Candidate {
                instance: row,
                wall_ns: ended.wall_ns,
            });
        }
    }
    let mut ways = Vec::new();
    let mut chosen = HashMap::new();
    for (of, candidates) in by_type {
        for candidate in choose(candidates) {
            let instance = &world.instances[candidate.instance as usize];
            chosen.insert(candidate.instance, ways.len());
            ways.push(Way {
                id: InstanceId(candidate.instance.into()),
                of,
                process: world.index().processes[instance.process].id(),
                began_ns: shared(world, instance.process, instance.began_ns),
                wall_ns: candidate.wall_ns,
                replied: instance.answered.is_some(),
                trace: instance.trace.map(|it| it.parent),
                stays: Vec::new(),
                left_out: 0,
            });
        }
    }
    add_stays(world, &chosen, &mut ways, |process, context| {
        let mut names = stitched.functions_in(process, context);
        let placed = names
            .iter()
            .rposition(|it| functions.places(it).next().is_some());
        placed.map(|at| names.swap_remove(at))
    });
    ways
}

#[derive(Clone, Copy)]
struct Candidate {
    instance: u32,
    wall_ns: u64,
}

fn choose(mut all: Vec<Candidate>) -> Vec<Candidate> {
    all.sort_by_key(|it| (std::cmp::Reverse(it.wall_ns), it.instance));
    let mut others = all.split_off(SLOWEST.min(all.len()));
    // Those with the smallest hashes are an unbiased sample.
    others.sort_by_key(|it| hash(u64::from(it.instance)));
    others.truncate(DRAWN);
    all.append(&mut others);
    all.sort_by_key(|it| it.instance);
    all
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn hash(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

fn add_stays(
    world: &World<'_>,
    chosen: &HashMap<u32, usize>,
    ways: &mut [Way],
    source: impl Fn(ProcessId, Synopsis) -> Option<String>,
) {
    let mut sources: HashMap<(ProcessId, Synopsis), Option<String>> = HashMap::new();
    for thread in &world.threads {
        let info = &world.index().processes[thread.process];
        for (moment, to_ns) in thread.stays() {
            let way = moment.instance.and_then(|it| chosen.get(&it));
            let Some(&way) = way else { continue };
            let known = sources.entry((info.id(), moment.context));
            let known = known.or_insert_with(|| source(info.id(), moment.context));
            ways[way].stays.push(Stay {
                process: info.id(),
                pid: info.key.pid,
                program: info.name().to_owned(),
                tid: thread.tid,
                thread: thread.name_at(moment.time_ns).to_owned(),
                source: known.clone(),
                stage: world.processes[thread.process].stage(moment.context),
                from_ns: shared(world, thread.process, moment.time_ns),
                to_ns: shared(world, thread.process, to_ns),
            });
        }
    }
    for way in ways {
        way.stays.sort_by_key(|it| (it.from_ns, it.pid, it.tid));
        way.left_out = way.stays.len().saturating_sub(MOST_STAYS) as u64;
        way.stays.truncate(MOST_STAYS);
    }
}

pub(super) fn shared(world: &World<'_>, process: usize, time_ns: u64) -> u64 {
    let time = world.index().shared_time(process, time_ns);
    u64::try_from(time).unwrap_or(0)
}
