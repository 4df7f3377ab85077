//! Sorted runs: pieces of a call tree in preorder, made from batches of samples and merged in one pass.
//!
//! Samples come shuffled in real files. Looking each frame up in a tree of ten million nodes misses the cache every time;
//! sorting small batches and merging the results reads and writes memory in order.

use fulcrum_memory::in_large_pages;

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
    pub(crate) fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Makes room for so many frames in all.
    pub(crate) fn reserve(&mut self, frames: usize) {
        self.frames
            .reserve_exact(frames.saturating_sub(self.frames.len()));
    }

    pub(crate) fn push(&mut self, stack: impl Iterator<Item = u32>, values: &[i64]) {
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

    /// The numbers of all stacks in their order, each with a key that no longer means anything.
    ///
    /// Stacks share long prefixes. So they are sorted by the next two frames alone, and those that are still equal by the two
    /// after them: prefixes are not compared again and again.
    fn sorted(&self) -> Vec<(u64, u32)> {
        let mut rows: Vec<(u64, u32)> = (0..self.starts.len() as u32).map(|n| (0, n)).collect();
        // Where stacks stand that are alike up to a depth.
        let mut open = vec![(0, rows.len(), 0)];
        while let Some((start, end, depth)) = open.pop() {
            let group = &mut rows[start..end];
            if group.len() <= FEW {
                let rest = |it: &(u64, u32)| &self.stack(it.1 as usize)[depth..];
                group.sort_unstable_by(|a, b| rest(a).cmp(rest(b)));
                continue;
            }
            let depth = depth + self.common(group, depth);
            for (key, n) in &mut *group {
                *key = key_of(self.stack(*n as usize), depth);
            }
            group.sort_unstable_by_key(|it| it.0);
            let mut at = start;
            for alike in group.chunk_by(|a, b| a.0 == b.0) {
                // Where a stack ends is no frame: these are alike.
                let goes_on = alike[0].0 as u32 != 0;
                if goes_on && alike.len() > 1 {
                    open.push((at, at + alike.len(), depth + 2));
                }
                at += alike.len();
            }
        }
        rows
    }

    /// How many frames all of these stacks have in common from a depth on.
    fn common(&self, group: &[(u64, u32)], depth: usize) -> usize {
        let rest = |it: &(u64, u32)| &self.stack(it.1 as usize)[depth..];
        let first = rest(&group[0]);
        let mut common = first.len();
        for it in &group[1..] {
            let same = first[..common].iter().zip(rest(it));
            common = same.take_while(|(a, b)| a == b).count();
            if common == 0 {
                break;
            }
        }
        common
    }
}

/// So few stacks are compared whole.
const FEW: usize = 8;

/// The two frames of a stack from a depth on, the first of them more important. 0 stands behind its end.
fn key_of(stack: &[u32], depth: usize) -> u64 {
    let frame = |at: usize| stack.get(at).map_or(0, |&frame| u64::from(frame) + 1);
    frame(depth) << 32 | frame(depth + 1)
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
    /// A batch without nodes, with room for so many. Unused room is never touched, so it takes no memory; growing step by step
    /// would, since it leaves holes.
    pub(crate) fn with_room(nodes: usize, value_types: usize) -> Self {
        SortedBatch {
            depth: Vec::with_capacity(nodes),
            frame: in_large_pages(Vec::with_capacity(nodes)),
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

    pub(crate) fn len(&self) -> usize {
        self.depth.len()
    }

    /// The tree of a batch's samples.
    pub(crate) fn of(batch: &Batch, value_types: usize) -> Self {
        let mut run = SortedBatch::with_room(batch.frames(), value_types);
        let mut before: &[u32] = &[];
        for (_, n) in batch.sorted() {
            let n = n as usize;
            let stack = batch.stack(n);
            let common = before.iter().zip(stack).take_while(|(a, b)| a == b).count();
            run.depth.extend(common as u32..stack.len() as u32);
            run.frame.extend_from_slice(&stack[common..]);
            let nodes = run.depth.len();
            run.values
                .iter_mut()
                .for_each(|column| column.resize(nodes, 0));
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
    pub(crate) fn merge(&self, other: &SortedBatch) -> SortedBatch {
        let mut out = SortedBatch::with_room(self.len() + other.len(), self.values.len());
        let (mut a, mut b) = (0, 0);
        while a < self.len() && b < other.len() {
            let deeper = other.depth[b].cmp(&self.depth[a]);
            match deeper.then(self.frame[a].cmp(&other.frame[b])) {
                std::cmp::Ordering::Less => a = out.copy_below(self, a, other.depth[b]),
                std::cmp::Ordering::Greater => b = out.copy_below(other, b, self.depth[a]),
                std::cmp::Ordering::Equal => {
                    out.copy(self, a);
                    for (column, from) in out.values.iter_mut().zip(&other.values) {
                        *column.last_mut().expect("just copied") += from[b];
                    }
                    (a, b) = (a + 1, b + 1);
                }
            }
        }
        out.copy_all(self, a, self.len());
        out.copy_all(other, b, other.len());
        out.fit()
    }

    /// Copies a node and all that follow it and are deeper than the other tree's next node, which that tree does not have.
    /// Returns the first node that was not copied.
    fn copy_below(&mut self, from: &SortedBatch, at: usize, depth: u32) -> usize {
        let rest = &from.depth[at + 1..];
        let more = rest.iter().position(|&it| it <= depth);
        match more.unwrap_or(rest.len()) {
            // Mostly.
            0 => self.copy(from, at),
            more => self.copy_all(from, at, at + 1 + more),
        }
        at + 1 + more.unwrap_or(rest.len())
    }

    fn copy(&mut self, from: &SortedBatch, at: usize) {
        self.depth.push(from.depth[at]);
        self.frame.push(from.frame[at]);
        for (column, from) in self.values.iter_mut().zip(&from.values) {
            column.push(from[at]);
        }
    }

    fn copy_all(&mut self, from: &SortedBatch, start: usize, end: usize) {
        self.depth.extend_from_slice(&from.depth[start..end]);
        self.frame.extend_from_slice(&from.frame[start..end]);
        for (column, from) in self.values.iter_mut().zip(&from.values) {
            column.extend_from_slice(&from[start..end]);
        }
    }
}
