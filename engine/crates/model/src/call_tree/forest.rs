//! Calling contexts that a reader has already distinguished, before they reach a builder.

use super::sorted_batch::SortedBatch;
use super::{CallTreeBuilder, CallTreeError, FrameId, MAX_MAGNITUDE, NO_NODE};

/// Contexts whose frames have the caller's own numbers.
#[derive(Clone, Debug)]
pub struct Forest {
    parent: Vec<u32>,
    depth: Vec<u32>,
    frame: Vec<u32>,
    /// One column a value type.
    values: Vec<Vec<i64>>,
}

/// A [`Forest`] whose frames are a builder's, ready for it.
#[derive(Debug)]
pub struct Sorted(Of);

#[derive(Debug)]
enum Of {
    Run(SortedBatch),
    /// Some siblings have one frame.
    Alike(Forest),
}

impl Forest {
    /// A forest without contexts; each will have so many values.
    pub fn new(value_types: usize) -> Self {
        Forest {
            parent: Vec::new(),
            depth: Vec::new(),
            frame: Vec::new(),
            values: vec![Vec::new(); value_types],
        }
    }

    /// The number of contexts.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there is no context.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// Adds a context of no cost and returns its number: they are given in order, from 0. A root has the parent
    /// [`NO_NODE`].
    ///
    /// # Panics
    /// When there is no such parent.
    pub fn push(&mut self, parent: u32, frame: u32) -> u32 {
        let number = self.len() as u32;
        let depth = match parent {
            NO_NODE => 0,
            parent => self.depth[parent as usize] + 1,
        };
        self.parent.push(parent);
        self.depth.push(depth);
        self.frame.push(frame);
        self.values.iter_mut().for_each(|column| column.push(0));
        number
    }

    /// Adds to a value of a context's own cost. What is more than an `i64` holds is lost, and the builder refuses it.
    ///
    /// # Panics
    /// When there is no such context or no such value type.
    pub fn add(&mut self, context: u32, value_type: usize, value: i64) {
        let sum = &mut self.values[value_type][context as usize];
        *sum = sum.saturating_add(value);
    }

    /// The same with a builder's frames: `ids` by the numbers here. Takes time and needs no builder, so several can be made
    /// at once. Contexts that are alike by these frames are one in the tree.
    ///
    /// # Panics
    /// When a frame has no id.
    pub fn sort(mut self, ids: &[FrameId]) -> Sorted {
        let numbers = self.frame.iter_mut();
        numbers.for_each(|number| *number = ids[*number as usize].0);
        let children = Children::of(&self);
        let alike = |pair: &[u32]| self.frame[pair[0] as usize] == self.frame[pair[1] as usize];
        let parents = (0..self.len() as u32).chain([NO_NODE]);
        if parents
            .map(|parent| children.under(parent))
            .any(|siblings| siblings.windows(2).any(alike))
        {
            return Sorted(Of::Alike(self));
        }
        let mut run = SortedBatch::with_room(self.len(), self.values.len());
        let mut open: Vec<u32> = children.under(NO_NODE).iter().rev().copied().collect();
        while let Some(node) = open.pop() {
            let row = node as usize;
            run.depth.push(self.depth[row]);
            run.frame.push(self.frame[row]);
            for (to, from) in run.values.iter_mut().zip(&self.values) {
                to.push(from[row]);
            }
            open.extend(children.under(node).iter().rev());
        }
        Sorted(Of::Run(run))
    }

    /// The frames of a context, outermost first.
    fn stack(&self, context: u32, stack: &mut Vec<FrameId>) {
        stack.clear();
        let mut at = context;
        while at != NO_NODE {
            stack.push(FrameId(self.frame[at as usize]));
            at = self.parent[at as usize];
        }
        stack.reverse();
    }
}

/// The children of each context, by their frames.
struct Children {
    nodes: Vec<u32>,
    /// Where each context's children end. They begin where those of the one before end; the roots come first.
    ends: Vec<u32>,
}

impl Children {
    /// Sorts by frame, then by parent, each time by counting.
    fn of(forest: &Forest) -> Self {
        let frames = forest
            .frame
            .iter()
            .max()
            .map_or(0, |&most| most as usize + 1);
        let by_frame = sorted(0..forest.len() as u32, frames, |node| {
            forest.frame[node as usize] as usize
        });
        let nodes = by_frame.0.into_iter();
        let (nodes, ends) = sorted(nodes, forest.len() + 1, |node| {
            forest.parent[node as usize].wrapping_add(1) as usize
        });
        Children { nodes, ends }
    }

    fn under(&self, parent: u32) -> &[u32] {
        let row = parent.wrapping_add(1) as usize;
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.nodes[start as usize..self.ends[row] as usize]
    }
}

/// Nodes by their keys, which are below `keys`; and where those of each key end. Nodes of one key stay in order.
fn sorted(
    nodes: impl ExactSizeIterator<Item = u32> + Clone,
    keys: usize,
    key: impl Fn(u32) -> usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut next = vec![0_u32; keys + 1];
    nodes.clone().for_each(|node| next[key(node) + 1] += 1);
    for key in 0..keys {
        next[key + 1] += next[key];
    }
    let mut out = vec![0; nodes.len()];
    for node in nodes {
        let at = &mut next[key(node)];
        out[*at as usize] = node;
        *at += 1;
    }
    next.pop();
    (out, next)
}

impl CallTreeBuilder {
    /// Adds contexts with their costs, as if each were a sample.
    ///
    /// # Errors
    /// When they do not fit the tree or a limit. The tree may then have some of them.
    pub fn graft(&mut self, sorted: Sorted) -> Result<(), CallTreeError> {
        let run = match sorted.0 {
            Of::Run(run) => run,
            Of::Alike(forest) => return self.graft_one_by_one(&forest),
        };
        let (expected, found) = (self.value_types.len(), run.values.len());
        if found != expected {
            return Err(CallTreeError::WrongValues { expected, found });
        }
        let limit = self.limits.depth;
        if let Some(&deepest) = run.depth.iter().max()
            && deepest >= limit
        {
            let depth = deepest as usize + 1;
            return Err(CallTreeError::TooDeep { depth, limit });
        }
        if let Some(&frame) = run
            .frame
            .iter()
            .find(|&&it| it as usize >= self.frames.len())
        {
            return Err(CallTreeError::UnknownFrame(frame));
        }
        let columns = run.values.iter().zip(&self.value_types);
        for (sum, (column, kind)) in self.magnitudes.iter_mut().zip(columns) {
            let added = column.iter().map(|it| u128::from(it.unsigned_abs()));
            let all = u128::from(*sum) + added.sum::<u128>();
            if all > MAX_MAGNITUDE as u128 {
                let value = kind.name.clone();
                return Err(CallTreeError::TooMuchCost { value });
            }
            *sum = all as u64;
        }
        self.check_nodes(run.len())?;
        self.push(run)
    }

    fn graft_one_by_one(&mut self, forest: &Forest) -> Result<(), CallTreeError> {
        let mut leaf = vec![true; forest.len()];
        for &parent in forest.parent.iter().filter(|&&parent| parent != NO_NODE) {
            leaf[parent as usize] = false;
        }
        let (mut stack, mut values) = (Vec::new(), Vec::new());
        for context in 0..forest.len() as u32 {
            values.clear();
            values.extend(forest.values.iter().map(|column| column[context as usize]));
            // What has no cost of its own comes with its descendants.
            if leaf[context as usize] || values.iter().any(|&value| value != 0) {
                forest.stack(context, &mut stack);
                self.add(&stack, &values)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_tree::{CallTree, Frame, Limits, ValueType};

    /// Frames of a builder, in another order than those of the forests, whose numbers are places in the alphabet.
    fn builder(names: &str) -> (CallTreeBuilder, Vec<FrameId>) {
        let types = vec![ValueType::new("cpu", "ns"), ValueType::new("samples", "")];
        let limits = Limits {
            nodes: 8,
            frames: 10,
            depth: 4,
        };
        let mut builder = CallTreeBuilder::with_limits(types, limits).unwrap();
        for name in names.chars().rev() {
            builder.intern(Frame::function(name)).unwrap();
        }
        let id = |name| builder.intern(Frame::function(name)).unwrap();
        let ids = names.chars().map(id).collect();
        (builder, ids)
    }

    /// Parent, number and values of each context.
    fn forest(contexts: &[(u32, u32, [i64; 2])]) -> Forest {
        let mut forest = Forest::new(2);
        for &(parent, number, values) in contexts {
            let context = forest.push(parent, number);
            for (value_type, value) in values.into_iter().enumerate() {
                forest.add(context, value_type, value);
            }
        }
        forest
    }

    fn text(tree: &CallTree) -> Vec<String> {
        let line = |node| {
            let stack: String = tree.stack(node).map(|it| &*tree.frame(it).name).collect();
            let row = node as usize;
            format!("{stack} {} {}", tree.values(0)[row], tree.values(1)[row])
        };
        (0..tree.len()).map(line).collect()
    }

    const TOP: u32 = NO_NODE;

    #[test]
    fn contexts_join_those_of_samples_and_of_other_forests() {
        let (mut builder, ids) = builder("abc");
        builder.add(&[ids[0], ids[1]], &[100, 1]).unwrap();
        let one = [
            (TOP, 0, [1, 1]),
            (0, 2, [2, 1]),
            (TOP, 1, [-4, 1]),
            (0, 1, [0, 0]),
        ];
        let two = [
            (TOP, 1, [8, 1]),
            (0, 1, [16, 1]),
            (TOP, 0, [0, 0]),
            (2, 2, [32, 1]),
        ];
        for contexts in [one, two] {
            builder.graft(forest(&contexts).sort(&ids)).unwrap();
        }
        // Siblings are by the builder's numbers: c, b, a.
        let tree = builder.finish().unwrap();
        assert_eq!(
            text(&tree),
            ["b 4 2", "bb 16 1", "a 1 1", "ac 34 2", "ab 100 1"]
        );
    }

    #[test]
    fn contexts_that_become_alike_are_one() {
        let (mut builder, mut ids) = builder("abc");
        ids[1] = ids[0];
        let contexts = [
            (TOP, 0, [1, 1]),
            (0, 2, [2, 1]),
            (TOP, 1, [0, 0]),
            (2, 2, [4, 1]),
            (2, 1, [0, 0]),
        ];
        builder.graft(forest(&contexts).sort(&ids)).unwrap();
        let tree = builder.finish().unwrap();
        assert_eq!(text(&tree), ["a 1 1", "ac 6 2", "aa 0 0"]);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_limit() {
        let deep = [
            (TOP, 0, [0, 0]),
            (0, 0, [0, 0]),
            (1, 0, [0, 0]),
            (2, 0, [0, 0]),
            (3, 0, [0, 0]),
        ];
        let many: Vec<_> = (0..9).map(|number| (TOP, number, [0, 0])).collect();
        let costly = [(TOP, 0, [MAX_MAGNITUDE, 0]), (TOP, 1, [-1, 0])];
        let huge = [(TOP, 0, [i64::MIN, 0])];
        let value = || "cpu".to_owned();
        for (contexts, expect) in [
            (&deep[..], CallTreeError::TooDeep { depth: 5, limit: 4 }),
            (&many, CallTreeError::TooManyNodes { limit: 8 }),
            (&costly, CallTreeError::TooMuchCost { value: value() }),
            (&huge, CallTreeError::TooMuchCost { value: value() }),
        ] {
            let (mut builder, ids) = builder("abcdefghi");
            let found = builder.graft(forest(contexts).sort(&ids));
            assert_eq!(found, Err(expect));
        }
        let (mut builder, _) = builder("a");
        let unknown = forest(&[(TOP, 0, [0, 0])]).sort(&[FrameId(1)]);
        assert_eq!(builder.graft(unknown), Err(CallTreeError::UnknownFrame(1)));
        let narrow = CallTreeError::WrongValues {
            expected: 2,
            found: 1,
        };
        assert_eq!(builder.graft(Forest::new(1).sort(&[])), Err(narrow));
        assert!(builder.finish().unwrap().is_empty());
    }

    #[test]
    fn large_values_never_wrap_around() {
        let (mut builder, ids) = builder("a");
        let mut forest = forest(&[(TOP, 0, [i64::MAX, 0])]);
        forest.add(0, 0, i64::MAX);
        let refused = builder.graft(forest.sort(&ids));
        assert!(matches!(refused, Err(CallTreeError::TooMuchCost { .. })));
    }
}
