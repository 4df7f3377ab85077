//! CPU samples in calling-context trees, one for each transaction context (Whodunit §7.1).

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::call_tree::{CallTreeBuilder, CallTreeError, FrameId};

use crate::Synopsis;
use crate::names::Name;

/// The samples of a process, by the context and the thread in which they were taken.
#[derive(Clone, Debug)]
pub struct Profile {
    trees: BTreeMap<(Synopsis, Name), CallingContextTree>,
    nodes: usize,
    limit: usize,
    unplaced: u64,
}

/// The calling-context tree of one context in threads of one name.
#[derive(Clone, Debug, Default)]
pub struct CallingContextTree {
    nodes: Vec<Node>,
    index: HashMap<(Option<u32>, Name), u32>,
    /// What belongs to no function.
    own: Cost,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: Option<u32>,
    name: Name,
    cost: Cost,
}

/// What samples cost together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// Samples.
    pub samples: u64,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.cpu_ns += other.cpu_ns;
        self.samples += other.samples;
    }

    /// The values of a call tree's node.
    fn values(self) -> [i64; 2] {
        [self.cpu_ns, self.samples].map(|it| i64::try_from(it).unwrap_or(i64::MAX))
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile::with_limit(1 << 20)
    }
}

impl Profile {
    /// No samples; at most so many nodes in all trees.
    pub fn with_limit(nodes: usize) -> Self {
        Profile {
            trees: BTreeMap::new(),
            nodes: 0,
            limit: nodes,
            unplaced: 0,
        }
    }

    /// Adds a sample that stands for `cpu_ns` nanoseconds. `stack` is outermost first. When the limit is met, the cost is
    /// that of the outermost functions that have nodes.
    pub fn add(&mut self, context: Synopsis, thread: Name, stack: &[Name], cpu_ns: u64) {
        let tree = self.trees.entry((context, thread)).or_default();
        let mut at = None;
        for &name in stack {
            let next = tree.index.get(&(at, name)).copied();
            at = match next {
                Some(node) => Some(node),
                None if self.nodes < self.limit => {
                    self.nodes += 1;
                    Some(tree.push(at, name))
                }
                None => {
                    self.unplaced += 1;
                    break;
                }
            };
        }
        let cost = match at {
            Some(node) => &mut tree.nodes[node as usize].cost,
            None => &mut tree.own,
        };
        cost.add(Cost { cpu_ns, samples: 1 });
    }

    /// The trees, by context and name of the thread.
    pub fn trees(&self) -> impl Iterator<Item = (Synopsis, Name, &CallingContextTree)> {
        self.trees
            .iter()
            .map(|(&(context, thread), tree)| (context, thread, tree))
    }

    /// Samples whose innermost functions got no node.
    pub fn unplaced(&self) -> u64 {
        self.unplaced
    }
}

impl CallingContextTree {
    fn push(&mut self, parent: Option<u32>, name: Name) -> u32 {
        let number = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            name,
            cost: Cost::default(),
        });
        self.index.insert((parent, name), number);
        number
    }

    /// What all its samples cost.
    pub fn total(&self) -> Cost {
        let costs = self.nodes.iter().map(|it| it.cost);
        costs.fold(self.own, |mut sum, cost| {
            sum.add(cost);
            sum
        })
    }

    /// The names of its functions.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        self.nodes.iter().map(|it| it.name)
    }

    /// Adds its samples to a call tree of CPU time and samples, below the frames `under`.
    ///
    /// # Errors
    /// As [`CallTreeBuilder::add`] and [`CallTreeBuilder::intern`].
    pub fn add_to(
        &self,
        builder: &mut CallTreeBuilder,
        under: &[FrameId],
        mut frame: impl FnMut(&mut CallTreeBuilder, Name) -> Result<FrameId, CallTreeError>,
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
            stack.push(frame(builder, node.name)?);
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

    /// The nodes of the only tree, as letters with nanoseconds and samples.
    fn nodes(profile: &Profile) -> Vec<String> {
        let types = vec![ValueType::new("cpu", "ns"), ValueType::new("samples", "")];
        let mut builder = CallTreeBuilder::new(types).unwrap();
        let root = builder.intern(Frame::container("thread")).unwrap();
        for (_, _, tree) in profile.trees() {
            tree.add_to(&mut builder, &[root], |builder, name| {
                let letter = char::from(b'a' + name.number() as u8);
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
        let mut profile = Profile::default();
        let (a, b, c) = (Name(0), Name(1), Name(2));
        for (stack, ns) in [
            (vec![a, b], 10),
            (vec![a], 5),
            (vec![a, b], 20),
            (vec![a, b, a], 1),
            (vec![c], 2),
            (vec![], 4),
        ] {
            profile.add(CONTEXT, THREAD, &stack, ns);
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
        let mut profile = Profile::with_limit(2);
        let (a, b, c) = (Name(0), Name(1), Name(2));
        profile.add(CONTEXT, THREAD, &[a, b, c], 10);
        profile.add(CONTEXT, THREAD, &[c], 1);
        profile.add(CONTEXT, THREAD, &[a, b], 3);
        assert_eq!(nodes(&profile), [" 1 1", "a 0 0", "ab 13 2"]);
        assert_eq!(profile.unplaced(), 2);
    }
}
