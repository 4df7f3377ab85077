//! How single transactions went through threads and processes.

use std::collections::{BTreeMap, HashMap};

use fulcrum_transactions::latency::InstanceId;
use fulcrum_transactions::stitch::Stitched;
use fulcrum_transactions::{ProcessId, Synopsis, TraceParent, TypeId};

use super::functions::Functions;
use crate::replay::World;

/// The slowest transactions of each type that are kept.
const SLOWEST: usize = 20;
/// Others that are drawn of each type.
const DRAWN: usize = 80;
/// Stays that are kept of a transaction, the first.
const MOST_STAYS: usize = 2000;

/// One transaction's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its number.
    pub id: InstanceId,
    /// Its type.
    pub of: TypeId,
    /// Where it began.
    pub process: ProcessId,
    /// When its request came, nanoseconds on the clock of the first process.
    pub began_ns: u64,
    /// Until its last answer was sent, or until the last that was done for it, nanoseconds.
    pub wall_ns: u64,
    /// It was answered.
    pub replied: bool,
    /// The trace that it belongs to, as the first of its requests said that said one.
    pub trace: Option<TraceParent>,
    /// Who worked for it when, by their beginnings.
    pub stays: Vec<Stay>,
    /// How many stays came after these and are not kept.
    pub left_out: u64,
}

/// A thread works for a transaction, or waits for others on its behalf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The process.
    pub process: ProcessId,
    /// The process's number.
    pub pid: u32,
    /// Its program.
    pub program: String,
    /// The kernel's number of the thread.
    pub tid: u32,
    /// The thread's name.
    pub thread: String,
    /// What it does there: the handler, the stage, or where the transaction was handed on.
    pub stage: String,
    /// The innermost function on the transaction's way to there that the source is known of.
    pub source: Option<String>,
    /// From when, nanoseconds on the clock of the first process.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
}

/// The ways of the slowest transactions of each type, and of others that are drawn by chance, the same each time.
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
    // Those with the smallest hashes are a sample without preference.
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
