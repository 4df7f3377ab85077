//! The flame graph of a path that is merged over all its contexts: its callers, or its callees.
//!
//! Cost that several occurrences share counts for the outermost of them, as in the path's cum.

use std::ops::Range;
use std::sync::Arc;

use super::by_calls::{ByCalls, Function};
use super::costs::{Cost, Costs, Width};
use super::layout::{Boxes, Placed, View};
use super::levels::{Group, OnBox, Scratches};
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
            by_calls: false,
            nodes: Vec::new(),
            costs: Vec::new(),
        };
        let find = Find {
            tree,
            keys: &keys,
            contexts: &mut contexts,
        };
        tree.with_nodes(width, find);
        let some = contexts.by_calls || !contexts.nodes.is_empty();
        some.then(|| Merged::from_occurrences(tree, &Arc::new(contexts)))
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
            if let Some((index, _)) = nodes.calls()
                && (contexts.side == MergedSide::Callers || !index.containers_within())
            {
                let (_, cum) = index.name_cost(*key);
                contexts.by_calls = !index.nodes_of(*key).is_empty();
                contexts.total = Costs::alone(cum);
                return;
            }
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
    fn draw<C: Cost, S: ByCalls<C>>(&self, nodes: &(impl Nodes<Cost = C> + Sync)) -> Option<Boxes> {
        let mut scratch = Scratches::new(self.tree.keys());
        let root = self.root::<C, S>(nodes, &mut scratch)?;
        let view = self.view;
        let total = root.cost().weight;
        let least = match total > 0.0 {
            true => view.minimum * total,
            false => f64::INFINITY,
        };
        let mut drawn = vec![root.drawn()];
        let mut level = Vec::new();
        let mut on_level = vec![root.on_it::<S>(nodes, least, |_| true, &mut scratch)];
        let mut first = 0;
        while !on_level.is_empty() {
            let boxes = first..drawn.len();
            first = drawn.len();
            for (at, on) in boxes.zip(on_level) {
                drawn[at].own = drawn[at].costs.a - on.all.costs().a;
                let (mut x, start) = (drawn[at].x, drawn.len());
                for group in on.groups {
                    let width = group.cost.costs().weight / total;
                    if view.shows(x, width) {
                        let of = (group.key, group.sample);
                        drawn.push(Drawn::new(of, group.cost.costs(), (x, width)));
                        level.push(group.items);
                    }
                    x += width;
                }
                drawn[at].on_it = start..drawn.len();
            }
            on_level = scratch.level::<S>(nodes, &level, least);
            level.clear();
        }
        Some(in_order(&drawn, view))
    }

    /// The root: the path, or the box on it that is reached along the names.
    fn root<'n, C: Cost, S: ByCalls<C>>(
        &self,
        nodes: &'n (impl Nodes<Cost = C> + Sync),
        scratch: &mut Scratches<S::Item, C>,
    ) -> Option<Root<'n, S::Item, C>> {
        let mut root = Root::of::<S>(self.of, nodes);
        for name in self.along {
            let named = |key: u32| self.tree.title(key) == *name;
            let on = root.on_it::<S>(nodes, 0.0, named, scratch);
            let mut found = on.groups.into_iter();
            root = Root::Group(found.find(|group| named(group.key))?);
        }
        Some(root)
    }
}

/// The box at the bottom.
enum Root<'t, I, C> {
    /// All calls of a function.
    Function(Function<'t>, C),
    Group(Group<I, C>),
}

impl<'t, I: Copy + Send + Sync, C: Cost> Root<'t, I, C> {
    fn of<S: Stack<C, Item = I>>(of: &PathOccurrences, nodes: &'t impl Nodes<Cost = C>) -> Self {
        let cost = C::of(of.total);
        match nodes.calls().filter(|_| of.by_calls) {
            Some((index, calls)) => {
                let key = of.key;
                Root::Function(Function { index, calls, key }, cost)
            }
            None => Root::Group(Group {
                key: of.key,
                sample: of.nodes.first().copied(),
                items: S::begin(nodes, of),
                cost,
            }),
        }
    }

    fn cost(&self) -> Costs {
        match self {
            Root::Function(_, cost) => cost.costs(),
            Root::Group(group) => group.cost.costs(),
        }
    }

    fn drawn(&self) -> Drawn {
        let (key, sample) = match self {
            Root::Function(of, _) => (of.key, of.index.nodes_of(of.key).first().copied()),
            Root::Group(group) => (group.key, group.sample),
        };
        Drawn::new((key, sample), self.cost(), (0.0, 1.0))
    }

    /// The boxes on it that are at least so wide. Others than those of these keys may be left out.
    fn on_it<S: ByCalls<C, Item = I>>(
        &self,
        nodes: &(impl Nodes<Cost = C> + Sync),
        least: f64,
        of_keys: impl Fn(u32) -> bool,
        scratch: &mut Scratches<I, C>,
    ) -> OnBox<I, C> {
        match self {
            Root::Function(of, _) => {
                let wanted = |key: u32, weight: f64| weight >= least && of_keys(key);
                S::on_function(nodes, *of, wanted, scratch)
            }
            Root::Group(group) => scratch.on_box::<S>(nodes, &group.items, least),
        }
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
    fn new((key, sample): (u32, Option<u32>), costs: Costs, (x, width): (f64, f64)) -> Self {
        Drawn {
            key,
            x,
            width,
            costs,
            own: 0,
            sample,
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
