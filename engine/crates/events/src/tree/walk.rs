//! Walks through a thread's events, from its beginning or from a checkpoint, and keeps track of open nodes.

use std::collections::HashSet;

use fulcrum_model::{Cancelled, Progress};

use crate::reader::cursor::{Mark, ThreadEvents};
use crate::reader::event::{Event, What};
use crate::reader::open::{Thread, Trace};
use crate::reader::selection::Selection;
use crate::tree::stack::{Closing, Node, Outcome, Stack};
use crate::values::CallValues;

/// An open node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// The number of its event in the thread.
    pub(crate) node: u64,
    pub(crate) what: Node,
    pub(crate) start_ns: u64,
    /// Its position among its siblings.
    pub(crate) position: u64,
    /// The number of its direct children so far.
    pub(crate) children: u64,
    /// Its position among the thread's spans.
    pub(crate) span: Option<u32>,
}

/// The state of a thread, as far as its events show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// None of the others: it runs, or waits for something that is not logged.
    Running,
    /// It waits for a monitor that another thread owns.
    Contended,
    /// It is in `Object.wait`.
    Waiting,
    /// It is in a logged call of `LockSupport.park` or `Thread.sleep`.
    Parked,
}

/// Nanoseconds contended, waiting and parked.
pub(crate) type Blocked = [u64; 3];

/// A position from which a walk can continue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) mark: Mark,
    pub(crate) now: (u64, Option<u64>),
    pub(crate) blocked: Blocked,
}

/// A walk through a thread's events.
pub(crate) struct Walk<'a> {
    events: ThreadEvents<'a>,
    stack: Stack,
    parking: &'a HashSet<u32>,
    pub(crate) open: Vec<Open>,
    /// The nodes that the last event ended, innermost first.
    pub(crate) ended: Vec<(Outcome, Open)>,
    /// The values of open calls, and of calls that the last event ended, by node.
    open_values: Vec<(u64, CallValues)>,
    ended_values: Vec<(u64, CallValues)>,
    /// Whether the last event began the innermost open node.
    pub(crate) began: bool,
    /// If the last event is a row without a duration, its position among its siblings.
    pub(crate) point: Option<u64>,
    /// The number of rows at the top level so far.
    pub(crate) rows: u64,
    /// The times of the last event.
    pub(crate) now: (u64, Option<u64>),
    /// The time in each state other than running, up to the last event.
    pub(crate) blocked: Blocked,
    parked: u32,
    /// The number of calls of [`Self::step_with`].
    steps: u64,
}

/// Reports the progress of a pass over threads, by the bytes of their events.
pub(crate) struct Passed<'a> {
    progress: &'a Progress,
    all: f64,
    done: u64,
    thread: u64,
}

impl<'a> Passed<'a> {
    pub(crate) fn new<'t>(
        progress: &'a Progress,
        threads: impl Iterator<Item = &'t Thread>,
    ) -> Passed<'a> {
        Passed {
            progress,
            all: threads.map(|it| it.bytes).sum::<u64>().max(1) as f64,
            done: 0,
            thread: 0,
        }
    }

    /// Goes on to the next thread.
    pub(crate) fn enter(&mut self, thread: &Thread) {
        self.done += self.thread;
        self.thread = thread.bytes;
    }

    /// Reports the progress after this number of the thread's events.
    fn at(&self, events: u64) -> Result<(), Cancelled> {
        // An event has at least three bytes.
        let here = events.saturating_mul(3).min(self.thread);
        self.progress.at((self.done + here) as f64 / self.all)
    }

    /// Reports the end of the pass.
    pub(crate) fn finish(self) -> Result<(), Cancelled> {
        self.progress.at(1.0)
    }
}

/// The number of events between two reports of progress.
const CANCEL_CHECK_INTERVAL: u64 = 1 << 14;

impl<'a> Walk<'a> {
    pub(crate) fn new(trace: &'a Trace, thread: u32, parking: &'a HashSet<u32>) -> Walk<'a> {
        Walk::selected(trace, thread, parking, trace.selection())
    }

    /// A walk through the events in a selection.
    pub(crate) fn selected(
        trace: &'a Trace,
        thread: u32,
        parking: &'a HashSet<u32>,
        selection: Option<&'a Selection>,
    ) -> Walk<'a> {
        Walk {
            events: trace.selected_events(thread, selection),
            stack: Stack::new(trace.costs),
            parking,
            open: Vec::new(),
            ended: Vec::new(),
            open_values: Vec::new(),
            ended_values: Vec::new(),
            began: false,
            point: None,
            rows: 0,
            now: (0, None),
            blocked: [0; 3],
            parked: 0,
            steps: 0,
        }
    }

    /// Like [`Self::step_or_finish`], but reports progress now and then, beginning with the first event.
    pub(crate) fn step_with(&mut self, passed: &Passed<'_>) -> Result<Option<Event>, Cancelled> {
        if self.steps.is_multiple_of(CANCEL_CHECK_INTERVAL) {
            passed.at(self.steps)?;
        }
        self.steps += 1;
        Ok(self.step_or_finish())
    }

    /// Goes to the next event. Returns `None` after the last event and closes what is still open.
    pub(crate) fn step_or_finish(&mut self) -> Option<Event> {
        let event = self.step();
        if event.is_none() {
            self.finish();
        }
        event
    }

    /// Goes to the next event. The fields say what it begins and ends.
    pub(crate) fn step(&mut self) -> Option<Event> {
        let event = self.events.next()?;
        let number = self.events.number();
        self.pass(&event);
        self.ended.clear();
        self.ended_values.clear();
        self.take_values(&event.what, number);
        let (open, ended) = (&mut self.open, &mut self.ended);
        let begun = self.stack.numbered(&event, number, |outcome| {
            let inside = open.pop().expect("the stack has as many frames");
            ended.push((outcome, inside));
        });
        for (_, open) in &self.ended {
            self.parked -= u32::from(is_parking(self.parking, open.what));
        }
        self.end_values();
        self.began = begun.is_some();
        self.point = None;
        if self.began {
            let what = self.stack.innermost_node().expect("it was opened just now");
            let position = self.add();
            self.parked += u32::from(is_parking(self.parking, what));
            self.open.push(Open {
                node: number,
                what,
                start_ns: event.wall_ns,
                position,
                children: 0,
                span: None,
            });
        } else if is_point(&event.what) {
            self.point = Some(self.add());
        }
        Some(event)
    }

    /// Closes what is still open: the thread has no more events.
    pub(crate) fn finish(&mut self) {
        self.ended.clear();
        self.ended_values.clear();
        (self.began, self.point) = (false, None);
        let (open, ended) = (&mut self.open, &mut self.ended);
        self.stack.finish(|outcome| {
            let inside = open.pop().expect("the stack has as many frames");
            ended.push((outcome, inside));
        });
        self.end_values();
        self.parked = 0;
    }

    /// The number of the last event.
    pub(crate) fn number(&self) -> u64 {
        self.events.number()
    }

    pub(crate) fn problems(&self) -> &[String] {
        self.events.problems()
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            mark: self.events.mark(),
            now: self.now,
            blocked: self.blocked,
        }
    }

    /// Continues elsewhere, with these open nodes and this number of rows at the top level before.
    pub(crate) fn go_to(&mut self, standing: &Standing, open: Vec<Open>, rows: u64) {
        self.events.go_to(standing.mark);
        let frames = open.iter().map(|it| (it.what, it.node, it.start_ns));
        self.stack.resume(frames);
        let parked = open.iter().filter(|it| is_parking(self.parking, it.what));
        self.parked = parked.count() as u32;
        self.open = open;
        self.rows = rows;
        (self.now, self.blocked) = (standing.now, standing.blocked);
        (self.began, self.point) = (false, None);
        self.ended.clear();
        self.open_values.clear();
        self.ended_values.clear();
    }

    /// The values of a call that the last event ended, as far as the walk has passed them.
    pub(crate) fn values_of(&self, node: u64) -> Option<&CallValues> {
        let found = self.ended_values.iter().find(|(it, _)| *it == node);
        found.map(|(_, values)| values)
    }

    /// Keeps the values of an open call from an event.
    fn take_values(&mut self, what: &What, number: u64) {
        let (What::Arguments { method, .. } | What::Returned { method, .. }) = what else {
            return;
        };
        let is = |it: &&Open| it.what == Node::Call { method: *method };
        let Some(node) = self.open.iter().rev().find(is).map(|it| it.node) else {
            return;
        };
        // Arguments follow immediately after the beginning. Others belong to a call whose beginning is lost.
        if matches!(what, What::Arguments { .. }) && node + 1 != number {
            return;
        }
        if self.open_values.last().is_none_or(|(it, _)| *it != node) {
            self.open_values.push((node, CallValues::default()));
        }
        if let Some((_, values)) = self.open_values.last_mut() {
            match what {
                What::Arguments { given, .. } => values.arguments = Some(given.clone()),
                What::Returned { value, .. } => values.returned = Some(value.clone()),
                _ => {}
            }
        }
    }

    /// Moves the values of calls that have ended.
    fn end_values(&mut self) {
        for (outcome, open) in &self.ended {
            // Inner calls that are still here have lost their ends.
            let found = self
                .open_values
                .iter()
                .rposition(|(it, _)| *it == open.node);
            let Some(at) = found else { continue };
            let (node, mut values) = self.open_values.swap_remove(at);
            self.open_values.truncate(at);
            if outcome.closing != Closing::Ended {
                values.returned = None;
            }
            self.ended_values.push((node, values));
        }
    }

    /// The thread's state after the last event.
    pub(crate) fn state(&self) -> State {
        match self.open.last().map(|it| it.what) {
            Some(Node::Contended { .. }) => State::Contended,
            Some(Node::Waiting { .. }) => State::Waiting,
            _ if self.parked > 0 => State::Parked,
            _ => State::Running,
        }
    }

    fn pass(&mut self, event: &Event) {
        let place = match self.state() {
            State::Running => None,
            State::Contended => Some(0),
            State::Waiting => Some(1),
            State::Parked => Some(2),
        };
        if let Some(place) = place {
            self.blocked[place] += event.wall_ns.saturating_sub(self.now.0);
        }
        self.now = (event.wall_ns, event.cpu_ns);
    }

    fn add(&mut self) -> u64 {
        let rows = match self.open.last_mut() {
            Some(parent) => &mut parent.children,
            None => &mut self.rows,
        };
        *rows += 1;
        *rows - 1
    }
}

fn is_parking(parking: &HashSet<u32>, node: Node) -> bool {
    matches!(node, Node::Call { method } if parking.contains(&method))
}

/// Whether an event is a row by itself, without a duration.
fn is_point(what: &What) -> bool {
    match what {
        What::ThreadStart { .. }
        | What::ThreadEnd
        | What::Allocation { .. }
        | What::Release { .. }
        | What::ClassLoad { .. }
        | What::ClassUnload { .. }
        | What::VmStart { .. }
        | What::VmEnd => true,
        What::Enter { .. }
        | What::Exit { .. }
        | What::Objects { .. }
        | What::Result { .. }
        | What::Arguments { .. }
        | What::Returned { .. }
        | What::ContendedEnter { .. }
        | What::ContendedEntered { .. }
        | What::Wait { .. }
        | What::Waited { .. }
        | What::GcStart
        | What::GcEnd => false,
    }
}

/// The methods in which a thread only waits.
pub(crate) fn parking(trace: &Trace) -> HashSet<u32> {
    let methods = trace.methods.iter().filter(|(_, method)| {
        match (method.class.as_str(), method.name.as_str()) {
            ("java.lang.Thread", "sleep") => true,
            (
                "java.util.concurrent.locks.LockSupport"
                | "jdk.internal.misc.Unsafe"
                | "sun.misc.Unsafe",
                name,
            ) => name.starts_with("park"),
            _ => false,
        }
    });
    methods.map(|(id, _)| *id).collect()
}
