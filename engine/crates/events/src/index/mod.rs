//! The index of a trace: built in one pass, and small however many events there are.
//!
//! Every thousand or so events of a thread there is a *checkpoint*, from which reading can continue. A node that was open at one is a
//! *span* and is known completely: its times, its number of children, and the last checkpoint before its end. Everything else is between
//! two checkpoints, and is read again on demand.

pub(crate) mod rows;
pub(crate) mod search;
pub(crate) mod timeline;

use std::collections::HashSet;

use fulcrum_model::{Cancelled, Progress};
use fulcrum_wire::log::MACHINE;

use crate::reader::clock::since;
use crate::reader::event::{Event, What};
use crate::reader::open::Trace;
use crate::tree::stack::{Closing, Node, Outcome, Times};
use crate::tree::walk::{Open, Standing, Walk, parking};

/// The index of a trace. Takes about 20 MB for a hundred million events; for deeply recursive programs more, at most some hundred MB.
#[derive(Debug)]
pub struct Index {
    /// The parts of the threads, in the trace's order.
    pub threads: Vec<ThreadIndex>,
    /// The beginning and end of each garbage collection, in nanoseconds since the log's start.
    pub collections: Vec<(u64, u64)>,
    /// The number of events of all threads.
    pub events: u64,
    /// The number of calls of each method, by its number. Methods with large numbers are not counted.
    pub calls: Vec<u64>,
    /// What had to be left out, in whole sentences.
    pub problems: Vec<String>,
    pub(crate) parking: HashSet<u32>,
    /// The methods for which the log has values.
    pub(crate) valued: HashSet<u32>,
}

/// The index of a thread.
#[derive(Debug, Default)]
pub struct ThreadIndex {
    /// The thread.
    pub id: u32,
    /// The number of its events.
    pub events: u64,
    /// The number of rows at the top level of its tree.
    pub rows: u64,
    /// The time of its first event.
    pub start_ns: u64,
    /// The time of its last event.
    pub end_ns: u64,
    /// CPU time from its first to its last event.
    pub cpu_ns: Option<u64>,
    pub(crate) checkpoints: Vec<Checkpoint>,
    pub(crate) spans: Vec<Span>,
}

/// A position from which reading can continue.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) standing: Standing,
    /// The innermost open span.
    pub(crate) top: Option<u32>,
    /// The number of rows directly below it so far, or at the top level if none is open.
    pub(crate) below: u64,
}

/// A node that was open at a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) node: u64,
    pub(crate) what: Node,
    pub(crate) parent: Option<u32>,
    pub(crate) depth: u32,
    pub(crate) position: u64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) times: Times,
    pub(crate) probes_ns: u64,
    pub(crate) children: u64,
    pub(crate) closing: Closing,
    /// The last checkpoint before its end.
    pub(crate) last: u32,
}

/// The number of events between two checkpoints, unless there are too many checkpoints.
const INTERVAL: u64 = 1024;

/// The number of checkpoints of a large log.
const CHECKPOINTS: u64 = 1 << 16;

/// The most spans. If there are more, the index gets fewer checkpoints.
const MOST_SPANS: usize = 1 << 20;

/// The calls of methods with larger numbers are not counted.
const MOST_COUNTED: usize = 1 << 20;

/// The number of events between two reports of progress.
const CANCEL_CHECK_INTERVAL: u64 = 1 << 16;

impl Index {
    /// Builds the index of a trace.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn build(trace: &Trace, progress: &Progress) -> Result<Index, Cancelled> {
        // An event has at least three bytes.
        let interval = INTERVAL.max(trace.bytes() / 3 / CHECKPOINTS);
        Index::with_interval(trace, interval, progress)
    }

    /// Like [`Self::build`], with the given number of events between two checkpoints.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn with_interval(
        trace: &Trace,
        interval: u64,
        progress: &Progress,
    ) -> Result<Index, Cancelled> {
        let mut interval = interval;
        loop {
            match Index::attempt(trace, interval, progress)? {
                Some(index) => return Ok(index),
                None => interval *= 8,
            }
        }
    }

    /// Builds the index. `None` if there are too many spans.
    fn attempt(
        trace: &Trace,
        interval: u64,
        progress: &Progress,
    ) -> Result<Option<Index>, Cancelled> {
        let mut index = Index {
            threads: Vec::with_capacity(trace.threads.len()),
            collections: Vec::new(),
            events: 0,
            calls: Vec::new(),
            problems: Vec::new(),
            parking: parking(trace),
            valued: HashSet::new(),
        };
        let all = trace.bytes().max(1) as f64;
        let (mut done, mut spans, mut until_check) = (0, 0, CANCEL_CHECK_INTERVAL);
        for thread in &trace.threads {
            let mut building = Building::new(trace, thread.id, &index.parking);
            while let Some(event) = building.step(interval) {
                match event.what {
                    What::Enter { method } => count(&mut index.calls, method),
                    What::Arguments { method, .. } | What::Returned { method, .. } => {
                        index.valued.insert(method);
                    }
                    _ => {}
                }
                until_check -= 1;
                if until_check == 0 {
                    until_check = CANCEL_CHECK_INTERVAL;
                    let part = building.walk.standing().mark.ordinal.min(thread.bytes);
                    progress.at((done as f64 + part as f64) / all)?;
                    if spans + building.of.spans.len() > MOST_SPANS
                        && building.of.checkpoints.len() > 1
                    {
                        return Ok(None);
                    }
                }
            }
            let problems = building.walk.problems().to_vec();
            let (of, mut collections) = building.finish();
            index.problems.extend(problems);
            if thread.id == MACHINE {
                index.collections.append(&mut collections);
            }
            done += thread.bytes;
            spans += of.spans.len();
            index.events += of.events;
            index.threads.push(of);
        }
        progress.at(1.0)?;
        Ok(Some(index))
    }

    /// The index of a thread.
    pub fn thread(&self, id: u32) -> Option<&ThreadIndex> {
        let at = self.threads.binary_search_by_key(&id, |it| it.id).ok()?;
        self.threads.get(at)
    }

    /// The times of the first and the last event, in nanoseconds since the log's start.
    pub fn range(&self) -> (u64, u64) {
        let there = || self.threads.iter().filter(|it| it.events > 0);
        let start = there().map(|it| it.start_ns).min();
        let end = there().map(|it| it.end_ns).max();
        (start.unwrap_or(0), end.unwrap_or(0))
    }
}

fn count(calls: &mut Vec<u64>, method: u32) {
    let at = method as usize;
    if at >= calls.len() && at < MOST_COUNTED {
        calls.resize(at + 1, 0);
    }
    if let Some(count) = calls.get_mut(at) {
        *count += 1;
    }
}

struct Building<'a> {
    walk: Walk<'a>,
    of: ThreadIndex,
    /// The thread's CPU clock at its first event.
    first_cpu: Option<u64>,
    until_checkpoint: u64,
    /// Whether the last event belongs to the next one, so that both must be read together.
    waits: bool,
    collections: Vec<(u64, u64)>,
}

impl<'a> Building<'a> {
    fn new(trace: &'a Trace, id: u32, parking: &'a HashSet<u32>) -> Building<'a> {
        Building {
            walk: Walk::new(trace, id, parking),
            of: ThreadIndex {
                id,
                ..ThreadIndex::default()
            },
            first_cpu: None,
            until_checkpoint: 0,
            waits: false,
            collections: Vec::new(),
        }
    }

    /// Takes the next event, if there is one.
    fn step(&mut self, interval: u64) -> Option<Event> {
        if self.until_checkpoint == 0 && !self.waits {
            self.checkpoint();
            self.until_checkpoint = interval;
        }
        let event = self.walk.step()?;
        self.until_checkpoint = self.until_checkpoint.saturating_sub(1);
        self.waits = matches!(event.what, What::Returned { .. });
        if self.of.events == 0 {
            self.of.start_ns = event.wall_ns;
        }
        self.of.events += 1;
        self.of.end_ns = event.wall_ns;
        self.of.cpu_ns = since(&mut self.first_cpu, event.cpu_ns);
        self.close();
        Some(event)
    }

    fn checkpoint(&mut self) {
        let mut parent = None;
        for (depth, open) in self.walk.open.iter_mut().enumerate() {
            let span = *open.span.get_or_insert_with(|| {
                self.of.spans.push(Span {
                    node: open.node,
                    what: open.what,
                    parent,
                    depth: depth as u32,
                    position: open.position,
                    start_ns: open.start_ns,
                    end_ns: open.start_ns,
                    times: Times::default(),
                    probes_ns: 0,
                    children: 0,
                    closing: Closing::Open,
                    last: 0,
                });
                self.of.spans.len() as u32 - 1
            });
            parent = Some(span);
        }
        self.of.checkpoints.push(Checkpoint {
            standing: self.walk.standing(),
            top: parent,
            below: self
                .walk
                .open
                .last()
                .map_or(self.walk.rows, |it| it.children),
        });
    }

    fn close(&mut self) {
        for (outcome, open) in &self.walk.ended {
            if outcome.node == Node::Collection {
                self.collections.push((outcome.start_ns, outcome.end_ns));
            }
            if let Some(span) = open.span {
                let last = self.of.checkpoints.len() as u32 - 1;
                self.of.spans[span as usize].ends(outcome, open.children, last);
            }
        }
    }

    fn finish(mut self) -> (ThreadIndex, Vec<(u64, u64)>) {
        self.walk.finish();
        self.close();
        self.of.rows = self.walk.rows;
        self.of.checkpoints.shrink_to_fit();
        self.of.spans.shrink_to_fit();
        (self.of, self.collections)
    }
}

impl Span {
    fn ends(&mut self, outcome: &Outcome, children: u64, last: u32) {
        self.end_ns = outcome.end_ns;
        self.times = outcome.times;
        self.probes_ns = outcome.probes_ns;
        self.closing = outcome.closing;
        self.children = children;
        self.last = last;
    }
}

impl ThreadIndex {
    /// The span of a node, if it is one.
    pub(crate) fn span(&self, node: u64) -> Option<u32> {
        // Spans are sorted by the event with which they began.
        let at = self.spans.binary_search_by_key(&node, |it| it.node).ok()?;
        Some(at as u32)
    }

    /// The last checkpoint before an event.
    pub(crate) fn before(&self, number: u64) -> usize {
        let after = self
            .checkpoints
            .partition_point(|it| it.standing.mark.ordinal <= number);
        after.saturating_sub(1)
    }

    /// The open nodes at a checkpoint, outermost first, and the number of rows at the top level before it.
    pub(crate) fn open_at(&self, checkpoint: usize) -> (Vec<Open>, u64) {
        let Checkpoint { top, below, .. } = &self.checkpoints[checkpoint];
        let (mut children, mut next) = (*below, *top);
        let mut open = Vec::new();
        while let Some(at) = next {
            let span = &self.spans[at as usize];
            open.push(Open {
                node: span.node,
                what: span.what,
                start_ns: span.start_ns,
                position: span.position,
                children,
                span: Some(at),
            });
            (children, next) = (span.position + 1, span.parent);
        }
        open.reverse();
        (open, children)
    }

    /// The number of rows directly below a span, or at the top level, that began before a checkpoint at which it was open.
    pub(crate) fn begun(&self, checkpoint: usize, of: Option<u32>) -> u64 {
        let Checkpoint { top, below, .. } = &self.checkpoints[checkpoint];
        let (mut children, mut next) = (*below, *top);
        while next != of {
            let Some(at) = next else { break };
            let span = &self.spans[at as usize];
            (children, next) = (span.position + 1, span.parent);
        }
        children
    }
}
