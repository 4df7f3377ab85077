//! Lists of producers and consumers, by lock and producing store, and the flow through each (Whodunit §3.2, §3.4).

use crate::flows::{Flow, Flows};
use crate::ids::Synopsis;
use crate::ids::{CodeAddress, ListId, LockId, ThreadId};
use crate::numbers::{Map, Set};
use crate::recycling::{Fate, Recycling};

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
    /// Whether a thread both produced and consumed, or its objects are free ones, so that none of this was flow.
    pub demoted: bool,
}

#[derive(Debug)]
struct List {
    lock: LockId,
    store: CodeAddress,
    producers: Set<ThreadId>,
    consumers: Set<ThreadId>,
    /// A known producer, and a known consumer, that need not be looked up.
    last_producer: Option<ThreadId>,
    last_consumer: Option<ThreadId>,
    /// Where the section began that produced last.
    from: Place,
    /// Where the sections began of which the sites were told last, and how often flows had been forgotten then.
    to: Option<(Place, Place, u32)>,
    demoted: bool,
    consumed: u64,
    /// What is known about the objects that are put in and taken out (rule 10).
    recycling: Recycling,
    /// By the producer's and the consumer's context.
    flows: Flows,
}

/// Where a section began: the site and the lock.
pub(crate) type Place = (CodeAddress, LockId);

/// The number of lists that are found without a search.
const RECENT: usize = 64;
/// One of so many consumptions is told to the sites.
const TOLD: u64 = 64;

/// All lists of a process.
#[derive(Debug)]
pub(crate) struct Lists {
    lists: Vec<List>,
    index: Map<(LockId, CodeAddress), ListId>,
    /// Lists by their stores' addresses.
    recent: [Option<((LockId, CodeAddress), ListId)>; RECENT],
    limits: ListLimits,
    /// Stores left without a list.
    stores_left_out: u64,
    /// Lists with apparent flow that were demoted since [`Self::take_demoted`] was last called.
    demoted: Vec<ListId>,
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
            recent: [None; RECENT],
            limits,
            stores_left_out: 0,
            demoted: Vec::new(),
        }
    }

    /// A thread stores a value of its own. Returns the list of what it produced, or `None` when nothing flows through this
    /// store.
    #[inline]
    pub(crate) fn produce(
        &mut self,
        key: (LockId, CodeAddress),
        by: ThreadId,
        from: Place,
    ) -> Option<ListId> {
        let recent = self.recent[key.1.0 as usize % RECENT];
        let id = match recent {
            Some((of, id)) if of == key => id,
            _ => self.list(key)?,
        };
        let list = &mut self.lists[id.0 as usize];
        list.from = from;
        if list.last_producer == Some(by) && !list.demoted {
            return Some(id);
        }
        self.produce_as(id, by)
    }

    fn produce_as(&mut self, id: ListId, by: ThreadId) -> Option<ListId> {
        let list = &mut self.lists[id.0 as usize];
        if !list.demoted && list.consumers.contains(&by) {
            list.demoted = true;
            self.demoted.push(id);
        }
        if list.demoted {
            return None;
        }
        if list.producers.len() < self.limits.members {
            list.producers.insert(by);
            list.last_producer = Some(by);
        }
        Some(id)
    }

    fn list(&mut self, key: (LockId, CodeAddress)) -> Option<ListId> {
        let id = match self.index.get(&key) {
            Some(&id) => id,
            None => self.new_list(key)?,
        };
        self.recent[key.1.0 as usize % RECENT] = Some((key, id));
        Some(id)
    }

    fn new_list(&mut self, (lock, store): (LockId, CodeAddress)) -> Option<ListId> {
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
            last_producer: None,
            last_consumer: None,
            from: (CodeAddress(0), lock),
            to: None,
            demoted: false,
            consumed: 0,
            recycling: Recycling::new(),
            flows: Flows::with_limit(self.limits.pairs),
        });
        self.index.insert((lock, store), id);
        Some(id)
    }

    /// The head of a list of free objects, and its lock.
    pub(crate) fn free_head(&self, id: ListId) -> Option<(u64, LockId)> {
        let list = &self.lists[id.0 as usize];
        Some((list.recycling.head()?, list.lock))
    }

    /// Takes a list that was demoted after something had apparently flowed through it.
    pub(crate) fn take_demoted(&mut self) -> Option<ListId> {
        self.demoted.pop()
    }

    /// A thread uses what another one produced. Returns the lock and the store, or `None` when this is no flow.
    pub(crate) fn consume(
        &mut self,
        id: ListId,
        by: ThreadId,
        from: Synopsis,
        to: Synopsis,
    ) -> Option<(LockId, CodeAddress)> {
        let list = &mut self.lists[id.0 as usize];
        list.consumed += 1;
        let is_known = list.last_consumer == Some(by);
        if !list.demoted && !is_known && list.producers.contains(&by) {
            list.demoted = true;
            if !list.consumers.is_empty() {
                self.demoted.push(id);
            }
        }
        if list.demoted {
            return None;
        }
        if list.last_consumer != Some(by) && list.consumers.len() < self.limits.members {
            list.consumers.insert(by);
            list.last_consumer = Some(by);
        }
        list.flows.add(from, to);
        Some((list.lock, list.store))
    }

    /// Where something was produced that has just been consumed, if the sites must be told. They need not be told every time.
    /// `forgotten` counts how often they have forgotten flows.
    #[inline]
    pub(crate) fn place_to_tell(&mut self, id: ListId, to: Place, forgotten: u32) -> Option<Place> {
        let list = &mut self.lists[id.0 as usize];
        let now = Some((list.from, to, forgotten));
        if list.to == now && !list.consumed.is_multiple_of(TOLD) {
            return None;
        }
        list.to = now;
        Some(list.from)
    }

    /// Whether it is worth observing what a thread does with an object that it has taken (rule 10).
    pub(crate) fn tries(&mut self, id: ListId) -> bool {
        let list = &mut self.lists[id.0 as usize];
        !list.demoted && list.recycling.tries()
    }

    /// Whether the list may still turn out to be one of free objects.
    pub(crate) fn is_undecided(&self, id: ListId) -> bool {
        let list = &self.lists[id.0 as usize];
        !list.demoted && list.recycling.is_undecided()
    }

    /// A thread puts an object into a list by storing it at an address. `source` is the list from which it has taken the object.
    pub(crate) fn put_in(&mut self, id: ListId, address: u64, source: Option<ListId>) {
        let list = &mut self.lists[id.0 as usize];
        list.recycling.put_in(address, source);
        self.judge(id);
    }

    /// The fate of an object taken from a list.
    pub(crate) fn tried(&mut self, id: ListId, fate: Fate) {
        let list = &mut self.lists[id.0 as usize];
        list.recycling.taken_out(fate);
        self.judge(id);
    }

    /// Nothing flows through a list of free objects.
    fn judge(&mut self, id: ListId) {
        let list = &mut self.lists[id.0 as usize];
        if !list.demoted && list.recycling.is_of_free_objects() {
            list.demoted = true;
            self.demoted.push(id);
        }
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

    const LIMITS: ListLimits = ListLimits {
        lists: 2,
        members: 2,
        pairs: 2,
    };
    const LOCK: LockId = LockId(1);
    const STORE: CodeAddress = CodeAddress(10);
    const PLACE: Place = (CodeAddress(1), LOCK);

    fn context(number: u32) -> Synopsis {
        Synopsis::from_number(number)
    }

    fn demoted(lists: &Lists) -> Vec<bool> {
        lists.summaries().map(|it| it.demoted).collect()
    }

    #[test]
    fn a_thread_in_both_roles_takes_back_all_that_flowed() {
        for producer_consumes in [true, false] {
            let mut lists = Lists::new(LIMITS);
            let list = lists.produce((LOCK, STORE), ThreadId(1), PLACE).unwrap();
            let mut consume = |by| lists.consume(list, ThreadId(by), context(1), context(2));
            assert_eq!(consume(2), Some((LOCK, STORE)));
            match producer_consumes {
                true => assert_eq!(consume(1), None),
                false => assert_eq!(lists.produce((LOCK, STORE), ThreadId(2), PLACE), None),
            }
            assert_eq!(demoted(&lists), [true]);
            assert_eq!(lists.flows(), []);
            assert_eq!(lists.take_demoted(), Some(list));
            assert_eq!(lists.take_demoted(), None);
            assert_eq!(
                lists.consume(list, ThreadId(3), context(1), context(2)),
                None
            );
        }
    }

    /// Rule 9: one lock may protect both a queue and a free list.
    #[test]
    fn another_store_under_the_same_lock_is_another_list() {
        let mut lists = Lists::new(LIMITS);
        let queue = lists.produce((LOCK, STORE), ThreadId(1), PLACE).unwrap();
        let free = lists
            .produce((LOCK, CodeAddress(20)), ThreadId(2), PLACE)
            .unwrap();
        assert_ne!(queue, free);
        assert!(
            lists
                .consume(queue, ThreadId(2), context(1), context(2))
                .is_some()
        );
        assert!(
            lists
                .consume(free, ThreadId(2), context(1), context(2))
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
        let list = lists.produce((LOCK, STORE), ThreadId(1), PLACE).unwrap();
        lists
            .produce((LOCK, CodeAddress(20)), ThreadId(1), PLACE)
            .unwrap();
        assert_eq!(
            lists.produce((LOCK, CodeAddress(30)), ThreadId(1), PLACE),
            None
        );
        assert_eq!(lists.left_out(), 1);
        for from in 1..=3 {
            lists
                .consume(list, ThreadId(2), context(from), context(9))
                .unwrap();
        }
        assert_eq!((lists.flows().len(), lists.left_out()), (2, 2));
    }
}
