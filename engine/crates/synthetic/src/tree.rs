//! Builds the tree of one side: the base tree with additions and without the dropped nodes.

use std::collections::HashSet;

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::{CallTreeBuilder, Frame, FrameId, ValueType};

use crate::base::Base;
use crate::plant::Additions;
use crate::program::Program;
use fulcrum_stats::Random;

/// The greatest relative error of a measured cost.
const NOISE: f64 = 0.1;

/// How a tree differs from the base tree.
#[derive(Debug)]
pub(crate) struct Side {
    additions: Additions,
    gone: HashSet<u32>,
    /// By how much everything costs more, as a fraction. Adds noise.
    more: f64,
}

impl Side {
    pub(crate) fn with(mut additions: Additions, gone: HashSet<u32>, more: f64) -> Self {
        additions.stacks.sort_by_key(|it| it.node);
        Side {
            additions,
            gone,
            more,
        }
    }
}

/// Builds the tree. Leaves cost at least 1, so that sampled profiles contain them.
pub(crate) fn tree(program: &Program, base: &Base, side: &Side, random: &mut Random) -> CallTree {
    let types = vec![ValueType::new("instructions", "count")];
    let mut builder = CallTreeBuilder::new(types).expect("there is a value type");
    let frames = program.names().iter().map(Frame::function);
    let ids: Vec<FrameId> = frames
        .map(|frame| builder.intern(frame).expect("few names"))
        .collect();
    let mut add = |stack: &[FrameId], cost: i64| {
        builder
            .add(stack, &[cost])
            .expect("the tree is within the limits");
    };
    let mut stack: Vec<FrameId> = Vec::new();
    let mut added = side.additions.stacks.iter().peekable();
    for (n, node) in (0..).zip(&base.nodes) {
        stack.truncate(node.depth.into());
        stack.push(ids[node.method as usize]);
        if node.cost > 0 && !side.gone.contains(&n) {
            let mut cost = f64::from(node.cost);
            if side.more > 0.0 {
                cost *= 1.0 + side.more + NOISE * (random.unit() + random.unit() - 1.0);
            }
            add(&stack, (cost.round() as i64).max(1));
        }
        while let Some(it) = added.next_if(|it| it.node == n) {
            let above = stack.len();
            stack.extend(
                side.additions
                    .calls(it)
                    .iter()
                    .map(|&call| ids[call as usize]),
            );
            add(&stack, it.cost);
            stack.truncate(above);
        }
    }
    builder.finish().expect("the tree is within the limits")
}
