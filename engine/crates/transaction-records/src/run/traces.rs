//! Transactions as traces: the kinds of threads that worked for a transaction, and when.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fulcrum_transactions::latency::InstanceId;
use fulcrum_transactions::stitch::Stitched;
use fulcrum_transactions::{ProcessId, SpanId, TraceParent, TypeId};

use super::ways::{Way, shared};
use crate::replay::World;

/// Transactions as traces.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Kinds of threads, by number.
    pub lanes: Vec<Lane>,
    /// The transactions, ascending by ID.
    pub transactions: Vec<Trace>,
    /// What is added to a time on the first process's clock to get nanoseconds since 1970.
    pub unix_offset_ns: i64,
}

/// The threads of one name in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The process.
    pub process: ProcessId,
    /// Its program.
    pub program: String,
    /// The name of the threads.
    pub thread: String,
    /// The kernel's thread number of the first of them.
    pub tid: u32,
}

/// A transaction. Times are nanoseconds on the first process's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its ID.
    pub id: InstanceId,
    /// Its type.
    pub of: TypeId,
    /// The process where it began.
    pub process: ProcessId,
    /// The program of that process.
    pub program: String,
    /// When its request arrived.
    pub from_ns: u64,
    /// When its last answer was sent, or when it was last worked on.
    pub to_ns: u64,
    /// Whether it was answered.
    pub replied: bool,
    /// The trace context of its requests.
    pub parent: Option<TraceParent>,
    /// The span that sent its first request, if the request names it.
    pub asked_in: Option<SpanId>,
    /// The threads that worked for it, by lane.
    pub stages: Vec<TraceStage>,
}

/// What threads of one kind did for a transaction. Times are nanoseconds on the first process's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStage {
    /// An index into [`Traces::lanes`].
    pub lane: u32,
    /// When the first thread began.
    pub from_ns: u64,
    /// When the last thread ended.
    pub to_ns: u64,
    /// How long they worked for it, or waited for others on its behalf, in total, in nanoseconds.
    pub worked_ns: u64,
}

/// The traces of all transactions with samples, and of those with ways.
pub(super) fn sampled(world: &World<'_>, stitched: &Stitched, ways: &[Way]) -> Traces {
    let mut wanted: BTreeSet<u32> = stitched.sampled().filter_map(row).collect();
    wanted.extend(ways.iter().filter_map(|it| row(it.id)));
    let mut traces = Traces {
        unix_offset_ns: unix_offset_ns(world),
        ..Traces::default()
    };
    let mut rows = HashMap::new();
    for it in wanted {
        if let Some(trace) = begun(world, stitched, it) {
            rows.insert(it, traces.transactions.len());
            traces.transactions.push(trace);
        }
    }
    add_stages(world, &rows, &mut traces);
    traces
}

fn row(id: InstanceId) -> Option<u32> {
    u32::try_from(id.0).ok()
}

/// A transaction without its stages. `None` if it has no type, because it never got anywhere.
fn begun(world: &World<'_>, stitched: &Stitched, row: u32) -> Option<Trace> {
    let instance = world.instances.get(row as usize)?;
    let ended = world.ended(row);
    let info = &world.index().processes[instance.process];
    let from_ns = shared(world, instance.process, instance.began_ns);
    let trace = instance.trace;
    let by_first = trace.filter(|it| it.by == Some(instance.task));
    Some(Trace {
        id: ended.id,
        of: stitched.type_of(info.id(), ended.context)?,
        process: info.id(),
        program: info.name().to_owned(),
        from_ns,
        to_ns: from_ns.saturating_add(ended.wall_ns),
        replied: ended.replied,
        parent: trace.map(|it| it.parent),
        asked_in: by_first.map(|it| it.parent.parent),
        stages: Vec::new(),
    })
}

fn add_stages(world: &World<'_>, rows: &HashMap<u32, usize>, traces: &mut Traces) {
    let mut lanes: BTreeMap<(ProcessId, &str), u32> = BTreeMap::new();
    for thread in &world.threads {
        let info = &world.index().processes[thread.process];
        for (moment, to_ns) in thread.stays() {
            let Some(&row) = moment.instance.and_then(|it| rows.get(&it)) else {
                continue;
            };
            let name = thread.name_at(moment.time_ns);
            let lane = *lanes.entry((info.id(), name)).or_insert_with(|| {
                traces.lanes.push(Lane {
                    process: info.id(),
                    program: info.name().to_owned(),
                    thread: name.to_owned(),
                    tid: thread.tid,
                });
                (traces.lanes.len() - 1) as u32
            });
            traces.transactions[row].add(TraceStage {
                lane,
                from_ns: shared(world, thread.process, moment.time_ns),
                to_ns: shared(world, thread.process, to_ns),
                worked_ns: to_ns - moment.time_ns,
            });
        }
    }
}

impl Trace {
    fn add(&mut self, stay: TraceStage) {
        match self.stages.binary_search_by_key(&stay.lane, |it| it.lane) {
            Ok(at) => {
                let stage = &mut self.stages[at];
                stage.from_ns = stage.from_ns.min(stay.from_ns);
                stage.to_ns = stage.to_ns.max(stay.to_ns);
                stage.worked_ns += stay.worked_ns;
            }
            Err(at) => self.stages.insert(at, stay),
        }
    }
}

fn unix_offset_ns(world: &World<'_>) -> i64 {
    let Some(first) = world.index().processes.first() else {
        return 0;
    };
    let at = shared(world, 0, first.header.start_ns);
    first.header.start_unix_ns.wrapping_sub(at).cast_signed()
}
