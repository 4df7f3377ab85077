//! CPU samples as calling context trees, one for each transaction context (Whodunit §7.1).

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::call_tree::{CallTreeBuilder, CallTreeError, FrameId};

use crate::Synopsis;
use crate::context::names::Name;
use crate::latency::InstanceId;

/// A function in a sample's stack, and the line in it that ran or made the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The function.
    pub function: Name,
    /// The source file and the line, from 1, if known.
    pub line: Option<(Name, u32)>,
}

impl From<Name> for Spot {
    fn from(function: Name) -> Self {
        Spot {
            function,
            line: None,
        }
    }
}

/// A CPU sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The transaction context in which it was taken.
    pub context: Synopsis,
    /// The thread's name.
    pub thread: Name,
    /// The transaction that the thread worked for, if there is exactly one and it is known.
    pub instance: Option<InstanceId>,
    /// The stack, outermost first.
    pub stack: &'a [Spot],
    /// The CPU time it stands for, in nanoseconds.
    pub cpu_ns: u64,
}

/// The samples of a process, by transaction context and thread name.
#[derive(Clone, Debug)]
pub struct ContextProfile {
    trees: BTreeMap<(Synopsis, Name), CallingContextTree>,
    nodes: usize,
    limit: usize,
    unplaced: u64,
}

/// The calling context tree of one transaction context, in threads of one name.
#[derive(Clone, Debug, Default)]
pub struct CallingContextTree {
    nodes: Vec<Node>,
    index: HashMap<(Option<u32>, Spot), u32>,
    /// Cost that belongs to no function.
    own: Cost,
    observations: Vec<Observation>,
}

/// A function on one path, and one of its lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// An earlier index into [`CallingContextTree::nodes`], or `None` at the root.
    pub(crate) parent: Option<u32>,
    pub(crate) spot: Spot,
    pub(crate) cost: Cost,
}

/// What one sample shows about the transaction in which it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) instance: InstanceId,
    /// An index into [`CallingContextTree::nodes`], or `None` if it belongs to no function.
    pub(crate) node: Option<u32>,
    pub(crate) cpu_ns: u64,
}

/// The total cost of some samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// The number of samples.
    pub samples: u64,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.cpu_ns += other.cpu_ns;
        self.samples += other.samples;
    }

    /// The values of a call tree node.
    fn values(self) -> [i64; 2] {
        [self.cpu_ns, self.samples].map(|it| i64::try_from(it).unwrap_or(i64::MAX))
    }
}

impl Default for ContextProfile {
    fn default() -> Self {
        ContextProfile::with_limit(1 << 20)
    }
}

impl ContextProfile {
    /// No samples yet, and at most this many nodes in all trees.
    pub fn with_limit(nodes: usize) -> Self {
        ContextProfile {
            trees: BTreeMap::new(),
            nodes: 0,
            limit: nodes,
            unplaced: 0,
        }
    }

    /// Adds a sample. Once the limit is reached, the cost goes to the innermost function that has a node.
    pub fn add(&mut self, sample: &Sample<'_>) {
        let tree = self.trees.entry((sample.context, sample.thread));
        let tree = tree.or_default();
        let mut at = None;
        for &spot in sample.stack {
            let next = tree.index.get(&(at, spot)).copied();
            at = match next {
                Some(node) => Some(node),
                None if self.nodes < self.limit => {
                    self.nodes += 1;
                    Some(tree.push(at, spot))
                }
                None => {
                    self.unplaced += 1;
                    break;
                }
            };
        }
        tree.count(at, sample);
    }

    /// The trees, by context and thread name.
    pub fn trees(&self) -> impl Iterator<Item = (Synopsis, Name, &CallingContextTree)> {
        self.trees
            .iter()
            .map(|(&(context, thread), tree)| (context, thread, tree))
    }

    /// Samples whose innermost functions have no node.
    pub fn unplaced(&self) -> u64 {
        self.unplaced
    }
}

impl CallingContextTree {
    fn push(&mut self, parent: Option<u32>, spot: Spot) -> u32 {
        let number = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            spot,
            cost: Cost::default(),
        });
        self.index.insert((parent, spot), number);
        number
    }

    fn count(&mut self, node: Option<u32>, sample: &Sample<'_>) {
        let cost = match node {
            Some(node) => &mut self.nodes[node as usize].cost,
            None => &mut self.own,
        };
        let cpu_ns = sample.cpu_ns;
        cost.add(Cost { cpu_ns, samples: 1 });
        if let Some(instance) = sample.instance {
            self.observations.push(Observation {
                instance,
                node,
                cpu_ns,
            });
        }
    }

    /// The cost of all samples.
    pub fn total(&self) -> Cost {
        let costs = self.nodes.iter().map(|it| it.cost);
        costs.fold(self.own, |mut sum, cost| {
            sum.add(cost);
            sum
        })
    }

    /// The names of functions and files.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        let names = |it: &Node| [Some(it.spot.function), it.spot.line.map(|(file, _)| file)];
        self.nodes.iter().flat_map(names).flatten()
    }

    /// The functions, each after its caller.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Cost that belongs to no function.
    pub(crate) fn own(&self) -> Cost {
        self.own
    }

    /// What the samples show about single transactions.
    pub(crate) fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Adds the samples to a call tree of CPU time and sample counts, below the frames `under`.
    ///
    /// # Errors
    /// As [`CallTreeBuilder::add`] and [`CallTreeBuilder::intern`].
    pub fn add_to(
        &self,
        builder: &mut CallTreeBuilder,
        under: &[FrameId],
        mut frame: impl FnMut(&mut CallTreeBuilder, Spot) -> Result<FrameId, CallTreeError>,
    ) -> Result<(), CallTreeError> {
        if self.own != Cost::default() {
            builder.add(under, &self.own.values())?;
        }
        // A node comes after its parent.
        let mut stacks: Vec<Vec<FrameId>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut stack = match node.parent {
                Some(parent) => stacks[parent as usize].clone(),
                None => under.to_vec(),
            };
            stack.push(frame(builder, node.spot)?);
            if node.cost != Cost::default() {
                builder.add(&stack, &node.cost.values())?;
            }
            stacks.push(stack);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_model::call_tree::{Frame, ValueType};

    const CONTEXT: Synopsis = Synopsis::EMPTY;
    const THREAD: Name = Name(9);

    fn add(profile: &mut ContextProfile, instance: Option<u64>, stack: &[Spot], cpu_ns: u64) {
        profile.add(&Sample {
            context: CONTEXT,
            thread: THREAD,
            instance: instance.map(InstanceId),
            stack,
            cpu_ns,
        });
    }

    fn letters() -> (Spot, Spot, Spot) {
        (Name(0).into(), Name(1).into(), Name(2).into())
    }

    /// The nodes of the only tree, as letters with nanoseconds and sample counts.
    fn nodes(profile: &ContextProfile) -> Vec<String> {
        let types = vec![ValueType::new("cpu", "ns"), ValueType::new("samples", "")];
        let mut builder = CallTreeBuilder::new(types).unwrap();
        let root = builder.intern(Frame::container("thread")).unwrap();
        for (_, _, tree) in profile.trees() {
            tree.add_to(&mut builder, &[root], |builder, spot| {
                let letter = char::from(b'a' + spot.function.number() as u8);
                builder.intern(Frame::function(letter))
            })
            .unwrap();
        }
        let tree = builder.finish().unwrap();
        let line = |node| {
            let stack: String = tree
                .stack(node)
                .skip(1)
                .map(|it| &*tree.frame(it).name)
                .collect();
            let row = node as usize;
            format!("{stack} {} {}", tree.values(0)[row], tree.values(1)[row])
        };
        (0..tree.len()).map(line).collect()
    }

    #[test]
    fn samples_add_up_where_their_stacks_are() {
        let mut profile = ContextProfile::default();
        let (a, b, c) = letters();
        for (stack, ns) in [
            (vec![a, b], 10),
            (vec![a], 5),
            (vec![a, b], 20),
            (vec![a, b, a], 1),
            (vec![c], 2),
            (vec![], 4),
        ] {
            add(&mut profile, None, &stack, ns);
        }
        assert_eq!(
            nodes(&profile),
            [" 4 1", "a 5 1", "ab 30 2", "aba 1 1", "c 2 1"]
        );
        let total = Cost {
            cpu_ns: 42,
            samples: 6,
        };
        assert_eq!(profile.trees().next().unwrap().2.total(), total);
    }

    #[test]
    fn the_limit_loses_no_cost() {
        let mut profile = ContextProfile::with_limit(2);
        let (a, b, c) = letters();
        add(&mut profile, None, &[a, b, c], 10);
        add(&mut profile, None, &[c], 1);
        add(&mut profile, None, &[a, b], 3);
        assert_eq!(nodes(&profile), [" 1 1", "a 0 0", "ab 13 2"]);
        assert_eq!(profile.unplaced(), 2);
    }

    #[test]
    fn lines_are_told_apart_and_functions_are_not() {
        let (a, b, _) = letters();
        let at = |line: u32| Spot {
            line: Some((Name(3), line)),
            ..b
        };
        let mut profile = ContextProfile::default();
        for (line, ns) in [(7, 10), (8, 20), (7, 1)] {
            add(&mut profile, None, &[a, at(line)], ns);
        }
        assert_eq!(nodes(&profile), [" 0 0", "a 0 0", "ab 31 3"]);
        let tree = profile.trees().next().unwrap().2;
        assert_eq!(tree.nodes().len(), 3);
        let names: Vec<u32> = tree.names().map(Name::number).collect();
        assert_eq!(names, [0, 1, 3, 1, 3]);
    }

    #[test]
    fn samples_of_single_transactions_are_kept_with_their_places() {
        let (a, b, _) = letters();
        let mut profile = ContextProfile::default();
        add(&mut profile, Some(7), &[a, b], 10);
        add(&mut profile, None, &[a, b], 20);
        add(&mut profile, Some(8), &[], 3);
        let tree = profile.trees().next().unwrap().2;
        let seen = tree.observations().iter();
        let seen: Vec<_> = seen.map(|it| (it.instance.0, it.node, it.cpu_ns)).collect();
        assert_eq!(seen, [(7, Some(1), 10), (8, None, 3)]);
    }
}
