//! Samples to a call tree.

use super::frame::Frames;
use super::sorted_batch::{Batch, SortedBatch};
use super::sorting::Sorting;
use super::{CallTree, CallTreeError, Frame, FrameId, Limits, MAX_MAGNITUDE, ValueType};

/// Frames in a batch: 4 MB of them, which sort within the cache.
const BATCH: usize = 1 << 20;

/// A batch of so many frames is likely to become full.
const GROWN: usize = 1 << 15;

/// Builds a [`CallTree`] from samples in any order.
///
/// Needs about twice the memory of the tree at its end.
#[derive(Debug)]
pub struct CallTreeBuilder {
    pub(super) value_types: Vec<ValueType>,
    pub(super) limits: Limits,
    pub(super) frames: Frames,
    batch: Batch,
    batch_size: usize,
    sorting: Sorting,
    /// Sums of the values without their signs.
    pub(super) magnitudes: Vec<u64>,
}

impl CallTreeBuilder {
    /// An empty tree with these value types and the default [`Limits`].
    ///
    /// # Errors
    /// [`CallTreeError::NoValueTypes`].
    pub fn new(value_types: Vec<ValueType>) -> Result<Self, CallTreeError> {
        CallTreeBuilder::with_limits(value_types, Limits::default())
    }

    /// An empty tree with these value types and limits.
    ///
    /// # Errors
    /// [`CallTreeError::NoValueTypes`].
    pub fn with_limits(value_types: Vec<ValueType>, limits: Limits) -> Result<Self, CallTreeError> {
        if value_types.is_empty() {
            return Err(CallTreeError::NoValueTypes);
        }
        Ok(CallTreeBuilder {
            sorting: Sorting::new(value_types.len(), limits.nodes.min(super::NO_NODE - 1)),
            magnitudes: vec![0; value_types.len()],
            value_types,
            limits,
            frames: Frames::default(),
            batch: Batch::default(),
            batch_size: BATCH,
        })
    }

    /// The number of this frame; equal frames have one number.
    ///
    /// # Errors
    /// [`CallTreeError::TooManyFrames`].
    pub fn intern(&mut self, frame: Frame) -> Result<FrameId, CallTreeError> {
        self.frames.intern(frame, self.limits.frames)
    }

    /// Makes room for so many more frames, without which they come a little slower. More than the limit are not worth room.
    pub fn reserve_frames(&mut self, more: usize) {
        let limit = self.limits.frames as usize;
        self.frames.reserve(more.min(limit));
    }

    /// Adds one sample. `stack` is outermost first; `values` has one value a type, and belongs to the innermost frame
    /// alone. Values of equal stacks add up.
    ///
    /// # Errors
    /// When the sample does not fit the tree or a limit. The tree is then as before, except after
    /// [`CallTreeError::TooManyNodes`].
    pub fn add(&mut self, stack: &[FrameId], values: &[i64]) -> Result<(), CallTreeError> {
        self.check(stack, values)?;
        for ((sum, &value), kind) in self.magnitudes.iter().zip(values).zip(&self.value_types) {
            // No overflow: the sum is at most a quarter of what an `i64` holds.
            if sum + value.unsigned_abs() > MAX_MAGNITUDE as u64 {
                return Err(CallTreeError::TooMuchCost {
                    value: kind.name.clone(),
                });
            }
        }
        for (sum, &value) in self.magnitudes.iter_mut().zip(values) {
            *sum += value.unsigned_abs();
        }
        if self.batch.frames() > 0 && self.batch.frames() + stack.len() > self.batch_size {
            let batch = std::mem::take(&mut self.batch);
            self.sorting.begin(batch)?;
        }
        if self.batch.frames() >= GROWN {
            self.batch.reserve(self.batch_size);
        }
        self.batch.push(stack.iter().map(|id| id.0), values);
        Ok(())
    }

    fn check(&self, stack: &[FrameId], values: &[i64]) -> Result<(), CallTreeError> {
        if values.len() != self.value_types.len() {
            return Err(CallTreeError::WrongValues {
                expected: self.value_types.len(),
                found: values.len(),
            });
        }
        if stack.is_empty() {
            return Err(CallTreeError::EmptyStack);
        }
        if stack.len() > self.limits.depth as usize {
            return Err(CallTreeError::TooDeep {
                depth: stack.len(),
                limit: self.limits.depth,
            });
        }
        let last = stack.iter().map(|id| id.0).max().unwrap_or(0);
        match last as usize >= self.frames.len() {
            true => Err(CallTreeError::UnknownFrame(last)),
            false => Ok(()),
        }
    }

    pub(super) fn push(&mut self, run: SortedBatch) -> Result<(), CallTreeError> {
        self.sorting.push(run)
    }

    pub(super) fn check_nodes(&self, nodes: usize) -> Result<(), CallTreeError> {
        self.sorting.check(nodes)
    }

    /// The tree of all samples.
    ///
    /// # Errors
    /// [`CallTreeError::TooManyNodes`].
    pub fn finish(mut self) -> Result<CallTree, CallTreeError> {
        let batch = std::mem::take(&mut self.batch);
        self.sorting.here(&batch)?;
        drop(batch);
        let run = self.sorting.finish()?;
        Ok(CallTree::of_run(
            run,
            self.frames.in_order(),
            self.value_types,
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use fulcrum_stats::Random;

    fn time() -> Vec<ValueType> {
        vec![ValueType::new("cpu", "ns"), ValueType::new("samples", "")]
    }

    fn frames(builder: &mut CallTreeBuilder, names: &[&str]) -> Vec<FrameId> {
        let intern = |name: &&str| builder.intern(Frame::function(*name));
        names.iter().map(intern).collect::<Result<_, _>>().unwrap()
    }

    /// Every node's path and values.
    fn contents(tree: &CallTree) -> BTreeMap<String, Vec<i64>> {
        let path = |n| {
            let names: Vec<_> = tree
                .stack(n)
                .map(|it| tree.frame(it).name.clone())
                .collect();
            names.join(" ")
        };
        let values = |n| {
            (0..tree.value_types().len())
                .map(|v| tree.values(v)[n as usize])
                .collect()
        };
        let nodes: Vec<_> = (0..tree.len()).map(|n| (path(n), values(n))).collect();
        let distinct: BTreeMap<_, _> = nodes.iter().cloned().collect();
        assert_eq!(distinct.len(), nodes.len(), "a context has two nodes");
        distinct
    }

    #[test]
    fn samples_in_any_order_and_any_batches_give_the_tree_of_their_contexts() {
        let letters = ["a", "b", "c"];
        for batch_size in [1, 2, 7, 40, 1000] {
            let mut builder = CallTreeBuilder::new(time()).unwrap();
            builder.batch_size = batch_size;
            let ids = frames(&mut builder, &letters);
            let mut expected: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            let mut random = Random::new(12345);
            let mut below = |n| random.below(n);
            for _ in 0..200 {
                let stack: Vec<usize> = (0..=below(5)).map(|_| below(3) as usize).collect();
                let values = [below(20) as i64 - 5, 1];
                for end in 1..=stack.len() {
                    let path: Vec<_> = stack[..end].iter().map(|&n| letters[n]).collect();
                    let node = expected.entry(path.join(" ")).or_insert_with(|| vec![0, 0]);
                    if end == stack.len() {
                        node.iter_mut()
                            .zip(values)
                            .for_each(|(sum, value)| *sum += value);
                    }
                }
                let stack: Vec<_> = stack.iter().map(|&n| ids[n]).collect();
                builder.add(&stack, &values).unwrap();
            }
            let tree = builder.finish().unwrap();
            assert_eq!(contents(&tree), expected, "batches of {batch_size}");
            assert_eq!(tree.total(1), 200);
        }
    }

    #[test]
    fn a_tree_without_samples_is_empty() {
        let tree = CallTreeBuilder::new(time()).unwrap().finish().unwrap();
        assert_eq!((tree.len(), tree.total(0)), (0, 0));
        assert_eq!(tree.roots().count(), 0);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_limit() {
        let limits = Limits {
            nodes: 3,
            frames: 2,
            depth: 3,
        };
        let mut builder = CallTreeBuilder::with_limits(time(), limits).unwrap();
        let ids = frames(&mut builder, &["a", "b"]);
        assert_eq!(builder.intern(Frame::function("a")), Ok(ids[0]));
        assert_eq!(
            builder.intern(Frame::function("c")),
            Err(CallTreeError::TooManyFrames { limit: 2 })
        );
        let refused = [
            (builder.add(&[], &[1, 1]), CallTreeError::EmptyStack),
            (
                builder.add(&ids, &[1]),
                CallTreeError::WrongValues {
                    expected: 2,
                    found: 1,
                },
            ),
            (
                builder.add(&[ids[0]; 4], &[1, 1]),
                CallTreeError::TooDeep { depth: 4, limit: 3 },
            ),
            (
                builder.add(&[FrameId(2)], &[1, 1]),
                CallTreeError::UnknownFrame(2),
            ),
        ];
        for (result, expected) in refused {
            assert_eq!(result, Err(expected));
        }
        builder
            .add(&[ids[0], ids[1]], &[MAX_MAGNITUDE - 1, 0])
            .unwrap();
        assert_eq!(
            builder.add(&ids, &[-2, 0]),
            Err(CallTreeError::TooMuchCost {
                value: "cpu".into()
            })
        );
        builder.add(&[ids[1], ids[0]], &[1, 0]).unwrap();
        assert_eq!(
            builder.finish().map(|tree| tree.len()),
            Err(CallTreeError::TooManyNodes { limit: 3 })
        );
        let none = CallTreeBuilder::new(Vec::new()).map(|_| ());
        assert_eq!(none, Err(CallTreeError::NoValueTypes));
    }
}
