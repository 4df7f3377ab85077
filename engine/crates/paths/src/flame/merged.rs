//! A path merged over all its contexts: callers above, callees below.
//!
//! What several occurrences share counts for the outermost of them, as in the path's cum.

use super::layout::{Boxes, Placed, View};
use super::tree::{FlameTree, Width};
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
pub struct Contexts {
    side: MergedSide,
    width: Width,
    key: u32,
    all: Vec<Part>,
}

/// What an occurrence adds to a box: of callers the node that calls, of callees the node that is called.
#[derive(Clone, Copy, Debug)]
struct Part {
    n: u32,
    /// Its cost in A and B.
    a: i64,
    b: i64,
    /// How wide it is.
    weight: f64,
}

/// Parts that are drawn as one box.
struct Group {
    key: u32,
    parts: Vec<Part>,
    weight: f64,
}

/// Sums by name, and the places of the groups of those that are wide enough.
struct Scratch {
    sums: Vec<f64>,
    groups: Vec<u32>,
}

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
        let mut merged = Merged {
            tree,
            side,
            width,
            key: tree.key(last),
            all: Vec::new(),
        };
        let mut covered = 0;
        let mut seen = Cover::new(tree.len());
        for (last, first) in occurrences {
            if last < covered {
                continue;
            }
            covered = tree.end(last);
            let mut part = merged.subtree(last);
            let present = tree.present(last);
            let mut n = last;
            while n != first {
                n = tree.parent(n).expect("the path's first node is above");
                if seen.insert(n) {
                    part.add(tree, n, present, width);
                }
            }
            if side == MergedSide::Callers {
                part.n = first;
            }
            merged.all.push(part);
        }
        Some(merged)
    }

    /// What was found, for [`Merged::again`].
    pub fn contexts(&self) -> Contexts {
        Contexts {
            side: self.side,
            width: self.width,
            key: self.key,
            all: self.all.clone(),
        }
    }

    /// The same path of the same tree once more.
    pub fn again(tree: &'a FlameTree, contexts: &Contexts) -> Self {
        let Contexts {
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

    fn subtree(&self, n: u32) -> Part {
        let (tree, end) = (self.tree, self.tree.end(n));
        Part {
            n,
            a: tree.a(n, end),
            b: tree.b(n, end),
            weight: tree.weight(self.width, n, end),
        }
    }

    /// The boxes of the path, or of what stands on it along these names. `None` when nothing does. `view` is for the same
    /// width.
    pub fn boxes(mut self, along: &[&str], view: &View) -> Option<Boxes> {
        let parts = std::mem::take(&mut self.all);
        let mut scratch = Scratch {
            sums: vec![0.0; self.tree.keys()],
            groups: vec![u32::MAX; self.tree.keys()],
        };
        let mut root = Group {
            key: self.key,
            weight: parts.iter().map(|part| part.weight).sum(),
            parts,
        };
        for name in along {
            let next = self.next(&root.parts, 0.0, &mut scratch).into_iter();
            let mut found = next.filter(|group| self.tree.title(group.key) == *name);
            root = found.next()?;
        }
        let total = root.weight;
        let mut boxes = Boxes::default();
        let mut open = vec![(root, 0.0, 0_u32, None)];
        while let Some((group, x, depth, parent)) = open.pop() {
            let next = match total > 0.0 {
                true => self.next(&group.parts, view.minimum * total, &mut scratch),
                false => Vec::new(),
            };
            let parent = boxes.push(
                view,
                Placed {
                    depth,
                    x,
                    width: if depth == 0 {
                        1.0
                    } else {
                        group.weight / total
                    },
                    key: Some(group.key),
                    node: None,
                    sample: group.parts.first().map(|part| part.n),
                    parent,
                    a: group.parts.iter().map(|part| part.a).sum(),
                    b: group.parts.iter().map(|part| part.b).sum(),
                    own: self.own(&group.parts, depth == 0 && along.is_empty()),
                },
            );
            let mut x = x;
            let above = open.len();
            for group in next {
                let width = group.weight / total;
                if view.shows(x, width) {
                    open.push((group, x, depth + 1, parent));
                }
                x += width;
            }
            open[above..].reverse();
        }
        Some(boxes)
    }

    /// Of callees, what the functions of a box cost themselves; of callers, what begins there. The path's own is what it
    /// costs without its callees.
    fn own(&self, parts: &[Part], path: bool) -> i64 {
        let tree = self.tree;
        let each = parts.iter();
        match self.side {
            MergedSide::Callees if path => each
                .map(|it| it.a - (tree.a(it.n, tree.end(it.n)) - tree.a(it.n, it.n + 1)))
                .sum(),
            MergedSide::Callees => each.map(|it| tree.a(it.n, it.n + 1)).sum(),
            MergedSide::Callers => each
                .filter(|it| tree.parent(it.n).is_none())
                .map(|it| it.a)
                .sum(),
        }
    }

    /// What stands on a box, the widest first, without what is narrower than `least`. Sums come first, so that what is
    /// too narrow is never collected.
    fn next(&self, parts: &[Part], least: f64, scratch: &mut Scratch) -> Vec<Group> {
        let Scratch { sums, groups: at } = scratch;
        let mut keys = Vec::new();
        self.each_next(parts, |key, part| {
            let sum = &mut sums[key as usize];
            if at[key as usize] == u32::MAX {
                at[key as usize] = keys.len() as u32;
                keys.push(key);
            }
            *sum += part.weight;
        });
        let mut groups: Vec<Group> = Vec::new();
        for &key in &keys {
            let weight = std::mem::take(&mut sums[key as usize]);
            at[key as usize] = u32::MAX;
            if weight >= least && weight > 0.0 {
                at[key as usize] = groups.len() as u32;
                groups.push(Group {
                    key,
                    parts: Vec::new(),
                    weight,
                });
            }
        }
        if !groups.is_empty() {
            self.each_next(parts, |key, part| {
                if let Some(group) = groups.get_mut(at[key as usize] as usize) {
                    group.parts.push(part);
                }
            });
        }
        groups.iter().for_each(|it| at[it.key as usize] = u32::MAX);
        groups.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.key.cmp(&b.key)));
        groups
    }

    fn each_next(&self, parts: &[Part], mut visit: impl FnMut(u32, Part)) {
        let tree = self.tree;
        for part in parts {
            match self.side {
                MergedSide::Callers => {
                    if let Some(parent) = tree.parent(part.n) {
                        visit(tree.key(parent), Part { n: parent, ..*part });
                    }
                }
                MergedSide::Callees => {
                    let (mut n, end) = (part.n + 1, tree.end(part.n));
                    while n < end {
                        visit(tree.key(n), self.subtree(n));
                        n = tree.end(n);
                    }
                }
            }
        }
    }
}

impl Part {
    /// Adds a node of the path above the final, on the sides that have the occurrence.
    fn add(&mut self, tree: &FlameTree, n: u32, (in_a, in_b): (bool, bool), width: Width) {
        if in_a {
            self.a += tree.a(n, n + 1);
        }
        if in_b {
            self.b += tree.b(n, n + 1);
        }
        let counts = match width {
            Width::A => in_a,
            Width::B => in_b,
            Width::Change => true,
        };
        if counts {
            self.weight += tree.weight(width, n, n + 1);
        }
    }
}
