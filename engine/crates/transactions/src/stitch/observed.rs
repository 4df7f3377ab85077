//! The cost of single transactions of a type: the observations behind its call tree.

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::{
    CallTreeBuilder, CallTreeError, Frame, FrameId, NO_NODE, ValueType,
};

use super::record::ProcessRecord;
use super::stitched::Stitched;
use crate::context::types::TypeId;
use crate::context_profile::{CallingContextTree, Spot};
use crate::latency::InstanceId;

/// A type's call tree, with the cost of each transaction by node.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The CPU time attributed to single transactions, below processes and threads, in nanoseconds.
    pub tree: CallTree,
    /// The same, with a frame for each line in place of each function, where lines are known.
    pub lines: CallTree,
    /// The number of transactions that threads worked for under the type's name, with or without samples.
    pub transactions: u64,
    /// The costs, ascending by node. Transactions without samples are not included.
    pub costs: Vec<InstanceCost>,
    /// The type's CPU time that is attributed to no single transaction, in nanoseconds. It is not in the tree.
    pub left_out_ns: u64,
}

/// A transaction's own cost in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceCost {
    /// The node in the tree.
    pub node: u32,
    /// The transaction, numbered from 0 within the type.
    pub instance: u32,
    /// CPU time in nanoseconds.
    pub cpu_ns: i64,
}

/// A calling context tree that is being added to the type's tree.
struct Part<'a> {
    tree: &'a CallingContextTree,
    /// The process and the thread.
    under: [FrameId; 2],
    /// The frame of each function.
    frames: Vec<FrameId>,
}

impl Stitched {
    /// The call tree of a type, with the costs of its single transactions.
    ///
    /// # Errors
    /// As [`Stitched::tree`].
    pub fn observed(&self, of: TypeId) -> Result<Observed, CallTreeError> {
        let (tree, parts) = self.parts(of, |record, spot| self.function(record, spot))?;
        let (lines, _) = self.parts(of, |record, spot| self.line(record, spot))?;
        let all = self.trees().filter(|it| it.1 == of);
        let all: u64 = all.map(|(.., tree)| tree.total().cpu_ns).sum();
        let known = parts.iter().flat_map(|it| it.tree.observations());
        let known: u64 = known.map(|it| it.cpu_ns).sum();
        Ok(Observed {
            costs: costs(&tree, &parts),
            tree,
            lines,
            transactions: self.transactions_of(of),
            left_out_ns: all.saturating_sub(known),
        })
    }

    /// A tree of all observations of a type, and the parts it was made from.
    fn parts(
        &self,
        of: TypeId,
        frame: impl Fn(&ProcessRecord, Spot) -> Frame,
    ) -> Result<(CallTree, Vec<Part<'_>>), CallTreeError> {
        let mut builder = CallTreeBuilder::new(vec![ValueType::new("cpu", "ns")])?;
        let mut parts = Vec::new();
        for (record, _, thread, tree) in self.trees().filter(|it| it.1 == of) {
            let [process, thread] = self.containers(record, thread);
            let under = [builder.intern(process)?, builder.intern(thread)?];
            let nodes = tree.nodes().iter();
            let frames = nodes.map(|it| builder.intern(frame(record, it.spot)));
            let frames = frames.collect::<Result<_, _>>()?;
            parts.push(Part {
                tree,
                under,
                frames,
            });
        }
        for part in &parts {
            part.add_to(&mut builder)?;
        }
        Ok((builder.finish()?, parts))
    }
}

impl Part<'_> {
    fn add_to(&self, builder: &mut CallTreeBuilder) -> Result<(), CallTreeError> {
        let mut costs: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        for it in self.tree.observations() {
            *costs.entry(it.node).or_default() += it.cpu_ns;
        }
        for (node, cpu_ns) in costs {
            let value = i64::try_from(cpu_ns).unwrap_or(i64::MAX);
            builder.add(&self.stack(node), &[value])?;
        }
        Ok(())
    }

    /// The frames from the process to a function.
    fn stack(&self, node: Option<u32>) -> Vec<FrameId> {
        let parent = |&node: &u32| self.tree.nodes()[node as usize].parent;
        let nodes = std::iter::successors(node, parent);
        let mut stack: Vec<FrameId> = nodes.map(|it| self.frames[it as usize]).collect();
        stack.extend(self.under.iter().rev());
        stack.reverse();
        stack
    }

    /// The node in the type's tree for each function, or `None` if no observation is below it.
    fn rows(&self, of: &HashMap<(u32, u32), u32>) -> (Option<u32>, Vec<Option<u32>>) {
        let below = |at: Option<u32>, frame: FrameId| of.get(&(at?, frame.0)).copied();
        let mut under = self.under.iter();
        let own = under.try_fold(NO_NODE, |at, &it| below(Some(at), it));
        let mut rows: Vec<Option<u32>> = Vec::with_capacity(self.frames.len());
        for (node, &frame) in self.tree.nodes().iter().zip(&self.frames) {
            let parent = node.parent.map_or(own, |it| rows[it as usize]);
            rows.push(below(parent, frame));
        }
        (own, rows)
    }
}

fn costs(tree: &CallTree, parts: &[Part<'_>]) -> Vec<InstanceCost> {
    let places = tree.parents().iter().zip(tree.frame_ids());
    let rows: HashMap<(u32, u32), u32> = places
        .zip(0..)
        .map(|((&parent, &frame), row)| ((parent, frame), row))
        .collect();
    let mut numbers: HashMap<InstanceId, u32> = HashMap::new();
    let mut costs: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for part in parts {
        let (own, nodes) = part.rows(&rows);
        for it in part.tree.observations() {
            let next = numbers.len() as u32;
            let instance = *numbers.entry(it.instance).or_insert(next);
            let row = it.node.map_or(own, |node| nodes[node as usize]);
            let row = row.expect("the tree has all observations");
            *costs.entry((row, instance)).or_default() += it.cpu_ns;
        }
    }
    let cost = |((node, instance), cpu_ns)| InstanceCost {
        node,
        instance,
        cpu_ns: i64::try_from(cpu_ns).unwrap_or(i64::MAX),
    };
    costs.into_iter().map(cost).collect()
}
