//! Finds rows by a condition, from a position on.

use crate::index::ThreadIndex;
use crate::index::rows::{Hit, Indexed, Row, go_to, point, row_of, span_row};
use crate::query::{Condition, Subject};
use crate::tree::walk::{Open, Walk};
use fulcrum_model::{Cancelled, Progress};

/// The rows that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The rows, thread by thread, in the order of their beginnings.
    pub hits: Vec<Hit>,
    /// Where to continue: thread and node. `None` if everything was searched.
    pub next: Option<(u32, u64)>,
}

/// The part of a trace to search or fold.
#[derive(Clone, Copy, Debug)]
pub struct Where {
    /// The thread. `None` for all.
    pub thread: Option<u32>,
    /// The node of the thread to which the part is restricted, with everything inside it.
    pub node: Option<u64>,
    /// The earliest time at which rows begin, in nanoseconds.
    pub from_ns: u64,
    /// Rows begin before this time.
    pub to_ns: u64,
}

impl Default for Where {
    fn default() -> Where {
        Where {
            thread: None,
            node: None,
            from_ns: 0,
            to_ns: u64::MAX,
        }
    }
}

impl Indexed {
    /// Finds rows that satisfy a condition, from a position (thread and node) on, at most `count`.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn search(
        &self,
        condition: &Condition,
        part: &Where,
        from: Option<(u32, u64)>,
        count: usize,
        progress: &Progress,
    ) -> Result<Found, Cancelled> {
        let mut found = Found::default();
        let (first, node) = from.unwrap_or((0, 0));
        for of in &self.index.threads {
            if of.id < first || part.thread.is_some_and(|it| it != of.id) {
                continue;
            }
            let from = if of.id == first { node } else { 0 };
            let mut looking = Looking {
                all: self,
                of,
                condition,
                part,
                from,
                hits: Vec::new(),
            };
            let range = match part.node {
                None => 0..of.checkpoints.len(),
                Some(node) => {
                    let last = match of.span(node) {
                        Some(span) => of.spans[span as usize].last as usize,
                        None => of.before(node),
                    };
                    of.before(node)..last + 1
                }
            };
            for checkpoint in range.start.max(of.before(from))..range.end {
                progress.check()?;
                looking.gap(checkpoint);
                let room = count - found.hits.len();
                if looking.hits.len() > room {
                    let next = looking.hits[room].row.node;
                    found.hits.extend(looking.hits.drain(..room));
                    found.next = Some((of.id, next));
                    return Ok(found);
                }
                found.hits.append(&mut looking.hits);
            }
        }
        Ok(found)
    }
}

struct Looking<'a> {
    all: &'a Indexed,
    of: &'a ThreadIndex,
    condition: &'a Condition,
    part: &'a Where,
    from: u64,
    hits: Vec<Hit>,
}

impl Looking<'_> {
    /// Searches the rows that begin between a checkpoint and the next. By then, they have ended or are spans.
    fn gap(&mut self, checkpoint: usize) {
        let next = self.of.checkpoints.get(checkpoint + 1);
        let end = next.map_or(u64::MAX, |it| it.standing.mark.ordinal);
        let mut walk = Walk::new(&self.all.trace, self.of.id, &self.all.index.parking);
        go_to(&mut walk, self.of, checkpoint);
        let before = self.hits.len();
        let mut above: Vec<Open> = Vec::new();
        while walk.standing().mark.ordinal < end {
            let event = walk.step_or_finish();
            for (at, (outcome, open)) in walk.ended.iter().enumerate() {
                if open.span.is_none() {
                    above.clear();
                    above.extend_from_slice(&walk.open);
                    above.extend(walk.ended[at + 1..].iter().rev().map(|(_, open)| *open));
                    let row = row_of(self.of.id, outcome, open, &walk);
                    self.look(row, &above);
                }
            }
            let Some(event) = event else { break };
            if let Some(position) = walk.point {
                let row = point(self.of.id, &walk, position, event.what);
                self.look(row, &walk.open);
            } else if walk.began
                && let Some((last, rest)) = walk.open.split_last()
                && let Some(span) = self.of.span(last.node)
            {
                // It ends later, but the index knows how.
                let mut row = span_row(self.of.id, &self.of.spans[span as usize]);
                row.values = self.all.values_of(&row).map(Box::new);
                self.look(row, rest);
                let last = walk.open.last_mut().expect("it was opened just now");
                last.span = Some(span);
            }
        }
        self.hits[before..].sort_by_key(|hit| hit.row.node);
    }

    fn look(&mut self, row: Row, above: &[Open]) {
        let part = self.part;
        let inside = part
            .node
            .is_none_or(|node| row.node == node || above.iter().any(|it| it.node == node));
        let time = part.from_ns <= row.start_ns && row.start_ns < part.to_ns;
        if row.node < self.from || !inside || !time {
            return;
        }
        let subject = Subject {
            trace: &self.all.trace,
            row: &row,
            above,
        };
        if self.condition.holds(&subject) {
            let above = above.iter().map(|it| (it.node, it.position)).collect();
            self.hits.push(Hit { row, above });
        }
    }
}
