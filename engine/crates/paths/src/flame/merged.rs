//! The flame graph of a path that is merged over all its contexts: its callers, or its callees.
//!
//! Cost that several occurrences share counts for the outermost of them, as in the path's cum.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use super::costs::{Costs, Width};
use super::layout::{Boxes, Placed, View};
use super::nodes::{Nodes, WithNodes, each_child, parent_of, together};
use super::tree::FlameTree;
use crate::profile::call_tree::region::Cover;

/// The direction of a merged flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedSide {
    /// The callers, the nearest first.
    Callers,
    /// The callees.
    Callees,
}

/// A merged path of a tree.
#[derive(Debug)]
pub struct Merged<'a> {
    tree: &'a FlameTree,
    contexts: Arc<PathOccurrences>,
}

/// The occurrences of a path in a tree. Finding them is the slow part of [`Merged::new`], so callers may keep them.
#[derive(Debug)]
pub struct PathOccurrences {
    side: MergedSide,
    width: Width,
    key: u32,
    /// The cost of everything that they cover.
    total: Costs,
    /// The nodes of the outermost occurrences: for callees the final nodes, for callers the first ones.
    nodes: Vec<u32>,
    /// The cost of what each of them covers. For callers only.
    costs: Vec<Costs>,
}

/// One direction of merging. A box is made of items, one for each occurrence of the path that contributes to it.
trait Stack {
    /// A small type, because there are as many items as the path has contexts.
    type Item: Copy + Send + Sync;

    /// The items of the path itself.
    fn begin(of: &PathOccurrences) -> Vec<Self::Item>;

    fn node(item: Self::Item) -> u32;

    /// Visits the items of the boxes on these items: the item, its node and its costs.
    fn each_next(
        nodes: &impl Nodes,
        items: &[Self::Item],
        visit: impl FnMut(Self::Item, u32, Costs),
    );

    /// Joins `next` to `last` if both are the same place. Returns whether they are.
    fn join(last: &mut Self::Item, next: Self::Item) -> bool;
}

/// Merging callees: an item is a node.
struct Callees;

impl Stack for Callees {
    type Item = u32;

    fn begin(of: &PathOccurrences) -> Vec<u32> {
        of.nodes.clone()
    }

    fn node(n: u32) -> u32 {
        n
    }

    fn each_next(nodes: &impl Nodes, items: &[u32], mut visit: impl FnMut(u32, u32, Costs)) {
        each_child(nodes, items, |n, costs| visit(n, n, costs));
    }

    fn join(_: &mut u32, _: u32) -> bool {
        false
    }
}

/// Merging callers: an item is a node with the costs of the occurrences below it. More and more items have the same caller, so
/// their number falls from level to level.
struct Callers;

impl Stack for Callers {
    type Item = (u32, Costs);

    fn begin(of: &PathOccurrences) -> Vec<(u32, Costs)> {
        of.nodes
            .iter()
            .copied()
            .zip(of.costs.iter().copied())
            .collect()
    }

    fn node((n, _): (u32, Costs)) -> u32 {
        n
    }

    fn each_next(
        nodes: &impl Nodes,
        items: &[(u32, Costs)],
        mut visit: impl FnMut((u32, Costs), u32, Costs),
    ) {
        // The callers' names are far apart in memory.
        let caller = |&(n, _): &(u32, Costs)| parent_of(nodes, n).unwrap_or(n);
        together(nodes, items, caller, |&(n, costs)| {
            if let Some(parent) = parent_of(nodes, n) {
                visit((parent, costs), parent, costs);
            }
        });
    }

    fn join(last: &mut (u32, Costs), next: (u32, Costs)) -> bool {
        let same = last.0 == next.0;
        if same {
            last.1.add(next.1);
        }
        same
    }
}

/// The items of one box.
struct Group<I> {
    key: u32,
    items: Vec<I>,
    costs: Costs,
}

/// With at least this many items, a second thread is worth starting.
const MANY: usize = 8_000;

/// One thread's scratch space.
struct Scratch<I> {
    /// The sums, by the number of the name.
    sums: Vec<Sum>,
    /// The numbers of the names that have a sum.
    keys: Vec<u32>,
    /// The items of the boxes on a box, in the order of nodes.
    next: Vec<(u32, I)>,
}

/// The sum of the items with one name.
#[derive(Clone, Copy)]
struct Sum {
    costs: Costs,
    count: u32,
    /// The position of its group, if it is wide enough.
    group: u32,
}

const NOTHING: Sum = Sum {
    costs: Costs::NOTHING,
    count: 0,
    group: u32::MAX,
};

impl<'a> Merged<'a> {
    /// `None` when the tree does not have the path.
    pub fn new(tree: &'a FlameTree, path: &[&str], side: MergedSide, width: Width) -> Option<Self> {
        let width = if tree.is_comparison() {
            width
        } else {
            Width::A
        };
        let keys = tree.path_keys(path)?;
        let mut contexts = PathOccurrences {
            side,
            width,
            key: *keys.last()?,
            total: Costs::NOTHING,
            nodes: Vec::new(),
            costs: Vec::new(),
        };
        let find = Find {
            tree,
            keys: &keys,
            contexts: &mut contexts,
        };
        tree.with_nodes(width, find);
        (!contexts.nodes.is_empty()).then(|| Merged::from_occurrences(tree, &Arc::new(contexts)))
    }

    /// The occurrences, for [`Merged::from_occurrences`].
    pub fn occurrences(&self) -> Arc<PathOccurrences> {
        Arc::clone(&self.contexts)
    }

    /// The same path of the same tree again, from the occurrences that were kept.
    pub fn from_occurrences(tree: &'a FlameTree, contexts: &Arc<PathOccurrences>) -> Self {
        let contexts = Arc::clone(contexts);
        Merged { tree, contexts }
    }

    /// The boxes of the path, or of the box on it that is reached along these names. `None` if there is none. `view` must be for the
    /// same width.
    pub fn boxes(self, along: &[&str], view: &View) -> Option<Boxes> {
        let Merged { tree, contexts } = &self;
        let draw = Draw {
            tree,
            of: contexts,
            along,
            view,
        };
        tree.with_nodes(contexts.width, draw)
    }
}

/// Finds the outermost occurrences.
struct Find<'f> {
    tree: &'f FlameTree,
    keys: &'f [u32],
    contexts: &'f mut PathOccurrences,
}

impl WithNodes for Find<'_> {
    type Answer = ();

    fn with(self, nodes: &(impl Nodes + Sync)) {
        let Find {
            tree,
            keys,
            contexts,
        } = self;
        let mut covered = 0;
        if let [key] = keys {
            // Usually there are many nodes.
            for &n in tree.nodes_of(*key) {
                if n >= covered {
                    covered = nodes.end(n);
                    contexts.add((n, n), nodes.costs(n, covered));
                }
            }
            return;
        }
        let mut seen = Cover::new(tree.len());
        for (last, first) in tree.occurrences_of(keys) {
            if last < covered {
                continue;
            }
            covered = nodes.end(last);
            let mut costs = nodes.costs(last, covered);
            let present = tree.present(last);
            let mut n = last;
            while n != first {
                n = parent_of(nodes, n).expect("the path's first node is above");
                if seen.insert(n) {
                    costs.add(on_sides(nodes.costs(n, n + 1), present, contexts.width));
                }
            }
            contexts.add((last, first), costs);
        }
    }
}

impl PathOccurrences {
    fn add(&mut self, (last, first): (u32, u32), costs: Costs) {
        self.total.add(costs);
        match self.side {
            MergedSide::Callers => {
                self.nodes.push(first);
                self.costs.push(costs);
            }
            MergedSide::Callees => self.nodes.push(last),
        }
    }
}

/// Draws a merged path.
struct Draw<'d> {
    tree: &'d FlameTree,
    of: &'d PathOccurrences,
    along: &'d [&'d str],
    view: &'d View,
}

impl WithNodes for Draw<'_> {
    type Answer = Option<Boxes>;

    fn with(self, nodes: &(impl Nodes + Sync)) -> Option<Boxes> {
        match self.of.side {
            MergedSide::Callers => self.draw::<Callers>(nodes),
            MergedSide::Callees => self.draw::<Callees>(nodes),
        }
    }
}

impl Draw<'_> {
    /// The root: the path, or the box on it that is reached along the names.
    fn root<S: Stack>(
        &self,
        nodes: &(impl Nodes + Sync),
        scratch: &mut Scratches<S::Item>,
    ) -> Option<Group<S::Item>> {
        let mut root = Group {
            key: self.of.key,
            items: S::begin(self.of),
            costs: self.of.total,
        };
        for name in self.along {
            let (next, _) = next::<S>(nodes, &root.items, 0.0, scratch);
            let mut found = next.into_iter();
            root = found.find(|group| self.tree.title(group.key) == *name)?;
        }
        Some(root)
    }

    fn draw<S: Stack>(&self, nodes: &(impl Nodes + Sync)) -> Option<Boxes> {
        let view = self.view;
        let mut scratch = Scratches::new(self.tree.keys());
        let root = self.root::<S>(nodes, &mut scratch)?;
        let total = root.costs.weight;
        let least = match total > 0.0 {
            true => view.minimum * total,
            false => f64::INFINITY,
        };
        let mut boxes = Boxes::default();
        let mut open = vec![(root, 0.0, 0_u32, None)];
        while let Some((group, x, depth, parent)) = open.pop() {
            let (next, on_it) = next::<S>(nodes, &group.items, least, &mut scratch);
            let parent = boxes.push(
                view,
                Placed {
                    depth,
                    x,
                    width: if depth == 0 {
                        1.0
                    } else {
                        group.costs.weight / total
                    },
                    key: Some(group.key),
                    node: None,
                    sample: group.items.first().map(|&it| S::node(it)),
                    parent,
                    a: group.costs.a,
                    b: group.costs.b,
                    own: group.costs.a - on_it.a,
                },
            );
            let mut x = x;
            let above = open.len();
            for group in next {
                let width = group.costs.weight / total;
                if view.shows(x, width) {
                    open.push((group, x, depth + 1, parent));
                }
                x += width;
            }
            open[above..].reverse();
        }
        Some(boxes)
    }
}

/// The groups on a box, the widest first, without those narrower than `least`, and the cost of all of them. Sums are computed
/// first, so that items of narrow groups are never collected.
fn next<S: Stack>(
    nodes: &(impl Nodes + Sync),
    items: &[S::Item],
    least: f64,
    scratch: &mut Scratches<S::Item>,
) -> (Vec<Group<S::Item>>, Costs) {
    scratch.sum::<S>(nodes, items);
    let [one, other] = &mut scratch.0;
    let mut all = Costs::NOTHING;
    let mut groups: Vec<Group<S::Item>> = Vec::new();
    for &key in &one.keys {
        let sum = &mut one.sums[key as usize];
        let costs = sum.costs;
        all.add(costs);
        if costs.weight >= least && costs.weight > 0.0 {
            sum.group = groups.len() as u32;
            let items = Vec::with_capacity(sum.count as usize);
            groups.push(Group { key, items, costs });
        }
    }
    if !groups.is_empty() {
        for &(key, item) in one.next.iter().chain(&other.next) {
            let group = one.sums[key as usize].group;
            if let Some(group) = groups.get_mut(group as usize) {
                group.items.push(item);
            }
        }
    }
    scratch.clear();
    groups.sort_by(|a, b| {
        let widest = b.costs.weight.total_cmp(&a.costs.weight);
        widest.then(a.key.cmp(&b.key))
    });
    (groups, all)
}

/// The scratch space of two threads. The second one is used for large levels.
struct Scratches<I>([Scratch<I>; 2]);

impl<I: Copy + Send + Sync> Scratches<I> {
    fn new(keys: usize) -> Self {
        let scratch = |keys| Scratch {
            sums: vec![NOTHING; keys],
            keys: Vec::new(),
            next: Vec::new(),
        };
        // The second one grows on first use.
        Scratches([scratch(keys), scratch(0)])
    }

    /// Sums the items on these items. Afterwards, the first thread's space has all sums.
    fn sum<S: Stack<Item = I>>(&mut self, nodes: &(impl Nodes + Sync), items: &[I]) {
        let [one, other] = &mut self.0;
        if items.len() < MANY {
            return one.sum::<S>(nodes, items);
        }
        other.sums.resize(one.sums.len(), NOTHING);
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
        for &key in &other.keys {
            let (into, from) = (&mut one.sums[key as usize], other.sums[key as usize]);
            if into.count == 0 {
                one.keys.push(key);
            }
            into.count += from.count;
            into.costs.add(from.costs);
        }
    }

    fn clear(&mut self) {
        for Scratch { sums, keys, next } in &mut self.0 {
            keys.iter().for_each(|&key| sums[key as usize] = NOTHING);
            keys.clear();
            next.clear();
        }
    }
}

impl<I: Copy> Scratch<I> {
    fn sum<S: Stack<Item = I>>(&mut self, nodes: &impl Nodes, items: &[I]) {
        let Scratch { sums, keys, next } = self;
        S::each_next(nodes, items, |item, n, costs| {
            if let Some((key, last)) = next.last_mut()
                && S::join(last, item)
            {
                sums[*key as usize].costs.add(costs);
                return;
            }
            let key = nodes.key(n);
            let sum = &mut sums[key as usize];
            if sum.count == 0 {
                keys.push(key);
            }
            sum.count += 1;
            sum.costs.add(costs);
            next.push((key, item));
        });
    }
}

/// What a node of the path above the final one costs on the sides that have the occurrence.
fn on_sides(costs: Costs, (in_a, in_b): (bool, bool), width: Width) -> Costs {
    let counts = match width {
        Width::A => in_a,
        Width::B => in_b,
        Width::Change => true,
    };
    Costs {
        a: if in_a { costs.a } else { 0 },
        b: if in_b { costs.b } else { 0 },
        weight: if counts { costs.weight } else { 0.0 },
    }
}
