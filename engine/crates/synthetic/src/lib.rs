//! Synthetic call-tree profiles: large, of a given shape, with known bottlenecks.
//!
//! They stand in for the profiles of BOTTLENECKS, which are not available: those of its Tables 1 and 5, with exactly the same numbers of
//! nodes and leaves, greatest depth and greatest out-degree, and the same mean depth. Costly call sequences are planted into each, in many
//! contexts, like the security checks of the paper's Trade3: the function at the end of a sequence is called from everywhere, so only its
//! callers explain its cost.
//!
//! The same seed gives the same profile on every machine. No I/O here; `main.rs` writes files.

#![forbid(unsafe_code)]

mod base;
mod fill;
mod levels;
mod plant;
mod program;
mod sequence;
mod shape;
mod skeleton;
mod tree;

use std::collections::HashSet;

use fulcrum_model::CallTree;
use fulcrum_stats::Random;
use fulcrum_stats::random::{STEP, mix};

use crate::base::Base;
use crate::plant::{Additions, Budget, plant};
use crate::program::Program;
use crate::skeleton::Skeleton;
use crate::tree::{Side, tree};

pub use crate::plant::Planted;
pub use crate::shape::TreeShape;

/// The part of a tree's nodes that only make its numbers exact.
const FILL: f64 = 0.01;

/// The part of the nodes without overheads that the profile with overheads does not have.
const GONE: f64 = 0.006;

/// A profile with bottlenecks.
#[derive(Debug)]
pub struct Single {
    /// The profile.
    pub tree: CallTree,
    /// What was planted, the most costly first.
    pub planted: Vec<Planted>,
}

/// Two profiles of one program, with and without overheads.
#[derive(Debug)]
pub struct Pair {
    /// The profile with overheads.
    pub with: CallTree,
    /// The profile without overheads.
    pub without: CallTree,
    /// What was planted, the most costly first.
    pub planted: Vec<Planted>,
}

/// The shape of a single profile.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The shape of its tree.
    pub shape: TreeShape,
    /// The mean number of names in planted sequences.
    pub length: usize,
    /// The part of the total that is planted, 0 to 1.
    pub planted: f64,
}

impl Shape {
    /// The first of Table 5: large, with widespread cost. The paper's expert found 35.8 % in thirteen sequences of 8.7 names.
    pub const SPECJ: Shape = Shape::new(TreeShape::SPECJ, 9, 0.45);
    /// The second of Table 5: small, with cost in few places. The paper's expert found 88.7 % in thirteen sequences of 6.2 names.
    pub const XML: Shape = Shape::new(TreeShape::XML, 6, 0.93);
    /// Ten times the paper's largest.
    pub const TEN_MILLION: Shape = Shape::new(TreeShape::TEN_MILLION, 9, 0.45);

    const fn new(shape: TreeShape, length: usize, planted: f64) -> Self {
        Shape {
            shape,
            length,
            planted,
        }
    }
}

/// Generates a profile.
pub fn single(profile: &Shape, seed: u64) -> Single {
    let random = &mut random(seed);
    let shape = &profile.shape;
    let mut program = Program::new(shape.nodes);
    let sequences = sequence::sequences(&mut program, profile.length, random);
    let part = |of: u32, part: f64| (f64::from(of) * part).round() as u32;
    // Sequences begin near the mean depth and extend below it.
    let planted_nodes = part(shape.nodes, 0.07);
    let base_shape = TreeShape {
        nodes: shape.nodes - planted_nodes,
        leaves: part(shape.leaves, 0.93),
        mean_depth: shape.mean_depth - 0.07 * profile.length as f64,
        ..*shape
    };
    let skeleton = Skeleton::new(&base_shape, random);
    let base = Base::new(&program, &skeleton, base_shape.nodes, random);
    drop(skeleton);
    let fill = part(shape.nodes, FILL);
    let middle = shape.mean_depth as u16;
    let budget = Budget {
        nodes: planted_nodes - fill,
        leaves: shape.leaves - base_shape.leaves - fill / 2,
        depths: (middle * 2 / 3, (shape.deepest as u16).min(middle * 3 / 2)),
        cost: base.total() * profile.planted / (1.0 - profile.planted),
    };
    let (mut additions, planted) = plant(&base, &program, &sequences, &budget, random);
    let gone = HashSet::new();
    fill::fill(&base, &program, shape, &gone, &mut additions, random);
    Single {
        tree: tree(&program, &base, &Side::with(additions, gone, 0.0), random),
        planted,
    }
}

/// Generates the pair of the paper's Trade3 (Table 1), or a fraction of it with the same proportions. The difference is 41 % of the cost
/// without overheads: security reduced the throughput by 29 %. A twelfth of it is spread over everything.
pub fn pair(fraction: f64, seed: u64) -> Pair {
    const DIFFERENCE: f64 = 0.41;
    const PLANTED: f64 = 0.92;
    let random = &mut random(seed);
    let shape = TreeShape::TRADE3_ENABLED.scaled(fraction);
    let without = TreeShape::TRADE3_DISABLED.scaled(fraction);
    let mut program = Program::new(shape.nodes);
    let sequences = sequence::sequences(&mut program, 14, random);
    let skeleton = Skeleton::new(&without, random);
    let base = Base::new(&program, &skeleton, without.nodes, random);
    let gone = fill::dropped(&base, (f64::from(without.nodes) * GONE) as usize, random);
    let fill = (f64::from(shape.nodes) * FILL) as u32;
    let budget = Budget {
        nodes: shape.nodes - without.nodes + gone.len() as u32 - fill,
        leaves: shape.leaves - without.leaves + gone.len() as u32 - fill / 2,
        // Overheads are deep: the added nodes have a mean depth of 94.
        depths: (74, 108),
        cost: base.total() * DIFFERENCE * PLANTED,
    };
    let (mut additions, planted) = plant(&base, &program, &sequences, &budget, random);
    fill::fill(&base, &program, &shape, &gone, &mut additions, random);
    let spread = DIFFERENCE * (1.0 - PLANTED);
    let none = Side::with(Additions::default(), HashSet::new(), 0.0);
    Pair {
        with: tree(
            &program,
            &base,
            &Side::with(additions, gone, spread),
            random,
        ),
        without: tree(&program, &base, &none, random),
        planted,
    }
}

/// The nodes of a tree with a cost, in random order, as profilers write them.
pub fn shuffled(tree: &CallTree, seed: u64) -> Vec<u32> {
    let costs = (0..).zip(tree.values(0));
    let mut nodes: Vec<u32> = costs.filter(|it| *it.1 != 0).map(|it| it.0).collect();
    random(!seed).shuffle(&mut nodes);
    nodes
}

/// The random generator of a seed, as for the profiles whose results are published.
fn random(seed: u64) -> Random {
    Random::new(mix(seed ^ STEP))
}
