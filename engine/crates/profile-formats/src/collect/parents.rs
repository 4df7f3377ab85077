//! Call trees as many files store them: each node has a frame and the row of its parent.

use crate::collect::stacks::{FrameId, MAX_DEPTH, Stacks};
use crate::decode::fault::Fault;

/// Nodes with the sums of their values.
pub(crate) struct Parents {
    frames: Vec<FrameId>,
    parents: Vec<Option<u32>>,
    /// `width` values for each node.
    values: Vec<i64>,
    width: usize,
    /// Nodes that may have values.
    touched: Vec<u32>,
}

impl Parents {
    /// No nodes yet. Each will have `width` values.
    pub(crate) fn new(width: usize) -> Self {
        Parents {
            frames: Vec::new(),
            parents: Vec::new(),
            values: Vec::new(),
            width,
            touched: Vec::new(),
        }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Adds the next node. Its parent may come later, see [`Parents::check`].
    pub(crate) fn push(&mut self, frame: FrameId, parent: Option<u32>) {
        self.frames.push(frame);
        self.parents.push(parent);
        self.values.resize(self.values.len() + self.width, 0);
    }

    /// Sets a node's parent. A second parent is an error.
    pub(crate) fn set_parent(&mut self, child: usize, parent: u32) -> Result<(), Fault> {
        match self.parents[child].replace(parent) {
            Some(other) if other != parent => {
                Err(Fault::whole("a node of the call tree has two parents"))
            }
            _ => Ok(()),
        }
    }

    /// Adds to a value of a node.
    pub(crate) fn add(&mut self, node: usize, column: usize, value: i64) -> Result<(), Fault> {
        let row = &mut self.values[node * self.width..][..self.width];
        if row.iter().all(|&value| value == 0) {
            self.touched.push(node as u32);
        }
        let slot = &mut row[column];
        *slot = slot.checked_add(value).ok_or_else(too_large)?;
        Ok(())
    }

    /// Checks that every parent exists and that no node is its own ancestor. `table` is the JSON key of the nodes.
    pub(crate) fn check(&self, table: &'static str) -> Result<(), Fault> {
        const NEW: u32 = 0;
        let mut seen = vec![NEW; self.len()];
        for (start, mark) in (0..self.len()).zip(1_u32..) {
            let mut node = start;
            while seen[node] == NEW {
                seen[node] = mark;
                let Some(parent) = self.parents[node] else {
                    break;
                };
                let child = std::mem::replace(&mut node, parent as usize);
                if node >= self.len() {
                    let fault = crate::decode::fault::dangling("a node", parent, "node");
                    return Err(fault.at_item(table, child));
                }
                if seen[node] == mark {
                    let fault = Fault::whole(format!("node {node} is its own ancestor"));
                    return Err(fault.at_item(table, node));
                }
            }
        }
        Ok(())
    }

    /// Adds every node with a value to `stacks`, and sets the values to 0. Call [`Parents::check`] first.
    pub(crate) fn drain_into(
        &mut self,
        container: Option<FrameId>,
        stacks: &mut Stacks,
    ) -> Result<(), Fault> {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        let mut stack = Vec::new();
        for node in touched {
            stack.clear();
            let mut next = Some(node);
            // One frame more than is kept shows that the stack was deeper.
            while let Some(at) = next.filter(|_| stack.len() <= MAX_DEPTH) {
                stack.push(self.frames[at as usize]);
                next = self.parents[at as usize];
            }
            stack.reverse();
            let values = &mut self.values[node as usize * self.width..][..self.width];
            stacks.add_call(container, &stack, values)?;
            values.fill(0);
        }
        Ok(())
    }
}

/// The problem of sums beyond 64 bits.
pub(crate) fn too_large() -> Fault {
    Fault::whole("the values add up to more than 9223372036854775807")
}
