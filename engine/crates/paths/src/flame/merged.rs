//! A path merged over all its contexts: callers above, callees below.
//!
//! What several occurrences share counts for the outermost of them, as in the path's cum.

use super::costs::{Costs, Width};
use super::layout::{Boxes, Placed, View};
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
    side: MergedSide,
    width: Width,
    key: u32,
    /// The outermost occurrences.
    all: Vec<Part>,
}

/// Where a path is in a tree: what takes long about [`Merged::new`], to be kept.
#[derive(Clone, Debug)]
pub struct PathOccurrences {
    side: MergedSide,
    width: Width,
    key: u32,
    all: Vec<Part>,
}

/// An outermost occurrence.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Its final; of callers the node where the path begins.
    n: u32,
    /// What it covers.
    costs: Costs,
}

/// What boxes are made of: what each occurrence of the path adds to them.
trait Stack {
    /// Small: there are as many as the path has contexts, on every level.
    type Item: Copy;

    /// What the path itself is made of.
    fn begin(merged: &Merged<'_>) -> Vec<Self::Item>;

    fn node(item: Self::Item) -> u32;

    /// What stands on these: the number of its name, itself, its costs.
    fn each_next(
        merged: &Merged<'_>,
        items: &[Self::Item],
        visit: impl FnMut(u32, Self::Item, Costs),
    );
}

/// Nodes that are called.
struct Callees;

impl Stack for Callees {
    type Item = u32;

    fn begin(merged: &Merged<'_>) -> Vec<u32> {
        merged.all.iter().map(|part| part.n).collect()
    }

    fn node(n: u32) -> u32 {
        n
    }

    fn each_next(merged: &Merged<'_>, items: &[u32], visit: impl FnMut(u32, u32, Costs)) {
        let Merged { tree, width, .. } = merged;
        tree.each_child(*width, items, visit);
    }
}

/// Nodes that call, each with the position of the occurrence whose costs it has.
struct Callers;

impl Stack for Callers {
    type Item = (u32, u32);

    fn begin(merged: &Merged<'_>) -> Vec<(u32, u32)> {
        let all = merged.all.iter().enumerate();
        all.map(|(of, part)| (part.n, of as u32)).collect()
    }

    fn node((n, _): (u32, u32)) -> u32 {
        n
    }

    fn each_next(
        merged: &Merged<'_>,
        items: &[(u32, u32)],
        mut visit: impl FnMut(u32, (u32, u32), Costs),
    ) {
        for &(n, of) in items {
            if let Some(parent) = merged.tree.parent(n) {
                let costs = merged.all[of as usize].costs;
                visit(merged.tree.key(parent), (parent, of), costs);
            }
        }
    }
}

/// What is drawn as one box.
struct Group<I> {
    key: u32,
    items: Vec<I>,
    costs: Costs,
}

/// What is worked with on each level.
struct Scratch<I> {
    /// By the number of a name.
    sums: Vec<Sum>,
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
        let occurrences = tree.occurrences(path);
        let &(last, _) = occurrences.first()?;
        let mut all = Vec::new();
        let mut covered = 0;
        let mut seen = Cover::new(tree.len());
        for (last, first) in occurrences {
            if last < covered {
                continue;
            }
            covered = tree.end(last);
            let mut costs = tree.costs(width, last, covered);
            let present = tree.present(last);
            let mut n = last;
            while n != first {
                n = tree.parent(n).expect("the path's first node is above");
                if seen.insert(n) {
                    costs.add(on_sides(tree.costs(width, n, n + 1), present, width));
                }
            }
            let n = match side {
                MergedSide::Callers => first,
                MergedSide::Callees => last,
            };
            all.push(Part { n, costs });
        }
        Some(Merged {
            tree,
            side,
            width,
            key: tree.key(last),
            all,
        })
    }

    /// What was found, for [`Merged::again`].
    pub fn contexts(&self) -> PathOccurrences {
        PathOccurrences {
            side: self.side,
            width: self.width,
            key: self.key,
            all: self.all.clone(),
        }
    }

    /// The same path of the same tree once more.
    pub fn again(tree: &'a FlameTree, contexts: &PathOccurrences) -> Self {
        let PathOccurrences {
            side,
            width,
            key,
            all,
        } = contexts.clone();
        Merged {
            tree,
            side,
            width,
            key,
            all,
        }
    }

    /// The boxes of the path, or of what stands on it along these names. `None` when nothing does. `view` is for the same
    /// width.
    pub fn boxes(self, along: &[&str], view: &View) -> Option<Boxes> {
        match self.side {
            MergedSide::Callers => self.draw::<Callers>(along, view),
            MergedSide::Callees => self.draw::<Callees>(along, view),
        }
    }

    fn draw<S: Stack>(&self, along: &[&str], view: &View) -> Option<Boxes> {
        let mut scratch = Scratch {
            sums: vec![NOTHING; self.tree.keys()],
            next: Vec::new(),
        };
        let mut root = Group {
            key: self.key,
            items: S::begin(self),
            costs: Costs::NOTHING,
        };
        self.all.iter().for_each(|it| root.costs.add(it.costs));
        for name in along {
            let (next, _) = self.next::<S>(&root.items, 0.0, &mut scratch);
            let mut found = next.into_iter();
            root = found.find(|group| self.tree.title(group.key) == *name)?;
        }
        let total = root.costs.weight;
        let least = match total > 0.0 {
            true => view.minimum * total,
            false => f64::INFINITY,
        };
        let mut boxes = Boxes::default();
        let mut open = vec![(root, 0.0, 0_u32, None)];
        while let Some((group, x, depth, parent)) = open.pop() {
            let (next, on_it) = self.next::<S>(&group.items, least, &mut scratch);
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

    /// What stands on a box, the widest first, without what is narrower than `least`; and what all of it costs. Sums come
    /// first, so that what is too narrow is never collected.
    fn next<S: Stack>(
        &self,
        items: &[S::Item],
        least: f64,
        scratch: &mut Scratch<S::Item>,
    ) -> (Vec<Group<S::Item>>, Costs) {
        let Scratch { sums, next } = scratch;
        next.clear();
        let mut keys = Vec::new();
        S::each_next(self, items, |key, item, costs| {
            let sum = &mut sums[key as usize];
            if sum.count == 0 {
                keys.push(key);
            }
            sum.count += 1;
            sum.costs.add(costs);
            next.push((key, item));
        });
        let mut all = Costs::NOTHING;
        let mut groups: Vec<Group<S::Item>> = Vec::new();
        for &key in &keys {
            let sum = &mut sums[key as usize];
            let costs = sum.costs;
            all.add(costs);
            if costs.weight >= least && costs.weight > 0.0 {
                sum.group = groups.len() as u32;
                let items = Vec::with_capacity(sum.count as usize);
                groups.push(Group { key, items, costs });
            }
        }
        if !groups.is_empty() {
            for &(key, item) in &*next {
                let group = sums[key as usize].group;
                if let Some(group) = groups.get_mut(group as usize) {
                    group.items.push(item);
                }
            }
        }
        keys.iter().for_each(|&key| sums[key as usize] = NOTHING);
        groups.sort_by(|a, b| {
            let widest = b.costs.weight.total_cmp(&a.costs.weight);
            widest.then(a.key.cmp(&b.key))
        });
        (groups, all)
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
