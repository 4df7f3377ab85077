//! Renaming frames.

use super::{CallTree, CallTreeBuilder, CallTreeError, Frame, FrameId};

impl CallTree {
    /// The tree with the names that `rename` gives; frames of which it says nothing keep theirs. Frames that become alike become one, and siblings that do, one node.
    ///
    /// # Errors
    /// [`CallTreeError`], when the tree does not fit the builder's default limits.
    pub fn rename(
        mut self,
        mut rename: impl FnMut(&Frame) -> Option<String>,
    ) -> Result<CallTree, CallTreeError> {
        let mut changed = false;
        for frame in &mut self.frames {
            if let Some(name) = rename(frame) {
                frame.name = name;
                changed = true;
            }
        }
        if !changed {
            return Ok(self);
        }
        let mut builder = CallTreeBuilder::new(self.value_types.clone())?;
        let ids = self.frames.iter().map(|it| builder.intern(it.clone()));
        let ids: Vec<FrameId> = ids.collect::<Result<_, _>>()?;
        // Without two that are alike each frame keeps its number, and the tree its shape.
        if ids.iter().zip(0..).all(|(id, n)| id.0 == n) {
            return Ok(self);
        }
        let (mut open, mut stack): (Vec<u32>, Vec<FrameId>) = (Vec::new(), Vec::new());
        let mut values = vec![0; self.value_types.len()];
        for node in 0..self.len() {
            let row = node as usize;
            while open.last().is_some_and(|&end| end <= node) {
                open.pop();
                stack.pop();
            }
            open.push(self.end[row]);
            stack.push(ids[self.frame[row] as usize]);
            for (value, column) in values.iter_mut().zip(&self.values) {
                *value = column[row];
            }
            // What has no cost of its own comes back with its descendants; a leaf has to be said.
            if self.end[row] == node + 1 || values.iter().any(|&value| value != 0) {
                builder.add(&stack, &values)?;
            }
        }
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::call_tree::{CallTree, CallTreeBuilder, Frame, ValueType};

    fn tree(stacks: &[(&str, i64)]) -> CallTree {
        let mut builder = CallTreeBuilder::new(vec![ValueType::new("cpu", "ns")]).unwrap();
        for (stack, value) in stacks {
            let ids = stack
                .split(' ')
                .map(|name| builder.intern(Frame::function(name)).unwrap());
            let ids: Vec<_> = ids.collect();
            builder.add(&ids, &[*value]).unwrap();
        }
        builder.finish().unwrap()
    }

    fn contents(tree: &CallTree) -> Vec<(String, i64)> {
        let path = |n| {
            tree.stack(n)
                .map(|it| &*tree.frame(it).name)
                .collect::<Vec<_>>()
                .join(" ")
        };
        (0..tree.len())
            .map(|n| (path(n), tree.values(0)[n as usize]))
            .collect()
    }

    #[test]
    fn siblings_that_become_alike_are_one_node() {
        let before = tree(&[
            ("a b1 c", 1),
            ("a b2 c", 2),
            ("a b2 d", 4),
            ("a b1", 8),
            ("e", 0),
        ]);
        let after = before
            .clone()
            .rename(|frame| Some(frame.name[..1].to_owned()))
            .unwrap();
        let expect = [("a", 0), ("a b", 8), ("a b c", 3), ("a b d", 4), ("e", 0)];
        let mut found = contents(&after);
        found.sort();
        assert_eq!(found, expect.map(|(path, value)| (path.to_owned(), value)));
        assert_eq!(after.frames().len(), 5);
        assert_eq!(after.total(0), before.total(0));
    }

    #[test]
    fn other_names_alone_change_nothing_else() {
        let before = tree(&[("a b", 1), ("b a", 2)]);
        let after = before
            .clone()
            .rename(|frame| Some(format!("{}!", frame.name)));
        let after = after.unwrap();
        assert_eq!(after.ends(), before.ends());
        assert_eq!(after.values(0), before.values(0));
        let names: Vec<_> = contents(&after).into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, ["a!", "a! b!", "b!", "b! a!"]);
    }
}
