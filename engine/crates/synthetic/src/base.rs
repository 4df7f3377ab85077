//! The base tree: the call tree of a program without bottlenecks, which both sides of a comparison share.

use crate::program::Program;
use crate::skeleton::Skeleton;
use fulcrum_stats::Random;

/// One in this many nodes with children has a cost of its own, besides all leaves.
const COSTLY: usize = 3;

/// A tree in preorder.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) nodes: Vec<Node>,
}

/// One node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) method: u32,
    pub(crate) parent: u32,
    pub(crate) cost: u32,
    pub(crate) depth: u16,
    pub(crate) degree: u16,
}

impl Base {
    pub(crate) fn new(
        program: &Program,
        skeleton: &Skeleton,
        count: u32,
        random: &mut Random,
    ) -> Self {
        let mut nodes: Vec<Node> = Vec::with_capacity(count as usize);
        let mut callees = Vec::new();
        // The number in the skeleton, the parent in preorder, the method, the depth.
        let mut open = vec![(0, 0, program.outermost(), 0)];
        while let Some((n, parent, method, depth)) = open.pop() {
            let degree = skeleton.degree(n);
            let here = nodes.len() as u32;
            let weight = program.weight(method);
            let cost = if degree == 0 || random.index(COSTLY) == 0 {
                1 + weight / 2 + random.index(weight)
            } else {
                0
            };
            nodes.push(Node {
                method,
                parent,
                cost: cost as u32,
                depth,
                degree: degree as u16,
            });
            program.callees(method, degree, random, &mut callees);
            let children = skeleton.children(n).zip(&callees);
            open.extend(children.map(|(child, &method)| (child, here, method, depth + 1)));
        }
        Base { nodes }
    }

    /// The cost of all nodes.
    pub(crate) fn total(&self) -> f64 {
        self.nodes.iter().map(|it| f64::from(it.cost)).sum()
    }
}
