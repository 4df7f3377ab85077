//! Lists of producers and consumers, by lock and producing store, and the flow through each (Whodunit §3.2, §3.4).

use crate::flows::{Flow, Flows};
use crate::ids::{CodeAddress, ListId, LockId, Synopsis, ThreadId};
use crate::numbers::{Map, Set};
use crate::pools::{Push, Use};

/// A thread consumed what another one had produced: a transaction flowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consumption {
    /// The producer's context at the store.
    pub from: Synopsis,
    /// The consumer's context at the first use.
    pub to: Synopsis,
    /// The producing thread.
    pub producer: ThreadId,
    /// The consuming thread.
    pub consumer: ThreadId,
    /// The lock that protects the resource.
    pub lock: LockId,
    /// The storing instruction.
    pub store: CodeAddress,
    /// The list that the value was consumed from. It may turn out later that no transaction flows through it
    /// ([`FlowDetector::take_demoted`](crate::FlowDetector::take_demoted)).
    pub list: ListId,
}

/// What flowed through a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSummary {
    /// The lock.
    pub lock: LockId,
    /// The producing store.
    pub store: CodeAddress,
    /// How often a value was consumed.
    pub consumed: u64,
    /// Whether a thread both produced and consumed, or the list is one of free objects, so that none of this was flow.
    pub demoted: bool,
}

#[derive(Debug)]
struct List {
    lock: LockId,
    store: CodeAddress,
    producers: Set<ThreadId>,
    consumers: Set<ThreadId>,
    demoted: bool,
    /// Whether it may be a list of free objects.
    used: Use,
    consumed: u64,
    /// By the producer's and the consumer's context.
    flows: Flows,
}

/// A thread took a value from a list.
#[derive(Clone, Copy, Debug)]
struct Taken {
    list: ListId,
    by: ThreadId,
    /// It was pushed into another list since.
    is_reused: bool,
}

/// The most taken values that are remembered. Beyond this, all are forgotten.
const MOST_TAKEN: usize = 4096;

/// All lists of a process.
#[derive(Debug)]
pub(crate) struct Lists {
    lists: Vec<List>,
    index: Map<(LockId, CodeAddress), ListId>,
    limits: ListLimits,
    /// Stores left without a list.
    stores_left_out: u64,
    /// Lists with apparent flow that were demoted since [`Self::take_demoted`] was last called.
    demoted: Vec<ListId>,
    /// Lists that may be lists of free objects.
    undecided: usize,
    /// Who took which value from which list last. A list that is yet to come may be one of free objects.
    taken: Map<u64, Taken>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ListLimits {
    pub(crate) lists: usize,
    /// Threads remembered in each role of a list. Conflicts of later threads go unnoticed.
    pub(crate) members: usize,
    /// Pairs of contexts in each list.
    pub(crate) pairs: usize,
}

impl Lists {
    pub(crate) fn new(limits: ListLimits) -> Self {
        Lists {
            lists: Vec::new(),
            index: Map::default(),
            limits,
            stores_left_out: 0,
            demoted: Vec::new(),
            undecided: 0,
            taken: Map::default(),
        }
    }

    /// A thread stores a value of its own. Returns the list of what it produced, or `None` when nothing flows through this
    /// store.
    pub(crate) fn produce(&mut self, push: &Push) -> Option<ListId> {
        let id = self.list(push)?;
        let list = &mut self.lists[id.0 as usize];
        if list.demoted {
            return None;
        }
        if list.consumers.contains(&push.by) {
            self.demote(id);
            return None;
        }
        if list.producers.len() < self.limits.members {
            list.producers.insert(push.by);
        }
        if self.undecided > 0 {
            self.follow(id, push);
        }
        Some(id)
    }

    /// Nothing flows through a list.
    fn demote(&mut self, id: ListId) {
        let list = &mut self.lists[id.0 as usize];
        list.demoted = true;
        self.undecided -= usize::from(list.used.is_undecided());
        list.used = Use::Other;
        if !list.consumers.is_empty() {
            self.demoted.push(id);
        }
    }

    /// Rule 10: where did the pushed object come from?
    fn follow(&mut self, id: ListId, push: &Push) {
        let taken = self.taken.get_mut(&push.value);
        let taken = taken.filter(|it| it.by == push.by && it.list != id);
        let source = taken.as_ref().map(|it| it.list);
        let is_first = taken.is_some_and(|it| !std::mem::replace(&mut it.is_reused, true));
        let used = &mut self.lists[id.0 as usize].used;
        let was_undecided = used.is_undecided();
        used.pushed(push, source);
        self.undecided -= usize::from(was_undecided && !used.is_undecided());
        let Some(source) = source.filter(|_| is_first) else {
            return;
        };
        let used = &mut self.lists[source.0 as usize].used;
        used.reused(id);
        if used.is_pool() {
            self.demote(source);
        }
    }

    fn list(&mut self, push: &Push) -> Option<ListId> {
        let (lock, store) = (push.lock, push.store);
        if let Some(&id) = self.index.get(&(lock, store)) {
            return Some(id);
        }
        if self.lists.len() >= self.limits.lists {
            self.stores_left_out += 1;
            return None;
        }
        let id = ListId(self.lists.len() as u32);
        self.lists.push(List {
            lock,
            store,
            producers: Set::default(),
            consumers: Set::default(),
            demoted: false,
            used: Use::new(push.word),
            consumed: 0,
            flows: Flows::with_limit(self.limits.pairs),
        });
        self.undecided += 1;
        self.index.insert((lock, store), id);
        Some(id)
    }

    /// Takes a list that was demoted after something had apparently flowed through it.
    pub(crate) fn take_demoted(&mut self) -> Option<ListId> {
        self.demoted.pop()
    }

    /// A thread uses a value that another one produced. Returns the lock and the store, or `None` when this is no flow.
    pub(crate) fn consume(
        &mut self,
        id: ListId,
        by: ThreadId,
        value: u64,
        (from, to): (Synopsis, Synopsis),
    ) -> Option<(LockId, CodeAddress)> {
        let list = &mut self.lists[id.0 as usize];
        list.consumed += 1;
        if list.demoted {
            return None;
        }
        if list.producers.contains(&by) {
            self.demote(id);
            return None;
        }
        if list.consumers.len() < self.limits.members {
            list.consumers.insert(by);
        }
        list.flows.add(from, to);
        let found = (list.lock, list.store);
        self.remember(id, by, value);
        Some(found)
    }

    fn remember(&mut self, list: ListId, by: ThreadId, value: u64) {
        if self.taken.len() >= MOST_TAKEN && !self.taken.contains_key(&value) {
            self.taken.clear();
        }
        let taken = Taken {
            list,
            by,
            is_reused: false,
        };
        self.taken.insert(value, taken);
    }

    pub(crate) fn left_out(&self) -> u64 {
        let flows = self.lists.iter().map(|it| it.flows.left_out());
        self.stores_left_out + flows.sum::<u64>()
    }

    pub(crate) fn summaries(&self) -> impl Iterator<Item = ListSummary> {
        self.lists.iter().map(|it| ListSummary {
            lock: it.lock,
            store: it.store,
            consumed: it.consumed,
            demoted: it.demoted,
        })
    }

    /// How often a transaction passed from one context to another. Excludes demoted lists.
    pub(crate) fn flows(&self) -> Vec<Flow> {
        let mut all = Flows::with_limit(usize::MAX);
        for list in self.lists.iter().filter(|it| !it.demoted) {
            all.add_all(&list.flows);
        }
        all.ranked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pools::Link;

    const LIMITS: ListLimits = ListLimits {
        lists: 2,
        members: 2,
        pairs: 2,
    };
    const LOCK: LockId = LockId(1);
    const STORE: CodeAddress = CodeAddress(10);

    fn context(number: u32) -> Synopsis {
        Synopsis::from_number(number)
    }

    /// A thread stores a pointer that nothing is known about.
    fn push(store: CodeAddress, by: u32) -> Push {
        Push {
            lock: LOCK,
            store,
            by: ThreadId(by),
            word: 0x8000,
            value: 0x9000,
            link: Link::Unknown,
        }
    }

    fn demoted(lists: &Lists) -> Vec<bool> {
        lists.summaries().map(|it| it.demoted).collect()
    }

    #[test]
    fn a_thread_in_both_roles_takes_back_all_that_flowed() {
        for producer_consumes in [true, false] {
            let mut lists = Lists::new(LIMITS);
            let list = lists.produce(&push(STORE, 1)).unwrap();
            let mut consume = |by| lists.consume(list, ThreadId(by), 0, (context(1), context(2)));
            assert_eq!(consume(2), Some((LOCK, STORE)));
            match producer_consumes {
                true => assert_eq!(consume(1), None),
                false => assert_eq!(lists.produce(&push(STORE, 2)), None),
            }
            assert_eq!(demoted(&lists), [true]);
            assert_eq!(lists.flows(), []);
            assert_eq!(lists.take_demoted(), Some(list));
            assert_eq!(lists.take_demoted(), None);
            assert_eq!(
                lists.consume(list, ThreadId(3), 0, (context(1), context(2))),
                None
            );
        }
    }

    /// Rule 9: one lock may protect both a queue and a free list.
    #[test]
    fn another_store_under_the_same_lock_is_another_list() {
        let mut lists = Lists::new(LIMITS);
        let queue = lists.produce(&push(STORE, 1)).unwrap();
        let free = lists.produce(&push(CodeAddress(20), 2)).unwrap();
        assert_ne!(queue, free);
        assert!(
            lists
                .consume(queue, ThreadId(2), 0, (context(1), context(2)))
                .is_some()
        );
        assert!(
            lists
                .consume(free, ThreadId(2), 0, (context(1), context(2)))
                .is_none()
        );
        assert_eq!(demoted(&lists), [false, true]);
        assert_eq!(lists.take_demoted(), None, "nothing had flowed");
        let flow = Flow {
            from: context(1),
            to: context(2),
            count: 1,
        };
        assert_eq!(lists.flows(), [flow]);
    }

    #[test]
    fn what_exceeds_a_limit_is_counted() {
        let mut lists = Lists::new(LIMITS);
        let list = lists.produce(&push(STORE, 1)).unwrap();
        lists.produce(&push(CodeAddress(20), 1)).unwrap();
        assert_eq!(lists.produce(&push(CodeAddress(30), 1)), None);
        assert_eq!(lists.left_out(), 1);
        for from in 1..=3 {
            lists
                .consume(list, ThreadId(2), 0, (context(from), context(9)))
                .unwrap();
        }
        assert_eq!((lists.flows().len(), lists.left_out()), (2, 2));
    }
}
