//! Queues by number, and the threads that put into them (Whodunit §3.4).
//!
//! If threads both take from a queue and put back into it, it is a pool, such as one of connections, and nothing flows
//! through it. So a thread is either a producer or a consumer of a queue. Once a thread turns out to be both, objects no
//! longer flow through the queue. Tasks still do, because nobody pools them.

use std::collections::BTreeSet;

use fulcrum_preload::quiet::Shared;

/// The most threads of a role that are told apart.
const MOST: usize = 4096;
/// The most queues that are told apart. A program may create one for each request.
const MOST_QUEUES: usize = 1 << 16;
/// The number of all further queues.
pub(crate) const UNNUMBERED: u64 = u64::MAX;

/// What a thread does with a queue.
enum Role {
    Producer,
    Consumer,
}

#[derive(Default)]
struct Queue {
    producers: BTreeSet<u64>,
    consumers: BTreeSet<u64>,
    is_pool: bool,
}

static ALL: Shared<Vec<Queue>> = Shared::new(Vec::new());

impl Queue {
    fn note(&mut self, thread: u64, role: Role) {
        if self.is_pool {
            return;
        }
        let (own, others) = match role {
            Role::Producer => (&mut self.producers, &self.consumers),
            Role::Consumer => (&mut self.consumers, &self.producers),
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

/// The number of a new queue, from 1, or `None` if there are too many. Only tasks flow through further queues.
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

/// A thread puts an object that is not a task into the queue. Returns whether it flows.
pub(crate) fn produces(number: u64, thread: u64) -> bool {
    let flows = of(number, |queue| {
        queue.note(thread, Role::Producer);
        !queue.is_pool
    });
    flows.unwrap_or(false)
}

/// A thread takes an object from the queue, or checks whether there is one.
pub(crate) fn consumes(number: u64, thread: u64) {
    of(number, |queue| queue.note(thread, Role::Consumer));
}

/// Whether objects that are not tasks flow through the queue.
pub(crate) fn flows(number: u64) -> bool {
    of(number, |queue| !queue.is_pool).unwrap_or(false)
}
