//! Statistics of a trace: threads, methods, contention.

use std::collections::HashMap;

use crate::reader::clock::since;
use crate::reader::event::{Event, What};
use crate::reader::open::Trace;
use crate::tree::stack::{Closing, Node, Outcome, Stack};

/// The statistics. Times are in nanoseconds, without the cost of probes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The threads, by number.
    pub threads: Vec<ThreadStats>,
    /// The methods, by descending own wall time.
    pub methods: Vec<MethodStats>,
    /// Waiting for monitors that other threads own, by class, the longest first.
    pub contention: Vec<Contention>,
    /// `Object.wait`, by class, the longest first.
    pub waiting: Vec<Contention>,
    /// The number of garbage collections, and their wall time.
    pub collections: (u64, u64),
    /// The number of ends without a beginning, and of beginnings whose end is missing although an outer node has ended.
    pub unbalanced: u64,
    /// What had to be left out, in whole sentences.
    pub problems: Vec<String>,
}

/// The statistics of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadStats {
    /// The number.
    pub id: u32,
    /// The number of its events.
    pub events: u64,
    /// Wall time from its first to its last event.
    pub wall_ns: u64,
    /// CPU time from its first to its last event.
    pub cpu_ns: Option<u64>,
}

/// The statistics of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodStats {
    /// The number.
    pub method: u32,
    /// The number of logged calls.
    pub calls: u64,
    /// The number of calls that were left by an exception.
    pub thrown: u64,
    /// Wall time. Of recursive calls, only the outermost counts.
    pub wall_ns: u64,
    /// CPU time, likewise.
    pub cpu_ns: u64,
    /// Wall time minus that of its calls, waits and contention.
    pub self_wall_ns: u64,
    /// CPU time minus that of its calls.
    pub self_cpu_ns: u64,
}

/// Waiting for objects of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// The class.
    pub class: u32,
    /// The number of waits.
    pub count: u64,
    /// The total duration in all threads.
    pub wall_ns: u64,
}

#[derive(Default)]
struct Sums {
    methods: HashMap<u32, MethodStats>,
    contention: HashMap<u32, Contention>,
    waiting: HashMap<u32, Contention>,
    unbalanced: u64,
    /// The number of open calls of each method.
    active: HashMap<u32, u32>,
}

/// Computes the statistics in one pass over the events that `wanted` accepts.
pub fn stats(trace: &Trace, wanted: impl Fn(&Event) -> bool) -> Stats {
    let mut stats = Stats::default();
    let mut sums = Sums::default();
    for thread in &trace.threads {
        let mut of = ThreadStats {
            id: thread.id,
            ..ThreadStats::default()
        };
        sums.active.clear();
        let mut stack = Stack::new(trace.costs);
        let mut events = trace.thread_events(thread.id);
        let mut collection = None;
        let mut first = None;
        let mut first_cpu = None;
        for event in events.by_ref().filter(|event| wanted(event)) {
            of.events += 1;
            of.wall_ns = event.wall_ns - *first.get_or_insert(event.wall_ns);
            of.cpu_ns = since(&mut first_cpu, event.cpu_ns);
            match event.what {
                What::GcStart => collection = Some(event.wall_ns),
                What::GcEnd => {
                    if let Some(start) = collection.take() {
                        stats.collections.0 += 1;
                        stats.collections.1 += event.wall_ns - start;
                    }
                }
                What::Enter { method } => *sums.active.entry(method).or_default() += 1,
                _ => {}
            }
            stack.event(&event, |outcome| sums.ended(&outcome));
        }
        stack.finish(|outcome| sums.ended(&outcome));
        sums.unbalanced += stack.unmatched();
        stats.problems.extend_from_slice(events.problems());
        stats.threads.push(of);
    }
    stats.methods = sums.methods.into_values().collect();
    stats
        .methods
        .sort_by_key(|it| (std::cmp::Reverse(it.self_wall_ns), it.method));
    stats.contention = sorted(sums.contention);
    stats.waiting = sorted(sums.waiting);
    stats.unbalanced = sums.unbalanced;
    stats
}

fn sorted(sums: HashMap<u32, Contention>) -> Vec<Contention> {
    let mut sums: Vec<_> = sums.into_values().collect();
    sums.sort_by_key(|it| (std::cmp::Reverse(it.wall_ns), it.class));
    sums
}

impl Sums {
    fn ended(&mut self, outcome: &Outcome) {
        self.unbalanced += u64::from(outcome.closing == Closing::Unwound);
        let wall_ns = outcome.times.wall_ns;
        let add = |sums: &mut HashMap<u32, Contention>, class| {
            let sum = sums.entry(class).or_default();
            sum.class = class;
            sum.count += 1;
            sum.wall_ns = sum.wall_ns.saturating_add(wall_ns);
        };
        match outcome.node {
            Node::Contended { class, .. } => add(&mut self.contention, class),
            Node::Waiting { class, .. } => add(&mut self.waiting, class),
            // Counted by their events.
            Node::Collection => {}
            Node::Call { method } => {
                let active = self.active.entry(method).or_default();
                *active = active.saturating_sub(1);
                let outermost = *active == 0;
                let sum = self.methods.entry(method).or_default();
                sum.method = method;
                sum.calls += 1;
                sum.thrown += u64::from(outcome.closing == Closing::Thrown);
                let times = &outcome.times;
                sum.self_wall_ns = sum.self_wall_ns.saturating_add(times.self_wall_ns);
                sum.self_cpu_ns = sum
                    .self_cpu_ns
                    .saturating_add(times.self_cpu_ns.unwrap_or(0));
                if outermost {
                    sum.wall_ns = sum.wall_ns.saturating_add(wall_ns);
                    sum.cpu_ns = sum.cpu_ns.saturating_add(times.cpu_ns.unwrap_or(0));
                }
            }
        }
    }
}
