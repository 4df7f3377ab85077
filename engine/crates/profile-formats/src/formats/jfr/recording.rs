//! The samples of all chunks, and the profile that they make.

use std::collections::HashMap;

use super::chunk::{Chunk, Event};
use super::metadata::{Classes, Row};
use super::pools::{Plan, Pools, Thread};
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::collect::stacks::{FrameId, MAX_DEPTH, Stacks};
use crate::collect::units::value;
use crate::decode::fault::Fault;
use crate::decode::texts::Texts;

// Classes of every chunk.
const METADATA: u64 = 0;
const CHECKPOINT: u64 = 1;

/// A value type, and the events that it is counted by, each with the field that weighs it.
struct Kind {
    name: &'static str,
    unit: &'static str,
    /// Which of the events' threads it is of.
    of: Of,
    events: &'static [(&'static str, Weight)],
}

impl Kind {
    const fn new(
        name: &'static str,
        unit: &'static str,
        events: &'static [(&'static str, Weight)],
    ) -> Self {
        let of = Of::All;
        Kind {
            name,
            unit,
            of,
            events,
        }
    }
}

/// Which threads a value type is of. Samples by the clock on the wall are of waiting threads too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    Running,
    Waiting,
}

const SAMPLES: &[(&str, Weight)] = &[("jdk.ExecutionSample", Weight::One)];
/// async-profiler's: of a thread that waits, several samples are one event.
const WALL: &[(&str, Weight)] = &[("profiler.WallClockSample", Weight::Field("samples"))];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    One,
    Field(&'static str),
    /// A field that counts ticks of the chunk's clock.
    Ticks(&'static str),
}

/// What is read; the first that a recording has is shown first. Of threads by their state there is something only where
/// some waited.
const KINDS: [Kind; 15] = [
    Kind::new("samples", "count", SAMPLES),
    Kind {
        of: Of::Running,
        ..Kind::new("running samples", "count", SAMPLES)
    },
    Kind {
        of: Of::Waiting,
        ..Kind::new("waiting samples", "count", SAMPLES)
    },
    // Newer JVMs measure time instead of counting threads; experimental in JDK 25.
    Kind::new(
        "cpu",
        "ns",
        &[("jdk.CPUTimeSample", Weight::Ticks("samplingPeriod"))],
    ),
    Kind::new("wall samples", "count", WALL),
    Kind {
        of: Of::Running,
        ..Kind::new("running wall samples", "count", WALL)
    },
    Kind {
        of: Of::Waiting,
        ..Kind::new("waiting wall samples", "count", WALL)
    },
    Kind::new(
        "native samples",
        "count",
        &[("jdk.NativeMethodSample", Weight::One)],
    ),
    Kind::new(
        "allocation",
        "bytes",
        &[("jdk.ObjectAllocationSample", Weight::Field("weight"))],
    ),
    // The same bytes, counted in another way: never added to the samples.
    Kind::new(
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
    // async-profiler's: what was allocated and still there at the end.
    Kind::new(
        "live objects",
        "bytes",
        &[("profiler.LiveObject", Weight::Field("allocationSize"))],
    ),
    Kind::new(
        "malloc",
        "bytes",
        &[("profiler.Malloc", Weight::Field("size"))],
    ),
    Kind::new(
        "monitor",
        "ns",
        &[("jdk.JavaMonitorEnter", Weight::Ticks("duration"))],
    ),
    Kind::new(
        "native lock",
        "ns",
        &[("profiler.NativeLock", Weight::Ticks("duration"))],
    ),
    Kind::new(
        "park",
        "ns",
        &[("jdk.ThreadPark", Weight::Ticks("duration"))],
    ),
];

/// Stands for methods without a name.
const UNKNOWN: &str = "[unknown]";

/// The samples so far.
#[derive(Default)]
pub(crate) struct Recording {
    /// Whether methods are told apart by the line that ran.
    lines: bool,
    methods: Vec<Method>,
    rows: HashMap<(String, u32), u32>,
    texts: Texts,
    threads: Vec<String>,
    thread_rows: HashMap<String, u32>,
    traces: Vec<Trace>,
    /// Rows of methods, outermost first in each stack.
    frames: Vec<u32>,
    /// Sums of each kind, by thread and stack; none for samples without a stack.
    sums: HashMap<(u32, Option<u32>), [i64; KINDS.len()]>,
    seen: [bool; KINDS.len()],
    /// A chunk was not closed.
    open: bool,
    /// Samples of an open chunk whose stacks were not written any more.
    lost: u64,
    /// Samples whose stacks a closed chunk does not have.
    without: u64,
    /// Methods whose names it does not have.
    nameless: u64,
}

struct Method {
    name: String,
    /// 0 unless lines are told apart.
    line: u32,
}

impl Method {
    /// The source file, which recordings do not name: that of the outermost class, in its package's folder. Empty without
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
    /// Its range in [`Recording::frames`].
    from: usize,
    to: usize,
    truncated: bool,
}

/// What is known of one chunk.
struct Known<'k, 'a> {
    chunk: &'k Chunk<'a>,
    pools: Pools<'a>,
    /// Rows of [`Recording::methods`] by numbers of methods and lines.
    methods: HashMap<(u64, u32), u32>,
    /// Rows of [`Recording::traces`] by numbers of stacks.
    traces: HashMap<u64, u32>,
    threads: HashMap<u64, u32>,
}

impl Recording {
    /// No samples. With `lines`, methods are told apart by the line that ran.
    pub(crate) fn new(lines: bool) -> Self {
        Recording {
            lines,
            ..Recording::default()
        }
    }

    /// Adds the samples of a chunk.
    pub(crate) fn chunk(&mut self, chunk: &Chunk) -> Result<(), Fault> {
        self.open |= chunk.open;
        // The last description is the most complete one.
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
        let mut known = Known {
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
        let mut plans: HashMap<u64, Option<Planned>> = HashMap::new();
        for event in chunk.events() {
            let event = event?;
            let plan = plans
                .entry(event.class)
                .or_insert_with(|| Planned::new(&classes, classes.row(event.class)?));
            if let Some(plan) = plan {
                let added = self.sample(plan, &event, &mut known);
                added.map_err(|fault| fault.at_byte(event.at))?;
            }
        }
        Ok(())
    }

    fn sample(&mut self, plan: &Planned, event: &Event, known: &mut Known) -> Result<(), Fault> {
        let mut body = event.body;
        let [thread, other, trace, weight, state] = plan.plan.read(&mut body)?;
        let number = |part: Option<super::pools::Part>| part.map_or(Ok(0), |it| it.number());
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
        let of = match known.pools.waits(number(state)?) {
            true => Of::Waiting,
            false => Of::Running,
        };
        let sums = self.sums.entry((thread, trace)).or_default();
        for &row in &plan.kinds {
            if [Of::All, of].contains(&KINDS[row].of) {
                let sum = &mut sums[row];
                *sum = sum.checked_add(value).ok_or_else(too_large)?;
                self.seen[row] = true;
            }
        }
        Ok(())
    }

    /// The row of a chunk's stack. `None` when the chunk does not have it, or in an open chunk not all of its methods.
    fn trace(&mut self, id: u64, known: &mut Known) -> Result<Option<u32>, Fault> {
        if let Some(&row) = known.traces.get(&id) {
            return Ok(Some(row));
        }
        let Some(trace) = known.pools.traces.get(&id).copied() else {
            return Ok(None);
        };
        let from = self.frames.len();
        // One more than is kept tells that there were more.
        let frames = known.pools.frames(trace);
        for &(method, line) in frames.iter().take(MAX_DEPTH + 1).rev() {
            let line = if self.lines { line } else { 0 };
            let row = match known.methods.get(&(method, line)) {
                Some(&row) => row,
                None => {
                    let name = match known.pools.method(method) {
                        Ok(name) => name,
                        Err(_) if known.chunk.open => {
                            self.frames.truncate(from);
                            return Ok(None);
                        }
                        // One constant that was lost spoils no other.
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
    fn thread(&mut self, id: u64, known: &mut Known) -> u32 {
        *known.threads.entry(id).or_insert_with(|| {
            let name = match known.pools.threads.get(&id) {
                Some(thread) => label(thread, &known.pools),
                None => format!("thread {id}"),
            };
            intern(&mut self.threads, &mut self.thread_rows, name)
        })
    }

    /// Whether a kind is a value type: all samples, and their parts only where there are two.
    fn is_told(&self, row: usize) -> bool {
        let waited = |events: &[(&str, Weight)]| {
            let mut kinds = KINDS.iter().zip(self.seen);
            kinds.any(|(it, seen)| seen && it.of == Of::Waiting && it.events[0].0 == events[0].0)
        };
        match KINDS[row].of {
            Of::All => self.seen[row],
            Of::Running | Of::Waiting => waited(KINDS[row].events),
        }
    }

    /// The profile of all chunks.
    pub(crate) fn finish(self) -> Result<Collected, Fault> {
        let mut columns = [None; KINDS.len()];
        let mut types = Vec::new();
        for (row, kind) in KINDS.iter().enumerate() {
            if self.is_told(row) {
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
            stacks.add_cut(container, &stack, truncated, &values)?;
        }
        if self.open {
            stacks.note("The recording was not closed: it ends with its last whole event.");
        }
        let waiting = (0..KINDS.len()).filter(|&row| KINDS[row].of == Of::Waiting);
        for kind in waiting.filter(|&row| self.seen[row]).map(|row| &KINDS[row]) {
            let all = kind.name.replace("waiting ", "");
            stacks.note(format!(
                "Threads that waited were sampled too: of the {all}, the value types \"running {all}\" and \"{}\" have a part each.",
                kind.name
            ));
        }
        if self.lost > 0 {
            stacks.note(format!(
                "{} samples are left out, whose stacks were not written any more.",
                self.lost
            ));
        }
        if self.without > 0 {
            stacks.note(format!(
                "{} samples have stacks that the recording does not hold.",
                self.without
            ));
        }
        if self.nameless > 0 {
            stacks.note(format!(
                "{} methods have no name in the recording and are shown as {UNKNOWN}.",
                self.nameless
            ));
        }
        stacks.finish(Format::Jfr)
    }
}

/// How the events of one class are read.
struct Planned<'c> {
    /// What they count for.
    kinds: Vec<usize>,
    weight: Weight,
    /// The thread that was sampled, else the event's own; the stack; the weight; the thread's state.
    plan: Plan<'c, 5>,
}

impl<'c> Planned<'c> {
    fn new(classes: &'c Classes, class: Row) -> Option<Self> {
        let name = &*classes.class(class).name;
        let of = |kind: &Kind| kind.events.iter().find(|(event, _)| *event == name);
        let (_, weight) = *KINDS.iter().find_map(of)?;
        let kinds = (0..KINDS.len()).filter(|&row| of(&KINDS[row]).is_some());
        let field = match weight {
            Weight::One => "",
            Weight::Field(field) | Weight::Ticks(field) => field,
        };
        let wanted = ["sampledThread", "eventThread", "stackTrace", field, "state"];
        Some(Planned {
            kinds: kinds.collect(),
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

/// Java's name and number of a thread, else the system's.
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
