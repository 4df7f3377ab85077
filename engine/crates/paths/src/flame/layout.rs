//! Lays out boxes.

use super::costs::{Cost as _, Width};
use super::nodes::{Nodes, WithNodes};
use super::tree::{FlameTree, Least};

/// The visible part of a flame graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// What the width of boxes stands for.
    pub width: Width,
    /// The left end, a fraction of the root.
    pub left: f64,
    /// The right end, a fraction of the root.
    pub right: f64,
    /// The minimum width of boxes, a fraction of the root. Narrower ones are left out.
    pub minimum: f64,
    /// The first level to return. The root has level 0.
    pub from_depth: u32,
    /// The number of levels to return.
    pub depths: u32,
}

impl View {
    /// The whole graph, without boxes narrower than `minimum`.
    pub fn whole(width: Width, minimum: f64) -> Self {
        View {
            width,
            left: 0.0,
            right: 1.0,
            minimum,
            from_depth: 0,
            depths: u32::MAX,
        }
    }

    /// Whether a box with this position and width is visible.
    pub(super) fn shows(&self, x: f64, width: f64) -> bool {
        width >= self.minimum && x < self.right && x + width > self.left
    }

    pub(super) fn includes(&self, depth: u32) -> bool {
        depth >= self.from_depth && depth - self.from_depth < self.depths
    }
}

/// Boxes as columns. Parents come before the boxes on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// The number of levels with visible boxes, the root's included, returned or not.
    pub levels: u32,
    /// 0 is the root.
    pub depth: Vec<u32>,
    /// The left end, a fraction of the root.
    pub x: Vec<f64>,
    /// A fraction of the root.
    pub width: Vec<f64>,
    /// The number of the name. `None` for the whole tree.
    pub key: Vec<Option<u32>>,
    /// The node. `None` for the whole tree and in merged graphs.
    pub node: Vec<Option<u32>>,
    /// A node that the box stands for. In a merged graph, one of several.
    pub sample: Vec<Option<u32>>,
    /// The position of the box below. `None` if that is not returned.
    pub parent: Vec<Option<u32>>,
    /// The cost, with all boxes on it. In a comparison, the cost in A.
    pub a: Vec<i64>,
    /// The cost in B of a comparison, otherwise 0.
    pub b: Vec<i64>,
    /// The own cost. In a comparison, the own cost in A.
    pub own: Vec<i64>,
}

/// One box.
pub(super) struct Placed {
    pub(crate) depth: u32,
    pub(crate) x: f64,
    pub(crate) width: f64,
    pub(crate) key: Option<u32>,
    pub(crate) node: Option<u32>,
    pub(crate) sample: Option<u32>,
    pub(crate) parent: Option<u32>,
    pub(crate) a: i64,
    pub(crate) b: i64,
    pub(crate) own: i64,
}

impl Boxes {
    /// Adds a box if its level is to be returned. Returns its position.
    pub(super) fn push(&mut self, view: &View, it: Placed) -> Option<u32> {
        self.levels = self.levels.max(it.depth + 1);
        if !view.includes(it.depth) {
            return None;
        }
        self.depth.push(it.depth);
        self.x.push(it.x);
        self.width.push(it.width);
        self.key.push(it.key);
        self.node.push(it.node);
        self.sample.push(it.sample);
        self.parent.push(it.parent);
        self.a.push(it.a);
        self.b.push(it.b);
        self.own.push(it.own);
        Some(self.depth.len() as u32 - 1)
    }
}

impl FlameTree {
    /// The boxes of the whole tree, or of the subtree of a node. The time depends on what is visible.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn boxes(&self, root: Option<u32>, view: &View) -> Boxes {
        let layout = Layout {
            tree: self,
            root,
            view,
        };
        self.with_nodes(view.width, layout)
    }
}

/// Lays out the boxes of a tree.
struct Layout<'l> {
    tree: &'l FlameTree,
    root: Option<u32>,
    view: &'l View,
}

impl WithNodes for Layout<'_> {
    type Answer = Boxes;

    fn with<N: Nodes + Sync>(self, nodes: &N) -> Boxes {
        let Layout { tree, root, view } = self;
        let all = |n: Option<u32>| n.map_or((0, tree.len()), |n| (n, nodes.end(n)));
        let cost = |(start, end): (u32, u32)| nodes.cost(start, end).costs();
        let total = cost(all(root)).weight;
        let least = Least {
            whole: total,
            part: view.minimum,
        };
        let mut boxes = Boxes::default();
        let mut children = Vec::new();
        let mut open = vec![(root, 0.0, 1.0, 0_u32, None)];
        while let Some((n, x, width, depth, parent)) = open.pop() {
            let costs = cost(all(n));
            let parent = boxes.push(
                view,
                Placed {
                    depth,
                    x,
                    width,
                    key: n.map(|n| nodes.key(n)),
                    node: n,
                    sample: n,
                    parent,
                    a: costs.a,
                    b: costs.b,
                    own: n.map_or(0, |n| cost((n, n + 1)).a),
                },
            );
            if total == 0.0 {
                continue;
            }
            let mut x = x;
            let above = open.len();
            tree.wide_children((nodes, view.width), n, least, &mut children);
            // The widest children come first.
            for &(weight, child) in &children {
                if x >= view.right {
                    break;
                }
                let width = weight / total;
                if view.shows(x, width) {
                    open.push((Some(child), x, width, depth + 1, parent));
                }
                x += width;
            }
            // The leftmost child comes next.
            open[above..].reverse();
        }
        boxes
    }
}
