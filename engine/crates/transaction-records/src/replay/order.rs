//! The order in which the records of all threads are taken: by time, but none before what it depends on.
//!
//! Regardless of clocks, a message is received after it was sent, a thread begins after it was created, and an item is
//! consumed after it was produced. Sent bytes may arrive as soon as the sending call has begun. If nothing can continue
//! because a cause was lost or records are damaged, the earliest record continues anyway.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use fulcrum_model::{Cancelled, Progress};
use fulcrum_wire::transactions::{Head, Record};

use super::state::doing::ThreadRow;
use super::state::world::{Cause, World};
use crate::log::{Log, Position};

/// The records of one thread.
struct Queue<'a> {
    log: usize,
    row: usize,
    /// The next record, and the position after it.
    next: Option<(Head, Record<'a>, Position)>,
}

/// When a thread's next record happened, on the first process's clock.
type Turn = (i64, ThreadRow);

/// Threads, by what they are waiting for.
struct Order<'a> {
    queues: Vec<Queue<'a>>,
    ready: BinaryHeap<Reverse<Turn>>,
    blocked: BTreeSet<Turn>,
    waiting: HashMap<Cause, Vec<Turn>>,
    /// The number of records taken.
    taken: usize,
    /// When windows of which run end, by both clocks, the next one last.
    ends: Vec<(i64, usize, u64)>,
}

/// The number of records between two checks for cancellation.
const CANCEL_CHECK_INTERVAL: usize = 4096;

/// Takes all records.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn run(
    logs: &[Log<'_>],
    world: &mut World<'_>,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let of_log = |log: &Log<'_>| -> usize {
        let rows = 0..log.threads().len();
        rows.map(|row| log.records(row).count()).sum()
    };
    let all: usize = logs.iter().map(of_log).sum();
    let mut order = Order {
        queues: Vec::new(),
        ready: BinaryHeap::new(),
        blocked: BTreeSet::new(),
        waiting: HashMap::new(),
        taken: 0,
        ends: world.index.window_ends(),
    };
    order.ends.reverse();
    for (log, of_log) in logs.iter().enumerate() {
        for row in 0..of_log.threads().len() {
            let next = of_log.record_at(row, Position::default());
            order.queues.push(Queue { log, row, next });
            let thread = ThreadRow(order.queues.len() - 1);
            order.line_up(logs, world, thread);
        }
    }
    let mut next_check = 0;
    loop {
        if order.taken >= next_check {
            progress.at(order.taken as f64 / all.max(1) as f64)?;
            next_check = order.taken + CANCEL_CHECK_INTERVAL;
        }
        if order.ends_window(logs, world) {
            continue;
        }
        if let Some(Reverse((time, thread))) = order.ready.pop() {
            order.try_next(logs, world, (time, thread));
        } else if let Some((_, thread)) = order.blocked.pop_first() {
            world.forced += 1;
            order.take(logs, world, thread);
        } else {
            return Ok(());
        }
    }
}

/// When the thread's next record happened. Sent bytes may have arrived, and may even have been answered, before the sending
/// call returns.
fn happened_ns<'a>(log: &Log<'a>, row: usize, next: &(Head, Record<'a>, Position)) -> u64 {
    let mut next = *next;
    loop {
        let (head, record, position) = next;
        match record {
            Record::Send { began_ns, .. } => return head.time_ns.min(began_ns),
            // These are written for the record that follows them.
            Record::Path { .. } | Record::Module { .. } | Record::Function { .. } => {
                match log.record_at(row, position) {
                    Some(after) => next = after,
                    None => return head.time_ns,
                }
            }
            _ => return head.time_ns,
        }
    }
}

impl<'a> Order<'a> {
    /// If the next record comes after the end of a window, ends the window. What still waits there waits in vain, for something that
    /// was not recorded. Returns whether there was anything to do.
    fn ends_window(&mut self, logs: &[Log<'a>], world: &mut World<'_>) -> bool {
        let Some(&(end, run, end_ns)) = self.ends.last() else {
            return false;
        };
        let next = self.ready.peek().map(|Reverse((time, _))| *time);
        if next.is_some_and(|it| it < end) || next.is_none() && self.blocked.is_empty() {
            return false;
        }
        let mut late = self.blocked.iter().take_while(|(time, _)| *time < end);
        let of_run = late
            .find(|(_, thread)| world.run_of(*thread) == run)
            .copied();
        match of_run {
            Some(turn) => {
                self.blocked.remove(&turn);
                self.take(logs, world, turn.1);
            }
            None => {
                self.ends.pop();
                world.ends_window(run, end_ns);
            }
        }
        true
    }

    fn line_up(&mut self, logs: &[Log<'a>], world: &mut World<'_>, thread: ThreadRow) {
        let queue = &self.queues[thread];
        match &queue.next {
            Some(next) => {
                let time_ns = happened_ns(&logs[queue.log], queue.row, next);
                let time = world.index.shared_time(queue.log, time_ns);
                self.ready.push(Reverse((time, thread)));
            }
            None => world.ends(thread),
        }
    }

    fn try_next(&mut self, logs: &[Log<'a>], world: &mut World<'_>, turn: Turn) {
        let (_, thread) = turn;
        let Some((head, record, _)) = &self.queues[thread].next else {
            return;
        };
        match world.obstacle(thread, (*head, record)) {
            Some(cause) => {
                self.blocked.insert(turn);
                self.waiting.entry(cause).or_default().push(turn);
            }
            None => self.take(logs, world, thread),
        }
    }

    fn take(&mut self, logs: &[Log<'a>], world: &mut World<'_>, thread: ThreadRow) {
        let queue = &mut self.queues[thread];
        let Some((head, record, position)) = queue.next else {
            return;
        };
        world.apply(thread, head, &record);
        self.taken += 1;
        queue.next = logs[queue.log].record_at(queue.row, position);
        self.line_up(logs, world, thread);
        for cause in std::mem::take(&mut world.possible) {
            for turn in self.waiting.remove(&cause).unwrap_or_default() {
                if self.blocked.remove(&turn) {
                    self.ready.push(Reverse(turn));
                }
            }
        }
    }
}
