//! The stacks of a call tree that have values.

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::FrameKind;

/// One stack.
pub(crate) struct Sample<'s> {
    /// The node.
    pub(crate) node: u32,
    /// The frame numbers of its processes and threads, outermost first.
    pub(crate) containers: &'s [u32],
    /// The frame numbers of its functions, outermost first. Empty for a container's own values.
    pub(crate) functions: &'s [u32],
}

/// Which stacks to write, and in which order.
#[derive(Clone, Copy)]
pub(crate) enum Order<'o> {
    /// All stacks, in preorder.
    Tree,
    /// The stacks of these nodes.
    These(&'o [u32]),
}

/// Calls `then` with every stack for whose node `wanted` is true, until the first error.
pub(crate) fn for_each<E>(
    tree: &CallTree,
    order: Order,
    wanted: impl Fn(u32) -> bool,
    mut then: impl FnMut(Sample) -> Result<(), E>,
) -> Result<(), E> {
    if let Order::These(nodes) = order {
        let (mut containers, mut functions) = (Vec::new(), Vec::new());
        for &node in nodes.iter().filter(|&&node| wanted(node)) {
            containers.clear();
            functions.clear();
            for above in tree.stack(node) {
                let frame = tree.frame_ids()[above as usize];
                match tree.frame(above).kind {
                    FrameKind::Container => containers.push(frame),
                    FrameKind::Function => functions.push(frame),
                }
            }
            then(Sample {
                node,
                containers: &containers,
                functions: &functions,
            })?;
        }
        return Ok(());
    }
    let mut open: Vec<(u32, FrameKind)> = Vec::new();
    let (mut containers, mut functions) = (Vec::new(), Vec::new());
    for node in 0..tree.len() {
        while let Some(&(end, kind)) = open.last()
            && end <= node
        {
            open.pop();
            match kind {
                FrameKind::Container => containers.pop(),
                FrameKind::Function => functions.pop(),
            };
        }
        let kind = tree.frame(node).kind;
        open.push((tree.ends()[node as usize], kind));
        let frame = tree.frame_ids()[node as usize];
        match kind {
            FrameKind::Container => containers.push(frame),
            FrameKind::Function => functions.push(frame),
        }
        if wanted(node) {
            then(Sample {
                node,
                containers: &containers,
                functions: &functions,
            })?;
        }
    }
    Ok(())
}
