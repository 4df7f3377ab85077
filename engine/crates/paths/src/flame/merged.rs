//! The flame graph of a path that is merged over all its contexts: its callers, or its callees.
//!
//! Cost that several occurrences share counts for the outermost of them, as in the path's cum.

use std::ops::Range;
use std::sync::Arc;

use super::costs::{Cost, Costs, Width};
use super::layout::{Boxes, Placed, View};
use super::levels::{Group, Scratches};
use super::nodes::{Nodes, WithNodes, parent_of, with_subtrees};
use super::path_occurrences::{MergedSide, PathOccurrences};
use super::stack::{Callees, Callers, Stack};
use super::tree::FlameTree;
use crate::profile::call_tree::region::Cover;

/// A merged path of a tree.
#[derive(Debug)]
pub struct Merged<'a> {
    tree: &'a FlameTree,
    contexts: Arc<PathOccurrences>,
}

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

    fn with<N: Nodes + Sync>(self, nodes: &N) {
        let Find {
            tree,
            keys,
            contexts,
        } = self;
        let mut covered = 0;
        if let [key] = keys {
            // Usually there are many nodes.
            with_subtrees(
                nodes,
                tree.nodes_of(*key),
                |&n| n,
                |&n, cost| {
                    if n >= covered {
                        covered = nodes.end(n);
                        contexts.add((n, n), cost.costs());
                    }
                },
            );
            return;
        }
        let mut seen = Cover::new(tree.len());
        let occurrences = tree.occurrences_of(keys);
        with_subtrees(
            nodes,
            &occurrences,
            |it| it.0,
            |&(last, first), cost| {
                if last < covered {
                    return;
                }
                covered = nodes.end(last);
                let mut costs = cost.costs();
                let present = tree.present(last);
                let mut n = last;
                while n != first {
                    n = parent_of(nodes, n).expect("the path's first node is above");
                    if seen.insert(n) {
                        let own = nodes.cost(n, n + 1).costs();
                        costs.add(on_sides(own, present, contexts.width));
                    }
                }
                contexts.add((last, first), costs);
            },
        );
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

    fn with<N: Nodes + Sync>(self, nodes: &N) -> Option<Boxes> {
        match self.of.side {
            MergedSide::Callers => self.draw::<N::Cost, Callers>(nodes),
            MergedSide::Callees => self.draw::<N::Cost, Callees>(nodes),
        }
    }
}

impl Draw<'_> {
    fn draw<C: Cost, S: Stack<C>>(&self, nodes: &(impl Nodes<Cost = C> + Sync)) -> Option<Boxes> {
        let mut scratch = Scratches::new(self.tree.keys());
        let root = self.root::<C, S>(nodes, &mut scratch)?;
        let view = self.view;
        let total = root.cost.costs().weight;
        let least = match total > 0.0 {
            true => view.minimum * total,
            false => f64::INFINITY,
        };
        let mut drawn = vec![Drawn::new::<C, S>(&root, (0.0, 1.0))];
        let mut level = vec![root.items];
        let mut first = 0;
        while !level.is_empty() {
            let on_level = scratch.level::<S>(nodes, &level, least);
            level.clear();
            let boxes = first..drawn.len();
            first = drawn.len();
            for (at, on) in boxes.zip(on_level) {
                drawn[at].own = drawn[at].costs.a - on.all.costs().a;
                let (mut x, start) = (drawn[at].x, drawn.len());
                for group in on.groups {
                    let width = group.cost.costs().weight / total;
                    if view.shows(x, width) {
                        drawn.push(Drawn::new::<C, S>(&group, (x, width)));
                        level.push(group.items);
                    }
                    x += width;
                }
                drawn[at].on_it = start..drawn.len();
            }
        }
        Some(in_order(&drawn, view))
    }

    /// The root: the path, or the box on it that is reached along the names.
    fn root<C: Cost, S: Stack<C>>(
        &self,
        nodes: &(impl Nodes<Cost = C> + Sync),
        scratch: &mut Scratches<S::Item, C>,
    ) -> Option<Group<S::Item, C>> {
        let mut root = Group {
            key: self.of.key,
            items: S::begin(self.of),
            cost: C::of(self.of.total),
        };
        for name in self.along {
            let on = scratch.on_box::<S>(nodes, &root.items, 0.0);
            let mut found = on.groups.into_iter();
            root = found.find(|group| self.tree.title(group.key) == *name)?;
        }
        Some(root)
    }
}

/// A box whose place is known.
struct Drawn {
    key: u32,
    x: f64,
    width: f64,
    costs: Costs,
    own: i64,
    /// A node that the box stands for.
    sample: Option<u32>,
    /// The boxes on it, the leftmost first.
    on_it: Range<usize>,
}

impl Drawn {
    fn new<C: Cost, S: Stack<C>>(of: &Group<S::Item, C>, (x, width): (f64, f64)) -> Self {
        Drawn {
            key: of.key,
            x,
            width,
            costs: of.cost.costs(),
            own: 0,
            sample: of.items.first().map(|&it| S::node(it)),
            on_it: 0..0,
        }
    }
}

/// The boxes, each followed by those on it. The first one is the root.
fn in_order(drawn: &[Drawn], view: &View) -> Boxes {
    let mut boxes = Boxes::default();
    let mut open = vec![(0, 0_u32, None)];
    while let Some((at, depth, parent)) = open.pop() {
        let it = &drawn[at];
        let parent = boxes.push(
            view,
            Placed {
                depth,
                x: it.x,
                width: it.width,
                key: Some(it.key),
                node: None,
                sample: it.sample,
                parent,
                a: it.costs.a,
                b: it.costs.b,
                own: it.own,
            },
        );
        // The leftmost box comes next.
        let on_it = it.on_it.clone().rev();
        open.extend(on_it.map(|at| (at, depth + 1, parent)));
    }
    boxes
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
