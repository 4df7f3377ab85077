//! Opens a log: its header, dictionary and threads.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::{fmt, io};

use fulcrum_filter::Filter;
use fulcrum_hotspot::{Meter, Rule};
use fulcrum_model::text::counted;
use fulcrum_wire::log::{
    DICTIONARY, LOG_HEADER, LOG_MAGIC, LOG_VERSION, MACHINE, PLAIN_VERSION, cpu_clock, log_state,
    word,
};

use crate::reader::bytes::{LogBytes, words};
use crate::reader::chunks::{self, Chunk};
use crate::reader::clock::Clock;
use crate::reader::cursor::{Cursor, ThreadEvents};
use crate::reader::dictionary::Dictionary;
use crate::reader::dictionary::{Class, Counts, Method};
use crate::reader::event::What;
use crate::reader::selection::Selection;

/// A thread of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The thread's number in the log. 1 is the virtual machine itself.
    pub id: u32,
    /// The thread's name when it started.
    pub name: String,
    /// The thread group's name, or empty.
    pub group: String,
    /// The thread that started it, or 0 if unknown.
    pub parent: u32,
    /// The time of its first event, in nanoseconds since the log's start.
    pub first_ns: u64,
    /// The size of its events, in bytes.
    pub bytes: u64,
}

/// The cost of probes, as measured when the log began, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// The part of the cost of a logged call's probes that is in its own time.
    pub inside_ns: f64,
    /// The part that is only in its caller's time.
    pub outside_ns: f64,
    /// The cost of a call whose probes fire without logging it.
    pub skipped_ns: f64,
}

/// How a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Normally.
    Ended,
    /// It is being written, or its program was killed.
    Open,
    /// It could not grow any further, and later events were dropped.
    Full {
        /// What kept it from growing.
        by: Bound,
        /// When, in nanoseconds since the log's start.
        at_ns: u64,
        /// The number of dropped events. There were more that nobody tried to log.
        dropped: u64,
    },
}

/// What keeps a log from growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Its own limit.
    Limit,
    /// A full disk, or the user's quota.
    Disk,
    /// The system, for another reason, such as a disk error or a removed file.
    System,
}

impl End {
    /// What a reader of the log should know about its end, in a sentence or two.
    pub fn note(self) -> Option<String> {
        match self {
            End::Ended => None,
            End::Open => Some(
                "The log is incomplete: its program is still running, or was killed.".to_owned(),
            ),
            End::Full { at_ns, dropped, by } => {
                let (what, next) = match by {
                    Bound::Limit => (
                        "The log reached its size limit",
                        "Record with a narrower filter, or a larger limit.",
                    ),
                    Bound::Disk => (
                        "The disk was full",
                        "Free space, or record into a folder on another disk.",
                    ),
                    Bound::System => (
                        "The log could not be written any further",
                        "Check its disk, and whether somebody removed it.",
                    ),
                };
                Some(format!(
                    "{what} {:.3} s after the log's start: later events are missing (at least {dropped}). {next}",
                    at_ns as f64 / 1e9
                ))
            }
        }
    }
}

/// An opened event log.
#[derive(Debug)]
pub struct Trace {
    source: LogBytes,
    chunks: Vec<Chunk>,
    selection: Option<Selection>,
    clock: Clock,
    cpu_clock: u64,
    until: u64,
    /// The process id.
    pub pid: u64,
    /// When the log began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// How it ended.
    pub end: End,
    /// The cost of its probes.
    pub costs: Costs,
    /// The methods by number.
    pub methods: BTreeMap<u32, Method>,
    /// The classes by number.
    pub classes: BTreeMap<u32, Class>,
    /// The filter with which it was recorded. `None` if the log is not in its run's folder.
    pub observed: Option<Filter>,
    /// The rule that shut gates. `None` if all calls of all methods were measured.
    pub rule: Option<String>,
    /// The counts of methods with gates, by number.
    pub counts: BTreeMap<u32, Counts>,
    /// The threads, sorted by number.
    pub threads: Vec<Thread>,
    /// What a reader should know: the recorder's notes, and what is damaged, in whole sentences.
    pub notes: Vec<String>,
}

/// Why a log cannot be opened. `Display` is a sentence.
#[derive(Debug)]
pub enum OpenError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The file is not an event log.
    NotALog,
    /// The log has a version that this version of Fulcrum cannot read.
    Version(u64),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Unreadable(error) => write!(f, "it cannot be read: {error}"),
            OpenError::NotALog => f.write_str(
                "it is not an event log: at byte 0 FULCELOG was expected; choose an events-*.log of a run",
            ),
            OpenError::Version(version) => write!(
                f,
                "at byte 8 it says that it is an event log of version {version}, and this is for versions up to \
                 {LOG_VERSION}: use the version of Fulcrum that recorded it"
            ),
        }
    }
}

impl std::error::Error for OpenError {}

/// The note about a trace that should have calls but has none.
const NO_METHODS: &str = "No method was observed: nothing that was loaded has one that the filter selects. Those of the Java \
    platform and of C++'s std are selected only by rules that say so: includemethod java.util.* *";

/// Returns how a log ended, without reading its events.
pub fn end_of(log: &Path) -> Result<End, OpenError> {
    let source = LogBytes::File(File::open(log).map_err(OpenError::Unreadable)?);
    let words = header(&source)?;
    Ok(Trace::new(source, &words, Vec::new()).end)
}

/// Reads the words of the header, and checks that this version can read the log.
fn header(source: &LogBytes) -> Result<[u64; word::COUNT], OpenError> {
    let mut bytes = [0; word::COUNT * 8];
    let count = source.read(0, &mut bytes).map_err(OpenError::Unreadable)?;
    let header: [u64; word::COUNT] = words(&bytes);
    if count < 16 || header[word::MAGIC] != LOG_MAGIC {
        return Err(OpenError::NotALog);
    }
    match header[word::VERSION] {
        PLAIN_VERSION..=LOG_VERSION => Ok(header),
        other => Err(OpenError::Version(other)),
    }
}

impl Trace {
    /// Opens a log. One that is still being written is read as far as it goes.
    pub fn open(path: &Path) -> Result<Trace, OpenError> {
        let file = File::open(path).map_err(OpenError::Unreadable)?;
        let mut trace = Trace::read(LogBytes::File(file)).map_err(|error| match error {
            // Opening a folder succeeds, but reading it fails.
            OpenError::Unreadable(_) if path.is_dir() => OpenError::NotALog,
            error => error,
        })?;
        trace.observed = path.parent().and_then(|run| observed(run, &trace));
        let wanted = trace.observed.as_ref().is_some_and(|it| it.methods);
        if wanted && trace.methods.is_empty() && trace.end != End::Open {
            trace.notes.push(NO_METHODS.into());
        }
        let unmatched = trace
            .observed
            .iter()
            .flat_map(|it| &it.values)
            .filter(|it| {
                let mut methods = trace.methods.values();
                !methods.any(|of| it.matches(&of.class, &of.name, &of.descriptor))
            });
        let notes = unmatched.map(|it| {
            format!(
                "No method that was observed is named by line {} of the filter, observe_values {} {}: it has no values.",
                it.line, it.class, it.method
            )
        });
        let notes: Vec<String> = notes.collect();
        if trace.end != End::Open {
            trace.notes.extend(notes);
        }
        Ok(trace)
    }

    /// Opens a log in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Trace, OpenError> {
        Trace::read(LogBytes::Bytes(bytes))
    }

    fn read(source: LogBytes) -> Result<Trace, OpenError> {
        let unreadable = OpenError::Unreadable;
        let header_words = header(&source)?;
        let length = source.length().map_err(unreadable)?;
        let found = chunks::find(&source, length).map_err(unreadable)?;
        let mut trace = Trace::new(source, &header_words, found.chunks);
        if length < LOG_HEADER {
            trace.notes.push(format!(
                "The log is cut within its header, at byte {length}."
            ));
        }
        if found.cut > 0 {
            let cut = counted(found.cut, "byte of events is", "bytes of events are");
            trace
                .notes
                .push(format!("The log is cut at byte {length}: {cut} missing."));
        }
        trace.read_dictionary();
        trace.read_threads();
        Ok(trace)
    }

    fn new(source: LogBytes, header: &[u64; word::COUNT], chunks: Vec<Chunk>) -> Trace {
        let start = (header[word::START_TICKS], header[word::START_NS]);
        let ended = (header[word::END_TICKS], header[word::END_NS]);
        let of_chunks = chunks.iter().map(|chunk| (chunk.ticks, chunk.ns));
        let ends = (header[word::STATE] != log_state::OPEN).then_some(ended);
        let last = of_chunks.chain(ends).max().unwrap_or(start).max(start);
        let mut notes = Vec::new();
        let clock = Clock::new(start, last).unwrap_or_else(|| {
            notes.push("The log's clocks are damaged: its times are in an unknown unit.".into());
            Clock::nanoseconds(start.0)
        });
        let by = match header[word::STATE] {
            log_state::FULL => Some(Bound::Limit),
            log_state::DISK_FULL => Some(Bound::Disk),
            log_state::REFUSED => Some(Bound::System),
            _ => None,
        };
        let end = match by {
            Some(by) => End::Full {
                by,
                at_ns: clock.ns(ended.0),
                dropped: header[word::DROPPED],
            },
            None if header[word::STATE] == log_state::ENDED => End::Ended,
            None => End::Open,
        };
        let cost = |at: usize| header[at] as f64 / 1000.0;
        Trace {
            source,
            chunks,
            selection: None,
            clock,
            cpu_clock: header[word::CPU_CLOCK],
            until: by.map_or(u64::MAX, |_| ended.0),
            pid: header[word::PID],
            start_unix_ns: header[word::START_UNIX_NS],
            end,
            costs: Costs {
                inside_ns: cost(word::COST_INSIDE),
                outside_ns: cost(word::COST_OUTSIDE),
                skipped_ns: cost(word::COST_SKIPPED),
            },
            methods: BTreeMap::new(),
            classes: BTreeMap::new(),
            observed: None,
            rule: None,
            counts: BTreeMap::new(),
            threads: Vec::new(),
            notes,
        }
    }

    fn read_dictionary(&mut self) {
        let mut cursor = Cursor::new(&self.source, chunks_of(&self.chunks, DICTIONARY));
        let mut bad = 0;
        let mut names = Dictionary::default();
        while let Some(moment) = cursor.next() {
            bad += u32::from(names.read(&moment.record).is_err());
        }
        self.notes.append(&mut names.notes);
        self.notes.extend_from_slice(cursor.problems());
        (self.methods, self.classes) = (names.methods, names.classes);
        (self.rule, self.counts) = (names.rule, names.counts);
        if bad > 0 {
            let bad = counted(bad.into(), "name", "names");
            self.notes
                .push(format!("Damaged: {bad} of methods or classes."));
        }
    }

    fn read_threads(&mut self) {
        let mut threads = Vec::new();
        for chunks in self.chunks.chunk_by(|a, b| a.thread == b.thread) {
            let id = chunks[0].thread;
            if id == DICTIONARY {
                continue;
            }
            let mut thread = Thread {
                id,
                name: format!("thread {id}"),
                group: String::new(),
                parent: 0,
                first_ns: self.clock.ns(chunks[0].base),
                bytes: chunks.iter().map(|chunk| u64::from(chunk.used)).sum(),
            };
            match self.thread_events(id).next() {
                _ if id == MACHINE => thread.name = "(virtual machine)".into(),
                Some(event) => {
                    if let What::ThreadStart {
                        name,
                        group,
                        parent,
                        ..
                    } = event.what
                    {
                        thread.name = name;
                        thread.group = group;
                        thread.parent = parent;
                    }
                }
                None => {}
            }
            threads.push(thread);
        }
        self.threads = threads;
    }

    /// The events of one thread, in order.
    pub fn thread_events(&self, thread: u32) -> ThreadEvents<'_> {
        self.selected_events(thread, self.selection())
    }

    /// The events of one thread that are in a selection.
    pub(crate) fn selected_events<'a>(
        &'a self,
        thread: u32,
        selection: Option<&'a Selection>,
    ) -> ThreadEvents<'a> {
        let cursor = Cursor::new(&self.source, chunks_of(&self.chunks, thread));
        // The virtual machine's own events come from several threads.
        let cpu = if thread == MACHINE {
            cpu_clock::NONE
        } else {
            self.cpu_clock
        };
        ThreadEvents::new(cursor, self.clock, selection, cpu, self.until)
    }

    /// The selection that is in force.
    pub(crate) fn selection(&self) -> Option<&Selection> {
        self.selection.as_ref()
    }

    /// Hides everything that a filter would not have observed, wherever events are read. Names, threads and the program's time stay
    /// the same. The cost of the hidden calls' probes is still subtracted.
    pub fn set_filter(&mut self, filter: &Filter) {
        let selection = Selection::new(&self.methods, &self.classes, filter);
        self.selection = Some(selection);
    }

    /// The size of all events, in bytes.
    pub fn bytes(&self) -> u64 {
        self.threads.iter().map(|it| it.bytes).sum()
    }

    /// Whether the log has CPU times.
    pub fn has_cpu(&self) -> bool {
        self.cpu_clock != cpu_clock::NONE
    }

    /// The name of a method: `Class.method`, or `method 7` for one that the log does not define.
    pub fn method_name(&self, method: u32) -> String {
        match self.methods.get(&method) {
            Some(it) => format!("{}.{}", it.class, it.name),
            None => format!("method {method}"),
        }
    }

    /// A thread by its number.
    pub fn thread(&self, id: u32) -> Option<&Thread> {
        let at = self
            .threads
            .binary_search_by_key(&id, |thread| thread.id)
            .ok()?;
        self.threads.get(at)
    }

    /// The name of a class, or `?` if the log does not define it.
    pub fn class_name(&self, class: u32) -> &str {
        self.classes.get(&class).map_or("?", |class| &class.name)
    }
}

fn chunks_of(chunks: &[Chunk], thread: u32) -> &[Chunk] {
    let from = chunks.partition_point(|chunk| chunk.thread < thread);
    let to = chunks.partition_point(|chunk| chunk.thread <= thread);
    &chunks[from..to]
}

/// The filter of a run, as the agent reads it.
fn observed(run: &Path, trace: &Trace) -> Option<Filter> {
    if !run.join("agent.options").exists() {
        return None;
    }
    let mut filter = match std::fs::read_to_string(run.join("filter")) {
        Ok(text) => Filter::parse(&text).ok()?,
        Err(_) => Filter::standard(),
    };
    if let Some(rule) = trace.rule.as_deref() {
        let rule = Rule::parse(rule).ok()?;
        filter.contention |= rule.needs(Meter::Contention);
        filter.allocations |= rule.needs(Meter::Allocation);
    }
    Some(filter)
}
