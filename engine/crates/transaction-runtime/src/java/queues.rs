//! Queues, by their numbers, and who puts what into them (Whodunit §3.4).
//!
//! What threads take from a queue and put back is a pool, of connections for instance: nothing flows by it. So a thread is a
//! producer of a queue or a consumer. When one turns out to be both, things flow by it no more; tasks do, which are not kept
//! for their own sake.

use std::collections::BTreeSet;

use fulcrum_preload::quiet::Shared;

/// Threads of a role that are told apart.
const MOST: usize = 4096;
/// Queues that are told apart: programs may make one for each request.
const MOST_QUEUES: usize = 1 << 16;
/// What those beyond have as their number.
pub(crate) const UNNUMBERED: u64 = u64::MAX;

#[derive(Default)]
struct Queue {
    producers: BTreeSet<u64>,
    consumers: BTreeSet<u64>,
    is_pool: bool,
}

static ALL: Shared<Vec<Queue>> = Shared::new(Vec::new());

impl Queue {
    fn note(&mut self, thread: u64, is_producer: bool) {
        if self.is_pool {
            return;
        }
        let (own, others) = match is_producer {
            true => (&mut self.producers, &self.consumers),
            false => (&mut self.consumers, &self.producers),
        };
        if others.contains(&thread) {
            *self = Queue {
                is_pool: true,
                ..Queue::default()
            };
        } else if own.len() < MOST {
            own.insert(thread);
        }
    }
}

/// The number of a new one, from 1. `None` when there are too many: by those, tasks alone flow.
pub(crate) fn begin() -> Option<u64> {
    let mut all = ALL.lock_unless_left()?;
    if all.len() == MOST_QUEUES {
        return None;
    }
    all.push(Queue::default());
    Some(all.len() as u64)
}

fn of<T>(number: u64, what: impl FnOnce(&mut Queue) -> T) -> Option<T> {
    let at = usize::try_from(number.checked_sub(1)?).ok()?;
    let mut all = ALL.lock_unless_left()?;
    all.get_mut(at).map(what)
}

/// A thread puts something that is no task into it. Whether it flows.
pub(crate) fn produces(number: u64, thread: u64) -> bool {
    let flows = of(number, |queue| {
        queue.note(thread, true);
        !queue.is_pool
    });
    flows.unwrap_or(false)
}

/// A thread takes something from it, or looks whether there is anything.
pub(crate) fn consumes(number: u64, thread: u64) {
    of(number, |queue| queue.note(thread, false));
}

/// Whether something flows by it that is no task.
pub(crate) fn flows(number: u64) -> bool {
    of(number, |queue| !queue.is_pool).unwrap_or(false)
}
