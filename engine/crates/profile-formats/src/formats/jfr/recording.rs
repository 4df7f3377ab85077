//! Collects the samples of all chunks to a profile.

use std::collections::HashMap;

use super::chunk::{Chunk, Event};
use super::metadata::{Classes, Row};
use super::pools::{Part, Plan, Pools, Thread};
use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::collect::stacks::{FrameId, MAX_DEPTH, Recorded, Stacks};
use crate::collect::units::value;
use crate::decode::fault::Fault;
use crate::decode::texts::Texts;
use crate::{Format, Grain};

// Event classes that every chunk has.
const METADATA: u64 = 0;
const CHECKPOINT: u64 = 1;

/// A value type, and the events that it counts, each with its weight.
struct ValueColumn {
    name: &'static str,
    unit: &'static str,
    /// Only the events of these threads count.
    threads: Threads,
    events: &'static [(&'static str, Weight)],
}

impl ValueColumn {
    const fn new(
        name: &'static str,
        unit: &'static str,
        events: &'static [(&'static str, Weight)],
    ) -> Self {
        ValueColumn {
            name,
            unit,
            threads: Threads::All,
            events,
        }
    }
}

/// Which threads a value type counts. Wall clock samples include waiting threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threads {
    All,
    Running,
    Waiting,
}

const SAMPLES: &[(&str, Weight)] = &[("jdk.ExecutionSample", Weight::One)];
/// From async-profiler: one event stands for several samples of a waiting thread.
const WALL: &[(&str, Weight)] = &[("profiler.WallClockSample", Weight::Field("samples"))];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    One,
    Field(&'static str),
    /// A field in ticks of the chunk's clock.
    Ticks(&'static str),
}

/// All value types. The first one that a recording has is shown first. Those by thread state are there only when some threads
/// waited.
const COLUMNS: [ValueColumn; 15] = [
    ValueColumn::new("samples", "count", SAMPLES),
    ValueColumn {
        threads: Threads::Running,
        ..ValueColumn::new("running samples", "count", SAMPLES)
    },
    ValueColumn {
        threads: Threads::Waiting,
        ..ValueColumn::new("waiting samples", "count", SAMPLES)
    },
    // Newer JVMs measure CPU time instead of counting threads. Experimental in JDK 25.
    ValueColumn::new(
        "cpu",
        "ns",
        &[("jdk.CPUTimeSample", Weight::Ticks("samplingPeriod"))],
    ),
    ValueColumn::new("wall samples", "count", WALL),
    ValueColumn {
        threads: Threads::Running,
        ..ValueColumn::new("running wall samples", "count", WALL)
    },
    ValueColumn {
        threads: Threads::Waiting,
        ..ValueColumn::new("waiting wall samples", "count", WALL)
    },
    ValueColumn::new(
        "native samples",
        "count",
        &[("jdk.NativeMethodSample", Weight::One)],
    ),
    ValueColumn::new(
        "allocation",
        "bytes",
        &[("jdk.ObjectAllocationSample", Weight::Field("weight"))],
    ),
    // The same bytes, counted in another way. They must not be added to the samples.
    ValueColumn::new(
        "TLAB allocation",
        "bytes",
        &[
            ("jdk.ObjectAllocationInNewTLAB", Weight::Field("tlabSize")),
            (
                "jdk.ObjectAllocationOutsideTLAB",
                Weight::Field("allocationSize"),
            ),
        ],
    ),
    // From async-profiler: objects that were still alive at the end.
    ValueColumn::new(
        "live objects",
        "bytes",
        &[("profiler.LiveObject", Weight::Field("allocationSize"))],
    ),
    ValueColumn::new(
        "malloc",
        "bytes",
        &[("profiler.Malloc", Weight::Field("size"))],
    ),
    ValueColumn::new(
        "monitor",
        "ns",
        &[("jdk.JavaMonitorEnter", Weight::Ticks("duration"))],
    ),
    ValueColumn::new(
        "native lock",
        "ns",
        &[("profiler.NativeLock", Weight::Ticks("duration"))],
    ),
    ValueColumn::new(
        "park",
        "ns",
        &[("jdk.ThreadPark", Weight::Ticks("duration"))],
    ),
];

/// The name of methods without a name.
const UNKNOWN: &str = "[unknown]";

/// The samples so far.
#[derive(Default)]
pub(crate) struct Recording {
    /// What tells frames of one method apart.
    grain: Grain,
    methods: Vec<Method>,
    rows: HashMap<(String, u32), u32>,
    texts: Texts,
    threads: Vec<String>,
    thread_rows: HashMap<String, u32>,
    traces: Vec<Trace>,
    /// Rows of methods for all stacks, outermost first in each.
    frames: Vec<u32>,
    /// Sums of each value type by thread and stack. Samples without a stack have none.
    sums: HashMap<(u32, Option<u32>), [i64; COLUMNS.len()]>,
    seen: [bool; COLUMNS.len()],
    /// Some chunk was not closed.
    open: bool,
    /// Samples of open chunks whose stacks were never written.
    lost: u64,
    /// Samples of closed chunks whose stacks are missing.
    without: u64,
    /// Methods of closed chunks whose names are missing.
    nameless: u64,
}

struct Method {
    name: String,
    /// 0 unless lines tell frames apart.
    line: u32,
}

impl Method {
    /// The source file. Recordings do not name it: it is the outermost class's, in the folder of its package. Empty without
    /// a line.
    fn file(&self) -> String {
        let class = self.name.rsplit_once('.').map_or("", |it| it.0);
        let outermost = class.split('$').next().unwrap_or("");
        match self.line {
            0 => String::new(),
            _ => format!("{}.java", outermost.replace('.', "/")),
        }
    }
}

struct Trace {
    /// The range in [`Recording::frames`].
    from: usize,
    to: usize,
    truncated: bool,
}

/// The state while a chunk is read.
struct ChunkState<'k, 'a> {
    chunk: &'k Chunk<'a>,
    pools: Pools<'a>,
    /// Rows of [`Recording::methods`] by the chunk's methods and lines.
    methods: HashMap<(u64, u32), u32>,
    /// Rows of [`Recording::traces`] by the chunk's stacks.
    traces: HashMap<u64, u32>,
    threads: HashMap<u64, u32>,
}

impl Recording {
    /// No samples yet.
    pub(crate) fn new(grain: Grain) -> Self {
        Recording {
            grain,
            ..Recording::default()
        }
    }

    /// Adds the samples of a chunk.
    pub(crate) fn chunk(&mut self, chunk: &Chunk) -> Result<(), Fault> {
        self.open |= chunk.open;
        // The last metadata event is the most complete one.
        let mut metadata = None;
        for event in chunk.events() {
            let event = event?;
            if event.class == METADATA {
                metadata = Some(event.body);
            }
        }
        let Some(metadata) = metadata else {
            let problem = "a chunk has no description of its events: the recording was cut short";
            return Err(Fault::byte(chunk.at, problem));
        };
        let classes = Classes::read(metadata)?;
        let mut known = ChunkState {
            chunk,
            pools: Pools::default(),
            methods: HashMap::new(),
            traces: HashMap::new(),
            threads: HashMap::new(),
        };
        for event in chunk.events() {
            let event = event?;
            if event.class == CHECKPOINT {
                let read = known.pools.checkpoint(&classes, event.body);
                read.map_err(|fault| fault.at_byte(event.at))?;
            }
        }
        let mut plans: HashMap<u64, Option<EventPlan>> = HashMap::new();
        for event in chunk.events() {
            let event = event?;
            let plan = plans
                .entry(event.class)
                .or_insert_with(|| EventPlan::new(&classes, classes.row(event.class)?));
            if let Some(plan) = plan {
                let added = self.sample(plan, &event, &mut known);
                added.map_err(|fault| fault.at_byte(event.at))?;
            }
        }
        Ok(())
    }

    fn sample(
        &mut self,
        plan: &EventPlan,
        event: &Event,
        known: &mut ChunkState,
    ) -> Result<(), Fault> {
        let mut body = event.body;
        let [thread, other, trace, weight, state] = plan.plan.read(&mut body)?;
        let number = |part: Option<Part>| part.map_or(Ok(0), |it| it.number());
        let value = match plan.weight {
            Weight::One => 1,
            Weight::Field(_) => number(weight)?,
            Weight::Ticks(name) => nanoseconds(number(weight)?, known.chunk.frequency, name)?,
        };
        let value = i64::try_from(value)
            .map_err(|_| Fault::whole(format!("the value {value} is too large")))?;
        let trace = match number(trace)? {
            0 => None,
            id => match self.trace(id, known)? {
                None if known.chunk.open => {
                    self.lost += 1;
                    return Ok(());
                }
                None => {
                    self.without += 1;
                    None
                }
                row => row,
            },
        };
        let thread = match thread.or(other) {
            Some(part) => part.number()?,
            None => 0,
        };
        let thread = self.thread(thread, known);
        let threads = match known.pools.waits(number(state)?) {
            true => Threads::Waiting,
            false => Threads::Running,
        };
        let sums = self.sums.entry((thread, trace)).or_default();
        for &row in &plan.columns {
            if [Threads::All, threads].contains(&COLUMNS[row].threads) {
                let sum = &mut sums[row];
                *sum = sum.checked_add(value).ok_or_else(too_large)?;
                self.seen[row] = true;
            }
        }
        Ok(())
    }

    /// The row of a chunk's stack. Returns `None` when the chunk lacks the stack, or an open chunk lacks one of its methods.
    fn trace(&mut self, id: u64, known: &mut ChunkState) -> Result<Option<u32>, Fault> {
        if let Some(&row) = known.traces.get(&id) {
            return Ok(Some(row));
        }
        let Some(trace) = known.pools.traces.get(&id).copied() else {
            return Ok(None);
        };
        let from = self.frames.len();
        // One frame more than is kept shows that the stack was deeper.
        let frames = known.pools.frames(trace);
        for &(method, line) in frames.iter().take(MAX_DEPTH + 1).rev() {
            let line = match self.grain {
                Grain::Lines => line,
                Grain::Functions => 0,
            };
            let row = match known.methods.get(&(method, line)) {
                Some(&row) => row,
                None => {
                    let name = match known.pools.method(method) {
                        Ok(name) => name,
                        Err(_) if known.chunk.open => {
                            self.frames.truncate(from);
                            return Ok(None);
                        }
                        // A lost constant affects only its own method.
                        Err(_) => {
                            self.nameless += 1;
                            UNKNOWN.to_owned()
                        }
                    };
                    self.texts.add(&name)?;
                    let next = self.methods.len() as u32;
                    let row = *self.rows.entry((name.clone(), line)).or_insert(next);
                    if row == next {
                        self.methods.push(Method { name, line });
                    }
                    known.methods.insert((method, line), row);
                    row
                }
            };
            self.frames.push(row);
        }
        let row = self.traces.len() as u32;
        self.traces.push(Trace {
            from,
            to: self.frames.len(),
            truncated: trace.truncated,
        });
        known.traces.insert(id, row);
        Ok(Some(row))
    }

    /// The row of a chunk's thread.
    fn thread(&mut self, id: u64, known: &mut ChunkState) -> u32 {
        *known.threads.entry(id).or_insert_with(|| {
            let name = match known.pools.threads.get(&id) {
                Some(thread) => label(thread, &known.pools),
                None => format!("thread {id}"),
            };
            intern(&mut self.threads, &mut self.thread_rows, name)
        })
    }

    /// Whether the profile gets a value type. Running and waiting threads are shown only when some threads waited.
    fn is_shown(&self, row: usize) -> bool {
        let waited = |events: &[(&str, Weight)]| {
            let mut columns = COLUMNS.iter().zip(self.seen);
            columns.any(|(it, seen)| {
                seen && it.threads == Threads::Waiting && it.events[0].0 == events[0].0
            })
        };
        match COLUMNS[row].threads {
            Threads::All => self.seen[row],
            Threads::Running | Threads::Waiting => waited(COLUMNS[row].events),
        }
    }

    /// The profile of all chunks.
    pub(crate) fn finish(self) -> Result<Collected, Fault> {
        let mut columns = [None; COLUMNS.len()];
        let mut types = Vec::new();
        for (row, kind) in COLUMNS.iter().enumerate() {
            if self.is_shown(row) {
                columns[row] = Some(types.len());
                types.push(value(kind.name, kind.unit));
            }
        }
        if types.is_empty() {
            return Err(Fault::whole(
                "the recording has no samples of execution, allocation or waiting",
            )
            .advise("record with `settings=profile`"));
        }
        let mut stacks = Stacks::new(types, 0)?;
        let frames = self.methods.iter();
        let frames = frames.map(|it| stacks.frame(&it.name, &it.file(), it.line));
        let frames: Vec<FrameId> = frames.collect::<Result<_, _>>()?;
        let threads = match self.threads.len() {
            1 => Vec::new(),
            _ => {
                let all = self.threads.iter().map(|it| stacks.container(it));
                all.collect::<Result<Vec<FrameId>, _>>()?
            }
        };
        self.notes(&mut stacks);
        let (mut stack, mut values) = (Vec::new(), vec![0; stacks.width()]);
        let mut sums: Vec<_> = self.sums.into_iter().collect();
        sums.sort_unstable_by_key(|&(key, _)| key);
        for ((thread, trace), sums) in sums {
            stack.clear();
            let trace = trace.map(|row| &self.traces[row as usize]);
            if let Some(trace) = trace {
                let rows = self.frames[trace.from..trace.to].iter();
                stack.extend(rows.map(|&row| frames[row as usize]));
            }
            for (column, sum) in columns.iter().zip(sums) {
                if let &Some(column) = column {
                    values[column] = sum;
                }
            }
            let container = threads.get(thread as usize).copied();
            let truncated = trace.is_some_and(|trace| trace.truncated);
            let truncated = Recorded::from_cut(truncated);
            stacks.add_recorded(container, &stack, truncated, &values)?;
        }
        stacks.finish(Format::Jfr)
    }

    /// Notes for a reader of the profile.
    fn notes(&self, stacks: &mut Stacks) {
        if self.open {
            stacks.note("The recording was not closed: it ends with its last whole event.");
        }
        let waiting = (0..COLUMNS.len()).filter(|&row| COLUMNS[row].threads == Threads::Waiting);
        for kind in waiting
            .filter(|&row| self.seen[row])
            .map(|row| &COLUMNS[row])
        {
            let all = kind.name.replace("waiting ", "");
            stacks.note(format!(
                "Waiting threads were sampled too: the value types \"running {all}\" and \"{}\" each have a part of the {all}.",
                kind.name
            ));
        }
        if self.lost > 0 {
            stacks.note(format!(
                "{} samples are left out because their stacks were never written.",
                self.lost
            ));
        }
        if self.without > 0 {
            stacks.note(format!(
                "{} samples have stacks that the recording does not contain.",
                self.without
            ));
        }
        if self.nameless > 0 {
            stacks.note(format!(
                "{} methods have no name in the recording and are shown as {UNKNOWN}.",
                self.nameless
            ));
        }
    }
}

/// How to read the events of one class.
struct EventPlan<'c> {
    /// The rows of [`COLUMNS`] that the events count for.
    columns: Vec<usize>,
    weight: Weight,
    /// The sampled thread, the event's own thread, the stack, the weight, the thread's state.
    plan: Plan<'c, 5>,
}

impl<'c> EventPlan<'c> {
    fn new(classes: &'c Classes, class: Row) -> Option<Self> {
        let name = &*classes.class(class).name;
        let of = |column: &ValueColumn| column.events.iter().find(|(event, _)| *event == name);
        let (_, weight) = *COLUMNS.iter().find_map(of)?;
        let columns = (0..COLUMNS.len()).filter(|&row| of(&COLUMNS[row]).is_some());
        let field = match weight {
            Weight::One => "",
            Weight::Field(field) | Weight::Ticks(field) => field,
        };
        let wanted = ["sampledThread", "eventThread", "stackTrace", field, "state"];
        Some(EventPlan {
            columns: columns.collect(),
            weight,
            plan: Plan::new(classes, class, wanted),
        })
    }
}

fn intern(names: &mut Vec<String>, rows: &mut HashMap<String, u32>, name: String) -> u32 {
    let next = names.len() as u32;
    let row = *rows.entry(name.clone()).or_insert(next);
    if row == next {
        names.push(name);
    }
    row
}

/// A thread's name and number in Java, or else in the operating system.
fn label(thread: &Thread, pools: &Pools) -> String {
    let (name, id) = match pools.text(&thread.java.0) {
        name if name.is_empty() => (pools.text(&thread.os.0), thread.os.1),
        name => (name, thread.java.1),
    };
    format!("{name} ({id})")
}

fn nanoseconds(ticks: u64, frequency: u64, what: &str) -> Result<u64, Fault> {
    let nanos = (u128::from(ticks) * 1_000_000_000).checked_div(u128::from(frequency));
    let nanos = nanos.and_then(|nanos| u64::try_from(nanos).ok());
    nanos.ok_or_else(|| {
        let problem = format!("the {what} of {ticks} ticks at {frequency} a second is no time");
        Fault::whole(problem)
    })
}
