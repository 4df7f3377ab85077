//! A path merged over all its contexts: callers above, callees below.
//!
//! What several occurrences share counts for the outermost of them, as in the path's cum.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use super::costs::{Costs, Width};
use super::layout::{Boxes, Placed, View};
use super::nodes::{Nodes, WithNodes, each_child, parent_of, together};
use super::tree::FlameTree;
use crate::region::Cover;

/// What stands on a merged path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedSide {
    /// Who calls it, the nearest first.
    Callers,
    /// What it calls.
    Callees,
}

/// A path of a tree, merged.
#[derive(Debug)]
pub struct Merged<'a> {
    tree: &'a FlameTree,
    contexts: Arc<PathOccurrences>,
}

/// Where a path is in a tree: what takes long about [`Merged::new`], to be kept.
#[derive(Debug)]
pub struct PathOccurrences {
    side: MergedSide,
    width: Width,
    key: u32,
    /// What all of them cover.
    total: Costs,
    /// The outermost occurrences: of callees their finals, of callers the nodes where the path begins.
    nodes: Vec<u32>,
    /// What each of them covers; of callers only.
    costs: Vec<Costs>,
}

/// What boxes are made of: what each occurrence of the path adds to them.
trait Stack {
    /// Small: there are as many as the path has contexts.
    type Item: Copy + Send + Sync;

    /// What the path itself is made of.
    fn begin(of: &PathOccurrences) -> Vec<Self::Item>;

    fn node(item: Self::Item) -> u32;

    /// What stands on these: itself, its costs.
    fn each_next(
        nodes: &impl Nodes,
        items: &[Self::Item],
        visit: impl FnMut(Self::Item, u32, Costs),
    );

    /// Whether `next` is no other place than `last`, which then stands for both.
    fn join(last: &mut Self::Item, next: Self::Item) -> bool;
}

/// Nodes that are called.
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

/// Nodes that call, each with the costs of the occurrences that it leads to. Further out more and more of them have the same
/// caller: so there are fewer from level to level.
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
        // Of callers the names are far away.
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

/// What is drawn as one box.
struct Group<I> {
    key: u32,
    items: Vec<I>,
    costs: Costs,
}

/// To look at so many nodes takes longer than to start a thread.
const MANY: usize = 8_000;

/// What one thread works with.
struct Scratch<I> {
    /// By the number of a name.
    sums: Vec<Sum>,
    /// Those that have a sum.
    keys: Vec<u32>,
    /// What stands on a box, in the order of its nodes.
    next: Vec<(u32, I)>,
}

/// What stands on a box by one name.
#[derive(Clone, Copy)]
struct Sum {
    costs: Costs,
    count: u32,
    /// The place of its group, if it is wide enough.
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
        (!contexts.nodes.is_empty()).then(|| Merged::again(tree, &Arc::new(contexts)))
    }

    /// What was found, for [`Merged::again`].
    pub fn contexts(&self) -> Arc<PathOccurrences> {
        Arc::clone(&self.contexts)
    }

    /// The same path of the same tree once more.
    pub fn again(tree: &'a FlameTree, contexts: &Arc<PathOccurrences>) -> Self {
        let contexts = Arc::clone(contexts);
        Merged { tree, contexts }
    }

    /// The boxes of the path, or of what stands on it along these names. `None` when nothing does. `view` is for the same
    /// width.
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

/// Looks for the outermost occurrences.
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
            // Mostly that of many nodes.
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
    /// What is drawn at the bottom: the path, or what stands on it along the names.
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

/// What stands on a box, the widest first, without what is narrower than `least`; and what all of it costs. Sums come
/// first, so that what is too narrow is never collected.
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

/// What is worked with on each level: by two threads, where there is much.
struct Scratches<I>([Scratch<I>; 2]);

impl<I: Copy + Send + Sync> Scratches<I> {
    fn new(keys: usize) -> Self {
        let scratch = |keys| Scratch {
            sums: vec![NOTHING; keys],
            keys: Vec::new(),
            next: Vec::new(),
        };
        // The second is made when it is first needed.
        Scratches([scratch(keys), scratch(0)])
    }

    /// Sums what stands on these; all sums are the first's afterwards.
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

/// Of a node of the path above the final, what counts: on the sides that have the occurrence.
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
