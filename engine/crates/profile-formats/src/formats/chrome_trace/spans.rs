//! The spans of time of one thread, and the calls that they represent.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::collect::stacks::{FrameId, MAX_DEPTH, Stacks};
use crate::decode::fault::Fault;

/// The spans of one thread.
#[derive(Default)]
pub(crate) struct Spans {
    names: Vec<String>,
    rows: HashMap<String, u32>,
    /// Begin and end events in the order of the file: time, whether it begins, name.
    marks: Vec<(i64, bool, u32)>,
    complete: Vec<Span>,
}

/// A call.
#[derive(Clone, Copy)]
struct Span {
    from: i64,
    to: i64,
    /// Of calls with the same times, the one with the smaller number is the outer one.
    order: usize,
    name: u32,
}

/// A call that has not ended yet.
struct Open {
    span: Span,
    /// Time in its callees.
    inside: i64,
}

impl Spans {
    /// Adds an event that begins a call.
    pub(crate) fn begin(&mut self, at: i64, name: &str) {
        let name = self.name(name);
        self.marks.push((at, true, name));
    }

    /// Adds an event that ends the innermost call, of this name if there is one.
    pub(crate) fn end(&mut self, at: i64, name: &str) {
        let name = self.name(name);
        self.marks.push((at, false, name));
    }

    /// Adds an event that is a whole call.
    pub(crate) fn complete(&mut self, from: i64, duration: i64, name: &str) -> Result<(), String> {
        let to = from.checked_add(duration);
        let to = to.ok_or("it ends after the year 2262")?;
        let name = self.name(name);
        // Such events are written when calls end: inner ones first.
        let order = usize::MAX - self.complete.len();
        self.complete.push(Span {
            from,
            to,
            order,
            name,
        });
        Ok(())
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(&row) = self.rows.get(name) {
            return row;
        }
        let row = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.rows.insert(name.to_owned(), row);
        row
    }

    /// Adds the time of every call. Returns how many events did not fit.
    pub(crate) fn add_to(
        mut self,
        container: Option<FrameId>,
        stacks: &mut Stacks,
    ) -> Result<u64, Fault> {
        let mut odd = self.pair();
        let frames = self.names.iter().map(|name| stacks.frame(name, "", 0));
        let frames: Vec<FrameId> = frames.collect::<Result<_, _>>()?;
        let mut spans = self.complete;
        spans.sort_by_key(|span| (span.from, Reverse(span.to), span.order));
        let (mut open, mut path): (Vec<Open>, Vec<FrameId>) = (Vec::new(), Vec::new());
        let mut close = |open: &mut Vec<Open>, path: &mut Vec<FrameId>, until: i64| {
            while let Some(last) = open.pop_if(|last| last.span.to <= until) {
                let duration = last.span.to - last.span.from;
                stacks.add_call(container, path, &[duration - last.inside, 1])?;
                path.pop();
                if let Some(outer) = open.last_mut() {
                    outer.inside += duration;
                }
            }
            Ok::<_, Fault>(())
        };
        for mut span in spans {
            close(&mut open, &mut path, span.from)?;
            if let Some(outer) = open.last()
                && span.to > outer.span.to
            {
                span.to = outer.span.to;
                odd += 1;
            }
            path.push(frames[span.name as usize]);
            open.push(Open { span, inside: 0 });
        }
        close(&mut open, &mut path, i64::MAX)?;
        Ok(odd)
    }

    /// Pairs begin and end events to calls. Returns how many had no partner.
    fn pair(&mut self) -> u64 {
        // The sort is stable: events of the same time keep the order of the file.
        self.marks.sort_by_key(|&(at, ..)| at);
        let last = self.marks.last().map_or(0, |&(at, ..)| at);
        // A call that never ends lasts until the thread's last event.
        let last = self
            .complete
            .iter()
            .map(|span| span.to)
            .fold(last, i64::max);
        let mut open: Vec<Span> = Vec::new();
        // End events without a beginning at the current time.
        let mut early: Vec<u32> = Vec::new();
        let mut now = 0;
        let mut odd = 0;
        for (order, &(at, begins, name)) in self.marks.iter().enumerate() {
            if at != now {
                early.clear();
                now = at;
            }
            if begins {
                // A call that took no time may have its end first in the file.
                let ended = early.iter().position(|&it| it == name);
                let mut span = Span {
                    from: at,
                    to: last,
                    order,
                    name,
                };
                match ended {
                    Some(end) => {
                        early.swap_remove(end);
                        odd -= 1;
                        span.to = at;
                        self.complete.push(span);
                    }
                    None => open.push(span),
                }
                continue;
            }
            let any = self.names[name as usize].is_empty();
            let mut inner = open.iter().rev().take(MAX_DEPTH);
            let Some(depth) = inner.position(|it| any || it.name == name) else {
                odd += 1;
                if early.len() < MAX_DEPTH {
                    early.push(name);
                }
                continue;
            };
            odd += depth as u64;
            let ended = open.drain(open.len() - 1 - depth..);
            self.complete
                .extend(ended.map(|span| Span { to: at, ..span }));
        }
        odd += open.len() as u64;
        self.complete.extend(open);
        odd
    }
}
