//! Merges the events of several threads in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::reader::cursor::ThreadEvents;
use crate::reader::event::Event;
use crate::reader::open::{Thread, Trace};

/// The merged events. Takes memory for threads that run at the same time.
pub struct Events<'a> {
    trace: &'a Trace,
    /// The threads that have not begun, the next one last.
    waiting: Vec<(u64, u32)>,
    running: BinaryHeap<Reverse<Head<'a>>>,
    problems: Vec<String>,
}

struct Head<'a> {
    event: Event,
    rest: ThreadEvents<'a>,
}

impl Head<'_> {
    fn key(&self) -> (u64, u32) {
        (self.event.wall_ns, self.event.thread)
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Head<'_> {}
impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Trace {
    /// The events of all threads, in the order of time.
    pub fn events(&self) -> Events<'_> {
        Events::new(self)
    }

    /// The events of some threads, in the order of time.
    pub fn events_of(&self, threads: impl Fn(&Thread) -> bool) -> Events<'_> {
        Events::of(self, threads)
    }
}

impl<'a> Events<'a> {
    fn new(trace: &'a Trace) -> Events<'a> {
        Events::of(trace, |_| true)
    }

    fn of(trace: &'a Trace, threads: impl Fn(&Thread) -> bool) -> Events<'a> {
        let wanted = trace.threads.iter().filter(|thread| threads(thread));
        let mut waiting: Vec<_> = wanted.map(|thread| (thread.first_ns, thread.id)).collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        Events {
            trace,
            waiting,
            running: BinaryHeap::new(),
            problems: Vec::new(),
        }
    }

    /// What had to be left out so far, in whole sentences.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    fn push(&mut self, mut rest: ThreadEvents<'a>) {
        match rest.next() {
            Some(event) => self.running.push(Reverse(Head { event, rest })),
            None => self.problems.extend_from_slice(rest.problems()),
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        // Threads that begin before the next event come first.
        while let Some(&(first, thread)) = self.waiting.last()
            && self
                .running
                .peek()
                .is_none_or(|Reverse(head)| first <= head.event.wall_ns)
        {
            self.waiting.pop();
            let events = self.trace.thread_events(thread);
            self.push(events);
        }
        let Reverse(Head { event, rest }) = self.running.pop()?;
        self.push(rest);
        Some(event)
    }
}
