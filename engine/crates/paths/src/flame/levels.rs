//! The boxes of a merged path, level by level.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::costs::{Cost, Costs};
use super::nodes::Nodes;
use super::stack::Stack;

/// With at least this many items, a second thread is worth starting.
const MANY: usize = 8_000;

/// The items of one box.
pub(super) struct Group<I, C> {
    pub(crate) key: u32,
    /// The first node that the box stands for.
    pub(crate) sample: Option<u32>,
    /// Those on which something can be.
    pub(crate) items: Vec<I>,
    pub(crate) cost: C,
}

/// The boxes on a box.
pub(super) struct OnBox<I, C> {
    /// Those that are wide enough, the widest first.
    pub(crate) groups: Vec<Group<I, C>>,
    /// The cost of all, the narrow ones too.
    pub(crate) all: C,
}

/// The scratch space of two threads. The second one is used for large levels.
pub(super) struct Scratches<I, C>([Scratch<I, C>; 2]);

/// One thread's scratch space.
struct Scratch<I, C> {
    /// For each number of a name, the position of its sum.
    place: Vec<u32>,
    /// One for each name that occurs, in the order in which they do.
    sums: Vec<Sum<C>>,
    /// The items of the boxes on a box in the order of nodes, each with the position of its sum.
    next: Vec<(u32, I)>,
}

/// The sum of the items with one name.
struct Sum<C> {
    key: u32,
    /// The first node.
    sample: u32,
    /// The number of items.
    count: u32,
    /// The position of its group, if it is wide enough.
    group: u32,
    cost: C,
}

/// No position.
const NONE: u32 = u32::MAX;

impl<I: Copy + Send + Sync, C: Cost> Scratches<I, C> {
    /// `keys` is the upper bound of the numbers of names.
    pub(crate) fn new(keys: usize) -> Self {
        Scratches([keys, keys].map(|keys| Scratch {
            place: vec![NONE; keys],
            sums: Vec::new(),
            next: Vec::new(),
        }))
    }

    /// What is on each of these boxes, without boxes narrower than `least`.
    pub(crate) fn level<S: Stack<C, Item = I>>(
        &mut self,
        nodes: &(impl Nodes<Cost = C> + Sync),
        boxes: &[Vec<I>],
        least: f64,
    ) -> Vec<OnBox<I, C>> {
        let items: usize = boxes.iter().map(Vec::len).sum();
        if items < MANY || boxes.len() == 1 {
            let on = |items: &Vec<I>| self.on_box::<S>(nodes, items, least);
            return boxes.iter().map(on).collect();
        }
        // Both threads share a large box, and take the others in turn.
        let mut on: Vec<Option<OnBox<I, C>>> = Vec::new();
        on.resize_with(boxes.len(), || None);
        for (on, items) in on.iter_mut().zip(boxes) {
            if items.len() >= MANY {
                *on = Some(self.on_box::<S>(nodes, items, least));
            }
        }
        let turn = AtomicUsize::new(0);
        let take = |scratch: &mut Scratch<I, C>| {
            let mut found = Vec::new();
            loop {
                let at = turn.fetch_add(1, Ordering::Relaxed);
                let Some(items) = boxes.get(at) else {
                    return found;
                };
                if items.len() < MANY {
                    found.push((at, scratch.on_box::<S>(nodes, items, least)));
                }
            }
        };
        let [one, other] = &mut self.0;
        let (first, second) = thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, || take(other));
            let first = take(one);
            let second = thread.map_or(Vec::new(), |thread| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            });
            (first, second)
        });
        for (at, found) in first.into_iter().chain(second) {
            on[at] = Some(found);
        }
        let all = on.into_iter();
        all.map(|it| it.expect("each box was taken")).collect()
    }

    /// What is on one box, without boxes narrower than `least`.
    pub(crate) fn on_box<S: Stack<C, Item = I>>(
        &mut self,
        nodes: &(impl Nodes<Cost = C> + Sync),
        items: &[I],
        least: f64,
    ) -> OnBox<I, C> {
        let [one, other] = &mut self.0;
        if items.len() < MANY {
            return one.on_box::<S>(nodes, items, least);
        }
        let (first, second) = items.split_at(items.len() / 2);
        thread::scope(|scope| {
            let thread = thread::Builder::new();
            let started = thread.spawn_scoped(scope, || other.sum::<S>(nodes, second));
            one.sum::<S>(nodes, first);
            match started {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => one.sum::<S>(nodes, second),
            }
        });
        for sum in &mut other.sums {
            let into = one.sum_of(sum.key, sum.sample);
            one.sums[into as usize].count += sum.count;
            one.sums[into as usize].cost.add(sum.cost);
            // For now the position of the sum of both.
            sum.group = into;
        }
        let mut on = one.groups(least);
        for sum in &mut other.sums {
            sum.group = one.sums[sum.group as usize].group;
        }
        if !on.groups.is_empty() {
            one.collect(&mut on.groups);
            other.collect(&mut on.groups);
        }
        one.clear();
        other.clear();
        on.sorted()
    }
}

impl<I: Copy, C: Cost> Scratch<I, C> {
    /// What is on one box. Sums are computed first, so that items of narrow groups are never collected.
    fn on_box<S: Stack<C, Item = I>>(
        &mut self,
        nodes: &impl Nodes<Cost = C>,
        items: &[I],
        least: f64,
    ) -> OnBox<I, C> {
        self.sum::<S>(nodes, items);
        let mut on = self.groups(least);
        if !on.groups.is_empty() {
            self.collect(&mut on.groups);
        }
        self.clear();
        on.sorted()
    }

    /// Sums what is on these items by name.
    fn sum<S: Stack<C, Item = I>>(&mut self, nodes: &impl Nodes<Cost = C>, items: &[I]) {
        S::each_next(nodes, items, |item, (n, key), cost| {
            if let Some(item) = item
                && let Some((at, last)) = self.next.last_mut()
                && S::join(last, item)
            {
                self.sums[*at as usize].cost.add(cost);
                return;
            }
            let at = self.sum_of(key, n);
            let sum = &mut self.sums[at as usize];
            sum.cost.add(cost);
            if let Some(item) = item {
                sum.count += 1;
                self.next.push((at, item));
            }
        });
    }

    /// The position of a name's sum. If there is none, a node of the name is its first.
    fn sum_of(&mut self, key: u32, node: u32) -> u32 {
        let place = &mut self.place[key as usize];
        if *place == NONE {
            *place = self.sums.len() as u32;
            self.sums.push(Sum {
                key,
                sample: node,
                count: 0,
                group: NONE,
                cost: C::NOTHING,
            });
        }
        *place
    }

    /// A group without items for each sum that is wide enough.
    fn groups(&mut self, least: f64) -> OnBox<I, C> {
        let mut on: OnBox<I, C> = OnBox::default();
        for sum in &mut self.sums {
            on.all.add(sum.cost);
            let Costs { weight, .. } = sum.cost.costs();
            sum.group = NONE;
            if weight >= least && weight > 0.0 {
                sum.group = on.groups.len() as u32;
                on.groups.push(Group {
                    key: sum.key,
                    sample: Some(sum.sample),
                    items: Vec::with_capacity(sum.count as usize),
                    cost: sum.cost,
                });
            }
        }
        on
    }

    /// Appends the items to their groups.
    fn collect(&self, groups: &mut [Group<I, C>]) {
        for &(at, item) in &self.next {
            let group = self.sums[at as usize].group;
            if let Some(group) = groups.get_mut(group as usize) {
                group.items.push(item);
            }
        }
    }

    fn clear(&mut self) {
        for sum in &self.sums {
            self.place[sum.key as usize] = NONE;
        }
        self.sums.clear();
        self.next.clear();
    }
}

impl<I, C: Cost> Default for OnBox<I, C> {
    fn default() -> Self {
        OnBox {
            groups: Vec::new(),
            all: C::NOTHING,
        }
    }
}

impl<I, C: Cost> OnBox<I, C> {
    pub(super) fn sorted(mut self) -> Self {
        self.groups.sort_by(|a, b| {
            let [of_a, of_b] = [a, b].map(|it| it.cost.costs().weight);
            of_b.total_cmp(&of_a).then(a.key.cmp(&b.key))
        });
        self
    }
}
