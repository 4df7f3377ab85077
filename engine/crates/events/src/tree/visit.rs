//! Visits all rows of a trace, each as soon as it has ended.

use std::ops::ControlFlow;

use fulcrum_model::{Cancelled, Progress};

use crate::index::rows::{point, row_of};
use crate::query::Subject;
use crate::reader::open::{Thread, Trace};
use crate::tree::walk::{Open, Passed, Walk, parking};

/// A part of a trace.
#[derive(Clone, Debug)]
pub struct TraceRange {
    /// The numbers of the threads, ascending. `None` for all.
    pub threads: Option<Vec<u32>>,
    /// The earliest time at which rows begin, in nanoseconds since the log's start.
    pub from_ns: u64,
    /// The latest time at which rows begin.
    pub to_ns: u64,
}

impl Default for TraceRange {
    fn default() -> TraceRange {
        TraceRange {
            threads: None,
            from_ns: 0,
            to_ns: u64::MAX,
        }
    }
}

impl TraceRange {
    /// Whether a thread is in it.
    pub fn has_thread(&self, id: u32) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|it| it.binary_search(&id).is_ok())
    }

    /// Whether a time is in it.
    pub fn has_time(&self, ns: u64) -> bool {
        (self.from_ns..=self.to_ns).contains(&ns)
    }

    /// The threads of a trace that are in it.
    pub fn threads<'a>(&'a self, trace: &'a Trace) -> impl Iterator<Item = &'a Thread> {
        trace.threads.iter().filter(|it| self.has_thread(it.id))
    }
}

/// Visits rows thread by thread, each when it has ended, until `show` breaks. Returns what had to be left out, in whole sentences.
pub(crate) fn visit(
    trace: &Trace,
    scope: &TraceRange,
    progress: &Progress,
    mut show: impl FnMut(&Subject<'_>) -> ControlFlow<()>,
) -> Result<Vec<String>, Cancelled> {
    let parking = parking(trace);
    let mut problems = Vec::new();
    let mut above: Vec<Open> = Vec::new();
    let mut passed = Passed::new(progress, scope.threads(trace));
    for thread in scope.threads(trace) {
        passed.enter(thread);
        let mut walk = Walk::new(trace, thread.id, &parking);
        loop {
            let event = walk.step_with(&passed)?;
            for (at, (outcome, open)) in walk.ended.iter().enumerate() {
                if !scope.has_time(outcome.start_ns) {
                    continue;
                }
                let rest = &walk.ended[at + 1..];
                let above = match rest {
                    [] => &walk.open,
                    _ => {
                        above.clear();
                        above.extend_from_slice(&walk.open);
                        above.extend(rest.iter().rev().map(|(_, open)| *open));
                        &above
                    }
                };
                let row = row_of(thread.id, outcome, open, &walk);
                let subject = Subject {
                    trace,
                    row: &row,
                    above,
                };
                if show(&subject).is_break() {
                    return passed.finish().map(|()| problems);
                }
            }
            let Some(event) = event else { break };
            if let Some(position) = walk.point
                && scope.has_time(event.wall_ns)
            {
                let row = point(thread.id, &walk, position, event.what);
                let subject = Subject {
                    trace,
                    row: &row,
                    above: &walk.open,
                };
                if show(&subject).is_break() {
                    return passed.finish().map(|()| problems);
                }
            }
        }
        problems.extend_from_slice(walk.problems());
    }
    passed.finish()?;
    Ok(problems)
}
