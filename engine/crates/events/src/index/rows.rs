//! The rows of a thread's tree, read on demand.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use fulcrum_model::{Cancelled, Progress};

use crate::index::{Index, Span, ThreadIndex};
use crate::reader::event::What;
use crate::reader::open::Trace;
use crate::tree::stack::{Closing, Node, Outcome, Times};
use crate::tree::walk::{Open, Walk};
use crate::values::CallValues;

/// A trace and its index.
#[derive(Debug)]
pub struct Indexed {
    /// The trace.
    pub trace: Trace,
    /// The index.
    pub index: Index,
}

/// A row with its place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The row.
    pub row: Row,
    /// The nodes around it, outermost first, each with its position among its siblings.
    pub above: Vec<(u64, u64)>,
}

/// A row of a thread's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The thread.
    pub thread: u32,
    /// The number in the thread of the event that began it, from 0.
    pub node: u64,
    /// What it is.
    pub what: RowWhat,
    /// The number of rows around it.
    pub depth: u32,
    /// Its position among its siblings, from 0.
    pub position: u64,
    /// When it began, in nanoseconds since the log\'s start.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Its durations. Zeros for a row without a duration.
    pub times: Times,
    /// The cost of probes that was subtracted, in nanoseconds.
    pub probes_ns: u64,
    /// The number of rows directly below it.
    pub children: u64,
    /// How it ended.
    pub closing: Closing,
    /// The call's arguments and result, if they were read with it. [`Indexed::values_of`] always has them.
    pub values: Option<Box<CallValues>>,
}

/// What a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowWhat {
    /// A node with a beginning and an end.
    Span(Node),
    /// A single event.
    Point(What),
}

/// The cost by which siblings are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cost {
    /// Wall time.
    Wall,
    /// CPU time.
    Cpu,
    /// Own wall time.
    SelfWall,
}

/// The most rows that are returned in the order of a cost.
pub const MOST_BY_COST: usize = 10_000;

/// The number of rows between two checks for cancellation.
const CANCEL_CHECK_INTERVAL: u64 = 1 << 14;

impl Indexed {
    /// Indexes a trace; see [`Index::build`].
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn new(trace: Trace, progress: &Progress) -> Result<Indexed, Cancelled> {
        let index = Index::build(&trace, progress)?;
        Ok(Indexed { trace, index })
    }

    /// The rows directly below a node, or at the top level of a thread's tree, in the order of time: from the `from`th on, at most `count`.
    /// `None` if there is no such thread or node.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn children(
        &self,
        thread: u32,
        node: Option<u64>,
        from: u64,
        count: usize,
        progress: &Progress,
    ) -> Result<Option<Vec<Row>>, Cancelled> {
        let Some(mut siblings) = self.siblings(thread, node, from)? else {
            return Ok(None);
        };
        let mut rows = Vec::new();
        while rows.len() < count {
            match siblings.next(progress)? {
                Some(row) if row.position >= from => rows.push(row),
                Some(_) => {}
                None => break,
            }
        }
        Ok(Some(rows))
    }

    /// The most costly rows below a node, by descending cost, at most [`MOST_BY_COST`].
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn dearest(
        &self,
        thread: u32,
        node: Option<u64>,
        cost: Cost,
        progress: &Progress,
    ) -> Result<Option<Vec<Row>>, Cancelled> {
        let Some(mut siblings) = self.siblings(thread, node, 0)? else {
            return Ok(None);
        };
        let mut kept: BinaryHeap<Reverse<CostlyRow>> = BinaryHeap::new();
        while let Some(row) = siblings.next(progress)? {
            let times = row.times;
            let value = match cost {
                Cost::Wall => times.wall_ns,
                Cost::Cpu => times.cpu_ns.unwrap_or(0),
                Cost::SelfWall => times.self_wall_ns,
            };
            kept.push(Reverse(CostlyRow {
                key: (value, Reverse(row.node)),
                row,
            }));
            if kept.len() > MOST_BY_COST {
                kept.pop();
            }
        }
        let sorted = kept.into_sorted_vec().into_iter();
        Ok(Some(sorted.map(|Reverse(dear)| dear.row).collect()))
    }

    /// A row by its node, with its place in the tree.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn row(
        &self,
        thread: u32,
        node: u64,
        progress: &Progress,
    ) -> Result<Option<Hit>, Cancelled> {
        let Some(of) = self.index.thread(thread) else {
            return Ok(None);
        };
        let mut walk = self.walk_from(of, of.before(node));
        let event = loop {
            match walk.step() {
                Some(event) if walk.number() == node => break event,
                Some(_) if walk.number() < node => {}
                _ => return Ok(None),
            }
        };
        if !walk.began && walk.point.is_none() {
            return Ok(None);
        }
        let above = |open: &[Open]| open.iter().map(|it| (it.node, it.position)).collect();
        let parents: Vec<(u64, u64)> = match walk.began {
            true => above(&walk.open[..walk.open.len() - 1]),
            false => above(&walk.open),
        };
        let mut siblings = Siblings::at(of, walk, event.what);
        loop {
            match siblings.next(progress)? {
                // The event may end something first.
                Some(row) if row.node == node => {
                    let above = parents;
                    return Ok(Some(Hit { row, above }));
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// The arguments and the result of a call. `None` if the log does not have them.
    pub fn values_of(&self, row: &Row) -> Option<CallValues> {
        if let Some(values) = &row.values {
            return Some(CallValues::clone(values));
        }
        let method = row.method()?;
        if !self.index.valued.contains(&method) {
            return None;
        }
        let of = self.index.thread(row.thread)?;
        // All other rows come with their values.
        let span = &of.spans[of.span(row.node)? as usize];
        let mut values = CallValues::default();
        let mut walk = self.walk_from(of, of.before(row.node));
        while let Some(event) = walk.step() {
            if let What::Arguments { given, .. } = event.what
                && walk.number() == row.node + 1
            {
                values.arguments = Some(given);
            }
            if walk.number() > row.node {
                break;
            }
        }
        let mut walk = self.walk_from(of, span.last as usize);
        loop {
            let event = walk.step_or_finish();
            if walk.ended.iter().any(|(_, open)| open.node == row.node) {
                let ended = walk.values_of(row.node);
                values.returned = ended.and_then(|it| it.returned.clone());
                break;
            }
            if event.is_none() {
                break;
            }
        }
        (values != CallValues::default()).then_some(values)
    }

    /// A walk through a thread from a checkpoint on.
    pub(crate) fn walk_from(&self, of: &ThreadIndex, checkpoint: usize) -> Walk<'_> {
        let mut walk = Walk::new(&self.trace, of.id, &self.index.parking);
        go_to(&mut walk, of, checkpoint);
        walk
    }

    /// The number of rows directly below a node, or at the top level.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn count(
        &self,
        thread: u32,
        node: Option<u64>,
        progress: &Progress,
    ) -> Result<Option<u64>, Cancelled> {
        match node {
            None => Ok(self.index.thread(thread).map(|it| it.rows)),
            Some(node) => Ok(self
                .row(thread, node, progress)?
                .map(|hit| hit.row.children)),
        }
    }

    /// Goes to a position from which the `from`th row below `node` can be read.
    fn siblings(
        &self,
        thread: u32,
        node: Option<u64>,
        from: u64,
    ) -> Result<Option<Siblings<'_>>, Cancelled> {
        let Some(of) = self.index.thread(thread) else {
            return Ok(None);
        };
        let span = node.and_then(|node| of.span(node));
        // The checkpoints at which the node is open.
        let (first, last) = match (node, span) {
            (None, _) => (0, of.checkpoints.len()),
            (Some(node), Some(span)) => (
                of.before(node) + 1,
                of.spans[span as usize].last as usize + 1,
            ),
            (Some(_), None) => (0, 0),
        };
        let inside = &of.checkpoints[first.min(last)..last];
        let mut begun = 0..inside.len();
        // `begun` never decreases from one checkpoint to the next.
        while !begun.is_empty() {
            let middle = begun.start + begun.len() / 2;
            match of.begun(first + middle, span) <= from {
                true => begun.start = middle + 1,
                false => begun.end = middle,
            }
        }
        if begun.start > 0 {
            let walk = self.walk_from(of, first + begun.start - 1);
            return Ok(Some(Siblings::below(of, walk, node)));
        }
        let Some(node) = node else {
            return Ok(Some(Siblings::below(of, self.walk_from(of, 0), None)));
        };
        let mut walk = self.walk_from(of, of.before(node));
        while walk.step().is_some() {
            if walk.number() == node {
                let found = walk.began.then(|| Siblings::below(of, walk, Some(node)));
                return Ok(found);
            }
        }
        Ok(None)
    }
}

pub(crate) fn go_to(walk: &mut Walk<'_>, of: &ThreadIndex, checkpoint: usize) {
    if let Some(it) = of.checkpoints.get(checkpoint) {
        let (open, rows) = of.open_at(checkpoint);
        walk.go_to(&it.standing, open, rows);
    }
}

struct CostlyRow {
    key: (u64, Reverse<u64>),
    row: Row,
}

impl PartialEq for CostlyRow {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for CostlyRow {}
impl PartialOrd for CostlyRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for CostlyRow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// The rows of one level, one after another. Skips their contents where spans allow it.
struct Siblings<'a> {
    of: &'a ThreadIndex,
    walk: Walk<'a>,
    /// The number of nodes around them.
    depth: usize,
    /// The walk's last event, which has not been processed yet.
    fresh: Option<What>,
    /// The rows that are ready. One event may end a row and be another.
    ready: VecDeque<Row>,
    done: bool,
    steps: u64,
}

impl<'a> Siblings<'a> {
    /// The rows below an open node, or at the top level.
    fn below(of: &'a ThreadIndex, walk: Walk<'a>, node: Option<u64>) -> Siblings<'a> {
        let found = node.and_then(|node| walk.open.iter().position(|it| it.node == node));
        let depth = found.map_or(0, |at| at + 1);
        Siblings {
            of,
            walk,
            depth,
            fresh: None,
            ready: VecDeque::new(),
            done: false,
            steps: 0,
        }
    }

    /// The rows from the one on that the walk's last event begins or is.
    fn at(of: &'a ThreadIndex, walk: Walk<'a>, event: What) -> Siblings<'a> {
        let depth = walk.open.len() - usize::from(walk.began);
        Siblings {
            depth,
            fresh: Some(event),
            ..Siblings::below(of, walk, None)
        }
    }

    fn next(&mut self, progress: &Progress) -> Result<Option<Row>, Cancelled> {
        loop {
            if let Some(row) = self.ready.pop_front() {
                return Ok(Some(row));
            }
            if self.done {
                return Ok(None);
            }
            if let Some(what) = self.fresh.take() {
                self.look(Some(what));
                continue;
            }
            self.steps += 1;
            if self.steps.is_multiple_of(CANCEL_CHECK_INTERVAL) {
                progress.check()?;
            }
            let event = self.walk.step_or_finish();
            self.done = event.is_none();
            self.look(event.map(|it| it.what));
        }
    }

    /// Processes the last event.
    fn look(&mut self, what: Option<What>) {
        let depth = self.depth;
        for (outcome, open) in &self.walk.ended {
            if outcome.depth == depth && open.span.is_none() {
                let row = row_of(self.of.id, outcome, open, &self.walk);
                self.ready.push_back(row);
            }
            // The node around them has ended.
            self.done |= outcome.depth + 1 == depth;
        }
        if self.done || self.walk.open.len() < depth {
            return;
        }
        if let (Some(position), Some(what)) = (self.walk.point, what)
            && self.walk.open.len() == depth
        {
            self.ready
                .push_back(point(self.of.id, &self.walk, position, what));
        }
        if self.walk.began && self.walk.open.len() == depth + 1 {
            let node = self.walk.open[depth].node;
            if let Some(at) = self.of.span(node) {
                let span = &self.of.spans[at as usize];
                self.ready.push_back(span_row(self.of.id, span));
                // Everything up to the checkpoint before its end is inside it.
                go_to(&mut self.walk, self.of, span.last as usize);
            }
        }
    }
}

/// The row of a node that the walk's last event ended.
pub(crate) fn row_of(thread: u32, outcome: &Outcome, open: &Open, walk: &Walk<'_>) -> Row {
    Row {
        thread,
        node: open.node,
        what: RowWhat::Span(outcome.node),
        depth: outcome.depth as u32,
        position: open.position,
        start_ns: outcome.start_ns,
        end_ns: outcome.end_ns,
        times: outcome.times,
        probes_ns: outcome.probes_ns,
        children: open.children,
        closing: outcome.closing,
        values: walk.values_of(open.node).cloned().map(Box::new),
    }
}

pub(crate) fn span_row(thread: u32, span: &Span) -> Row {
    Row {
        thread,
        node: span.node,
        what: RowWhat::Span(span.what),
        depth: span.depth,
        position: span.position,
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        times: span.times,
        probes_ns: span.probes_ns,
        children: span.children,
        closing: span.closing,
        values: None,
    }
}

/// The row of the walk's last event itself.
pub(crate) fn point(thread: u32, walk: &Walk<'_>, position: u64, what: What) -> Row {
    Row {
        thread,
        node: walk.number(),
        what: RowWhat::Point(what),
        depth: walk.open.len() as u32,
        position,
        start_ns: walk.now.0,
        end_ns: walk.now.0,
        times: Times::default(),
        probes_ns: 0,
        children: 0,
        closing: Closing::Ended,
        values: None,
    }
}
