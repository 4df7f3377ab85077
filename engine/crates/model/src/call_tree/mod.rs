//! Call trees: one node for each calling context, with what it cost (BOTTLENECKS §2.2).
//!
//! Nodes are numbered in preorder and stored as columns, 12 bytes a node and 8 for each value type. A subtree is the
//! interval from a node to its [`end`](CallTree::ends): its first child is the next node, its next sibling is at its end.

mod builder;
mod error;
mod forest;
mod frame;
mod rename;
mod sorted_batch;
mod sorting;

use std::iter;

use fulcrum_memory::in_large_pages;

pub use builder::CallTreeBuilder;
pub use error::CallTreeError;
pub use forest::{Forest, Sorted};
pub use frame::{Frame, FrameId, FrameKind};

/// The parent of a root.
pub const NO_NODE: u32 = u32::MAX;

/// The largest sum of the absolute values of one type. Any sum, and any difference of two sums, then fits an `i64`.
pub const MAX_MAGNITUDE: i64 = i64::MAX / 4;

/// How large a tree may grow. A builder checks before it allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes.
    pub nodes: u32,
    /// Different frames.
    pub frames: u32,
    /// Frames of one stack.
    pub depth: u32,
}

impl Default for Limits {
    /// A hundred million nodes, ten million frames, stacks of a million frames.
    fn default() -> Self {
        Limits {
            nodes: 100_000_000,
            frames: 10_000_000,
            depth: 1_000_000,
        }
    }
}

/// What one column of values counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueType {
    /// As the profile names it: `cpu`, `alloc_space`.
    pub name: String,
    /// As the profile names it: `ns`, `bytes`. Empty for plain counts.
    pub unit: String,
}

impl ValueType {
    /// A value type.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        ValueType {
            name: name.into(),
            unit: unit.into(),
        }
    }

    /// The unit without the decimal factor that readers of fractional numbers put before it, and its number of decimals:
    /// `count` and 3 for `0.001 count`.
    pub fn decimals(&self) -> (&str, usize) {
        let part = self.unit.split_once(' ').filter(|(part, _)| {
            let zeros = part.strip_prefix("0.").and_then(|it| it.strip_suffix('1'));
            zeros.is_some_and(|zeros| zeros.bytes().all(|byte| byte == b'0'))
        });
        match part {
            Some((part, unit)) => (unit, part.len() - 2),
            None => (&self.unit, 0),
        }
    }
}

/// A call tree. Several roots are allowed. Siblings have different frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    frames: Vec<Frame>,
    value_types: Vec<ValueType>,
    parent: Vec<u32>,
    end: Vec<u32>,
    frame: Vec<u32>,
    values: Vec<Vec<i64>>,
}

impl CallTree {
    fn of_run(
        run: sorted_batch::SortedBatch,
        frames: Vec<Frame>,
        value_types: Vec<ValueType>,
    ) -> Self {
        let nodes = run.len();
        let mut parent = in_large_pages(Vec::with_capacity(nodes));
        let mut end = in_large_pages(Vec::with_capacity(nodes));
        end.resize(nodes, nodes as u32);
        let mut open: Vec<u32> = Vec::new();
        for (n, &depth) in run.depth.iter().enumerate() {
            for closed in open.drain(depth as usize..) {
                end[closed as usize] = n as u32;
            }
            parent.push(open.last().copied().unwrap_or(NO_NODE));
            open.push(n as u32);
        }
        CallTree {
            frames,
            value_types,
            parent,
            end,
            frame: run.frame,
            values: run.values,
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> u32 {
        self.parent.len() as u32
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The frames by [`FrameId`].
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The types of the columns of values, at least one.
    pub fn value_types(&self) -> &[ValueType] {
        &self.value_types
    }

    /// Every node's parent, [`NO_NODE`] for roots. Smaller than the node.
    pub fn parents(&self) -> &[u32] {
        &self.parent
    }

    /// The node after each node's last descendant; the number of nodes if there is none.
    pub fn ends(&self) -> &[u32] {
        &self.end
    }

    /// The number of every node's frame.
    pub fn frame_ids(&self) -> &[u32] {
        &self.frame
    }

    /// Every node's own cost, without its descendants', of the given value type.
    ///
    /// # Panics
    /// When there is no such value type.
    pub fn values(&self, value_type: usize) -> &[i64] {
        &self.values[value_type]
    }

    /// The number of nodes of its longest stack.
    pub fn depth(&self) -> usize {
        let (mut open, mut deepest): (Vec<u32>, usize) = (Vec::new(), 0);
        for (node, &end) in (0..).zip(&self.end) {
            while open.last().is_some_and(|&end| end <= node) {
                open.pop();
            }
            open.push(end);
            deepest = deepest.max(open.len());
        }
        deepest
    }

    /// The cost of the whole tree.
    ///
    /// # Panics
    /// When there is no such value type.
    pub fn total(&self, value_type: usize) -> i64 {
        self.values[value_type].iter().sum()
    }

    /// The tree with only this value type, in another unit: `times` new ones are one old one.
    ///
    /// # Errors
    /// [`CallTreeError::TooMuchCost`], when its values would add up to more than [`MAX_MAGNITUDE`].
    ///
    /// # Panics
    /// When there is no such value type.
    pub fn in_unit(
        &self,
        value_type: usize,
        unit: &str,
        times: i64,
    ) -> Result<CallTree, CallTreeError> {
        let name = &self.value_types[value_type].name;
        let values = &self.values[value_type];
        let sum: u128 = values.iter().map(|it| u128::from(it.unsigned_abs())).sum();
        if sum.saturating_mul(times.unsigned_abs().into()) > MAX_MAGNITUDE as u128 {
            let value = name.clone();
            return Err(CallTreeError::TooMuchCost { value });
        }
        Ok(CallTree {
            frames: self.frames.clone(),
            value_types: vec![ValueType::new(name, unit)],
            parent: self.parent.clone(),
            end: self.end.clone(),
            frame: self.frame.clone(),
            values: vec![values.iter().map(|value| value * times).collect()],
        })
    }

    /// One value type as two trees of the same nodes: the positive values, and the absolute values of the negative ones. `None`
    /// when there are no negative ones.
    ///
    /// # Panics
    /// When there is no such value type.
    pub fn by_sign(&self, value_type: usize) -> Option<[CallTree; 2]> {
        let values = &self.values[value_type];
        if values.iter().all(|&value| value >= 0) {
            return None;
        }
        let tree = |values: Vec<i64>| CallTree {
            frames: self.frames.clone(),
            value_types: vec![self.value_types[value_type].clone()],
            parent: self.parent.clone(),
            end: self.end.clone(),
            frame: self.frame.clone(),
            values: vec![values],
        };
        let above = values.iter().map(|&value| value.max(0)).collect();
        let below = values.iter().map(|&value| -value.min(0)).collect();
        Some([tree(above), tree(below)])
    }

    /// A node's frame.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn frame(&self, node: u32) -> &Frame {
        &self.frames[self.frame[node as usize] as usize]
    }

    /// The nodes without a parent, ascending.
    pub fn roots(&self) -> impl Iterator<Item = u32> {
        self.siblings(0, self.len())
    }

    /// A node's children, ascending.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        self.siblings(node + 1, self.end[node as usize])
    }

    fn siblings(&self, first: u32, end: u32) -> impl Iterator<Item = u32> {
        let within = move |n: u32| (n < end).then_some(n);
        iter::successors(within(first), move |&n| within(self.end[n as usize]))
    }

    /// The nodes from a node's root to itself.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn stack(&self, node: u32) -> impl Iterator<Item = u32> {
        let parent = |&n: &u32| Some(self.parent[n as usize]).filter(|&n| n != NO_NODE);
        let mut nodes: Vec<u32> = iter::successors(Some(node), parent).collect();
        nodes.reverse();
        nodes.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_tells_its_decimals() {
        for (unit, plain, decimals) in [
            ("0.001 count", "count", 3),
            ("0.1 ", "", 1),
            ("ns", "ns", 0),
            ("0.5 count", "0.5 count", 0),
            ("0.21 count", "0.21 count", 0),
        ] {
            let kind = ValueType::new("cpu", unit);
            assert_eq!(kind.decimals(), (plain, decimals), "{unit}");
        }
    }

    #[test]
    fn nodes_are_in_preorder_and_a_subtree_is_an_interval() {
        let mut builder = CallTreeBuilder::new(vec![ValueType::new("cpu", "ns")]).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|it| builder.intern(Frame::function(it)).unwrap());
        for (stack, cost) in [
            (vec![c], 4),
            (vec![a, c], 3),
            (vec![a, b, c], 2),
            (vec![a], 1),
        ] {
            builder.add(&stack, &[cost]).unwrap();
        }
        let tree = builder.finish().unwrap();
        let names: String = (0..tree.len())
            .map(|n| tree.frame(n).name.as_str())
            .collect();
        assert_eq!(names, "abccc");
        assert_eq!(tree.parents(), [NO_NODE, 0, 1, 0, NO_NODE]);
        assert_eq!(tree.ends(), [4, 3, 3, 4, 5]);
        assert_eq!(tree.values(0), [1, 0, 2, 3, 4]);
        assert_eq!(tree.roots().collect::<Vec<_>>(), [0, 4]);
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(tree.stack(2).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((tree.total(0), tree.depth()), (10, 3));
    }

    #[test]
    fn a_tree_is_parted_by_the_signs_of_its_values() {
        let types = ["grown", "all"].map(|name| ValueType::new(name, "bytes"));
        let mut builder = CallTreeBuilder::new(types.to_vec()).unwrap();
        let [a, b] = ["a", "b"].map(|it| builder.intern(Frame::function(it)).unwrap());
        builder.add(&[a], &[5, 5]).unwrap();
        builder.add(&[a, b], &[-3, 3]).unwrap();
        let tree = builder.finish().unwrap();
        let [above, below] = tree.by_sign(0).expect("some are below 0");
        assert_eq!(
            (above.values(0), below.values(0)),
            (&[5, 0][..], &[0, 3][..])
        );
        assert_eq!(below.value_types(), &types[..1]);
        assert_eq!(below.frame(1).name, "b");
        assert_eq!(tree.by_sign(1), None);
    }

    #[test]
    fn frames_that_differ_in_more_than_their_name_are_different() {
        let mut builder = CallTreeBuilder::new(vec![ValueType::new("cpu", "ns")]).unwrap();
        let function = builder.intern(Frame::function("main")).unwrap();
        assert_ne!(builder.intern(Frame::container("main")).unwrap(), function);
        let elsewhere = Frame {
            file: Some("main.c".into()),
            ..Frame::function("main")
        };
        assert_ne!(builder.intern(elsewhere).unwrap(), function);
    }
}
