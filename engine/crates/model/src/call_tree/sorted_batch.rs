//! Sorted runs: pieces of a call tree in preorder, made from batches of samples and merged in one pass.
//!
//! Samples come shuffled in real files. Looking each frame up in a tree of ten million nodes misses the cache every time;
//! sorting small batches and merging the results reads and writes memory in order.

/// Samples that wait to be sorted.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The frames of all stacks, outermost first, one stack after the other.
    frames: Vec<u32>,
    /// Where each stack begins in `frames`.
    starts: Vec<u32>,
    /// The values of all stacks, one stack after the other.
    values: Vec<i64>,
}

impl Batch {
    /// Frames in all stacks.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    pub fn push(&mut self, stack: impl Iterator<Item = u32>, values: &[i64]) {
        self.starts.push(self.frames.len() as u32);
        self.frames.extend(stack);
        self.values.extend(values);
    }

    fn stack(&self, n: usize) -> &[u32] {
        let end = self
            .starts
            .get(n + 1)
            .map_or(self.frames.len(), |&end| end as usize);
        &self.frames[self.starts[n] as usize..end]
    }
}

/// Nodes in preorder, siblings sorted by frame and no two alike.
#[derive(Debug)]
pub(super) struct SortedBatch {
    /// Roots have depth 0.
    pub depth: Vec<u32>,
    pub frame: Vec<u32>,
    /// One column a value type.
    pub values: Vec<Vec<i64>>,
}

impl SortedBatch {
    /// No nodes, and room for so many: what is not used of it is never touched, and costs no memory. Growing step by step
    /// would, as it leaves holes.
    pub fn with_room(nodes: usize, value_types: usize) -> Self {
        SortedBatch {
            depth: Vec::with_capacity(nodes),
            frame: Vec::with_capacity(nodes),
            values: (0..value_types)
                .map(|_| Vec::with_capacity(nodes))
                .collect(),
        }
    }

    /// Gives back the room that was not used.
    fn fit(mut self) -> Self {
        self.depth.shrink_to_fit();
        self.frame.shrink_to_fit();
        self.values.iter_mut().for_each(Vec::shrink_to_fit);
        self
    }

    pub fn len(&self) -> usize {
        self.depth.len()
    }

    /// The tree of a batch's samples.
    pub fn of(batch: &Batch, value_types: usize) -> Self {
        let mut order: Vec<usize> = (0..batch.starts.len()).collect();
        order.sort_unstable_by(|&a, &b| batch.stack(a).cmp(batch.stack(b)));
        let mut run = SortedBatch::with_room(batch.frames(), value_types);
        let mut before: &[u32] = &[];
        for n in order {
            let stack = batch.stack(n);
            let common = before.iter().zip(stack).take_while(|(a, b)| a == b).count();
            for (depth, &frame) in stack.iter().enumerate().skip(common) {
                run.depth.push(depth as u32);
                run.frame.push(frame);
                run.values.iter_mut().for_each(|column| column.push(0));
            }
            // A stack sorts behind its prefixes: the last node is always its own.
            let values = &batch.values[n * value_types..];
            for (column, value) in run.values.iter_mut().zip(values) {
                *column.last_mut().expect("stacks have at least one frame") += value;
            }
            before = stack;
        }
        run.fit()
    }

    /// Both trees in one. The deeper of the two next nodes goes first, as it belongs to a subtree that the other has
    /// left; at equal depth they are siblings, and the smaller frame goes first.
    pub fn merge(&self, other: &SortedBatch) -> SortedBatch {
        let mut out = SortedBatch::with_room(self.len() + other.len(), self.values.len());
        let (mut a, mut b) = (0, 0);
        while a < self.len() && b < other.len() {
            let deeper = other.depth[b].cmp(&self.depth[a]);
            match deeper.then(self.frame[a].cmp(&other.frame[b])) {
                std::cmp::Ordering::Less => out.copy(self, &mut a),
                std::cmp::Ordering::Greater => out.copy(other, &mut b),
                std::cmp::Ordering::Equal => {
                    out.copy(self, &mut a);
                    for (column, from) in out.values.iter_mut().zip(&other.values) {
                        *column.last_mut().expect("just copied") += from[b];
                    }
                    b += 1;
                }
            }
        }
        while a < self.len() {
            out.copy(self, &mut a);
        }
        while b < other.len() {
            out.copy(other, &mut b);
        }
        out.fit()
    }

    fn copy(&mut self, from: &SortedBatch, at: &mut usize) {
        self.depth.push(from.depth[*at]);
        self.frame.push(from.frame[*at]);
        for (column, from) in self.values.iter_mut().zip(&from.values) {
            column.push(from[*at]);
        }
        *at += 1;
    }
}
