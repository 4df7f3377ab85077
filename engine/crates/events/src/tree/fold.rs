//! Folds a part of a trace into a call tree, in which equal paths are one.

use std::collections::HashMap;

use fulcrum_model::call_tree::{
    CallTree, CallTreeBuilder, CallTreeError, Frame, FrameId, ValueType,
};
use fulcrum_model::{Cancelled, Progress};

use crate::index::ThreadIndex;
use crate::index::rows::Indexed;
use crate::index::search::Where;
use crate::reader::open::{Thread, Trace};
use crate::tree::stack::Node;
use crate::tree::visit::TraceRange;
use crate::tree::walk::{Passed, Walk, parking};

/// Why a part cannot be folded.
#[derive(Debug)]
pub enum FoldError {
    /// The operation was cancelled.
    Cancelled,
    /// There is no such thread or node.
    Absent,
    /// The tree is too large.
    Tree(CallTreeError),
}

impl From<Cancelled> for FoldError {
    fn from(_: Cancelled) -> FoldError {
        FoldError::Cancelled
    }
}

impl From<CallTreeError> for FoldError {
    fn from(error: CallTreeError) -> FoldError {
        FoldError::Tree(error)
    }
}

/// The value types: calls, own wall time, own CPU time.
fn value_types() -> Vec<ValueType> {
    vec![
        ValueType::new("calls", ""),
        ValueType::new("wall", "ns"),
        ValueType::new("cpu", "ns"),
    ]
}

/// Folds whole threads. Each thread is a container; waits are frames.
///
/// # Errors
/// When the tree is too large, or `progress` was cancelled.
pub fn fold(trace: &Trace, scope: &TraceRange, progress: &Progress) -> Result<CallTree, FoldError> {
    let parking = parking(trace);
    let mut folding = Folding::new(trace)?;
    let mut passed = Passed::new(progress, scope.threads(trace));
    for thread in scope.threads(trace) {
        passed.enter(thread);
        folding.container(Some(thread))?;
        let walk = Walk::new(trace, thread.id, &parking);
        folding.walk(walk, &passed, |ns| scope.has_time(ns), |_| true, u64::MAX)?;
    }
    passed.finish()?;
    Ok(folding.builder.finish()?)
}

impl Indexed {
    /// Folds a part. The tree of a single thread has no containers.
    ///
    /// # Errors
    /// When there is no such part, the tree is too large, or `progress` was cancelled.
    pub fn fold(&self, part: &Where, progress: &Progress) -> Result<CallTree, FoldError> {
        let mut folding = Folding::new(&self.trace)?;
        let threads = self.index.threads.iter();
        let threads: Vec<&ThreadIndex> = threads
            .filter(|it| part.thread.is_none_or(|id| id == it.id))
            .collect();
        if threads.is_empty() {
            return Err(FoldError::Absent);
        }
        let thread = |of: &ThreadIndex| self.trace.thread(of.id);
        let mut passed = Passed::new(progress, threads.iter().filter_map(|it| thread(it)));
        for of in threads {
            let thread = thread(of);
            if let Some(thread) = thread {
                passed.enter(thread);
            }
            folding.container(thread.filter(|_| part.thread.is_none()))?;
            let checkpoint = match part.node {
                Some(node) => of.before(node),
                None => {
                    let after = |it: &crate::index::Checkpoint| it.standing.now.0 < part.from_ns;
                    of.checkpoints.partition_point(after).saturating_sub(1)
                }
            };
            let walk = self.walk_from(of, checkpoint);
            let time = |ns| part.from_ns <= ns && ns < part.to_ns;
            let last = part
                .node
                .and_then(|node| of.span(node))
                .map_or(u64::MAX, |span| {
                    let last = of.spans[span as usize].last as usize;
                    of.checkpoints
                        .get(last + 1)
                        .map_or(u64::MAX, |it| it.standing.mark.ordinal)
                });
            match part.node {
                None => folding.walk(walk, &passed, time, |_| true, last)?,
                Some(node) => {
                    if self.row(of.id, node, progress)?.is_none() {
                        return Err(FoldError::Absent);
                    }
                    folding.walk(walk, &passed, time, |it| it == node, last)?;
                }
            }
        }
        passed.finish()?;
        Ok(folding.builder.finish()?)
    }
}

struct Folding<'a> {
    trace: &'a Trace,
    builder: CallTreeBuilder,
    frames: HashMap<(u8, u32), FrameId>,
    /// The frames of what is open, below the container.
    path: Vec<FrameId>,
    containers: usize,
}

impl<'a> Folding<'a> {
    fn new(trace: &'a Trace) -> Result<Folding<'a>, CallTreeError> {
        Ok(Folding {
            trace,
            builder: CallTreeBuilder::new(value_types())?,
            frames: HashMap::new(),
            path: Vec::new(),
            containers: 0,
        })
    }

    fn container(&mut self, thread: Option<&Thread>) -> Result<(), CallTreeError> {
        self.path.clear();
        if let Some(thread) = thread {
            let name = format!("{} ({})", thread.name, thread.id);
            self.path.push(self.builder.intern(Frame::container(name))?);
        }
        self.containers = self.path.len();
        Ok(())
    }

    fn frame(&mut self, node: Node) -> Result<FrameId, CallTreeError> {
        let key = match node {
            Node::Call { method } => (0, method),
            Node::Contended { class, .. } => (1, class),
            Node::Waiting { class, .. } => (2, class),
            Node::Collection => (3, 0),
        };
        if let Some(frame) = self.frames.get(&key) {
            return Ok(*frame);
        }
        let class = |what: &str, class: u32| {
            Frame::function(format!("{what} {}", self.trace.class_name(class)))
        };
        let frame = match node {
            Node::Call { method } => {
                let known = self.trace.methods.get(&method);
                Frame {
                    file: known.and_then(crate::reader::dictionary::Method::source_path),
                    line: known
                        .and_then(|it| u32::try_from(it.line).ok())
                        .filter(|line| *line > 0),
                    ..Frame::function(self.trace.method_name(method))
                }
            }
            Node::Contended { class: it, .. } => class("contended", it),
            Node::Waiting { class: it, .. } => class("wait", it),
            Node::Collection => Frame::function("garbage collection"),
        };
        let frame = self.builder.intern(frame)?;
        self.frames.insert(key, frame);
        Ok(frame)
    }

    /// Adds everything that ends below and including the outermost node that `roots` accepts, up to an event's number.
    fn walk(
        &mut self,
        mut walk: Walk<'_>,
        passed: &Passed<'_>,
        time: impl Fn(u64) -> bool,
        roots: impl Fn(u64) -> bool,
        until: u64,
    ) -> Result<(), FoldError> {
        // The depth of the root. Open nodes above it are not in the path.
        let mut skipped = walk.open.iter().position(|it| roots(it.node));
        for open in walk.open.iter().skip(skipped.unwrap_or(usize::MAX)) {
            let frame = self.frame(open.what)?;
            self.path.push(frame);
        }
        while walk.standing().mark.ordinal < until {
            let event = walk.step_with(passed)?;
            for at in 0..walk.ended.len() {
                let (outcome, _) = walk.ended[at];
                let Some(root) = skipped else { continue };
                if outcome.depth < root {
                    continue;
                }
                if time(outcome.start_ns) {
                    let own = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
                    let times = outcome.times;
                    let values = [
                        1,
                        own(times.self_wall_ns),
                        own(times.self_cpu_ns.unwrap_or(0)),
                    ];
                    self.builder.add(&self.path, &values)?;
                }
                self.path.pop();
                if outcome.depth == root && root > 0 {
                    skipped = None;
                }
            }
            if event.is_none() {
                break;
            }
            if walk.began {
                let open = *walk.open.last().expect("it was opened just now");
                if skipped.is_none() && roots(open.node) {
                    skipped = Some(walk.open.len() - 1);
                }
                if skipped.is_some() {
                    let frame = self.frame(open.what)?;
                    self.path.push(frame);
                }
            }
        }
        self.path.truncate(self.containers);
        Ok(())
    }
}
