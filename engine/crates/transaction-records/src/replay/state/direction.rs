//! The bytes of a stream in one direction, and whose they are.

use std::ops::Range;
use std::rc::Rc;

use fulcrum_transactions::messages::ByteStream;

use super::doing::{Doing, Hold, InstanceId, Origin};
use super::process::Outgoing;
use crate::index::{ChannelId, EndId, Index};

/// One direction of a stream. Offsets are those of all its writers together.
#[derive(Debug)]
pub(in crate::replay) struct Direction {
    pub(in crate::replay) stream: ByteStream<Rc<Message>>,
    pub(in crate::replay) writers: Vec<EndId>,
    /// Sends that are still to come.
    pub(in crate::replay) sends_left: u64,
    pub(in crate::replay) sent: u64,
    pub(in crate::replay) received: u64,
    /// Everything before was received.
    pub(in crate::replay) done: u64,
}

/// What a process sent by one call.
#[derive(Debug)]
pub(in crate::replay) struct Message {
    pub(crate) outgoing: Rc<Outgoing>,
    pub(crate) origin: Rc<Origin>,
    pub(crate) instance: Option<InstanceId>,
}

/// How the offsets of one process are those of all.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::replay) struct Counter {
    /// What is added to the process's offsets.
    shift: u64,
    /// The offset with which the process goes on.
    next: u64,
    has_begun: bool,
}

/// An end of a stream in a process.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct EndState {
    /// For whom it was last used.
    pub(crate) used: Doing,
    /// For whom something was last sent by it.
    pub(crate) sent: Option<(Doing, Hold)>,
    pub(in crate::replay) sends: Counter,
    pub(in crate::replay) receives: Counter,
}

impl Direction {
    /// Both directions of a channel, by the side that sends.
    pub(crate) fn both(index: &Index, channel: ChannelId) -> [Direction; 2] {
        let channel = &index.channels[channel];
        [0, 1].map(|side| {
            let sends = |end: &&EndId| index.ends[**end].sends > 0;
            let writers: Vec<EndId> = channel.sides[side].iter().filter(sends).copied().collect();
            Direction {
                stream: ByteStream::with_limit(usize::MAX),
                sends_left: writers.iter().map(|&it| index.ends[it].sends).sum(),
                writers,
                sent: 0,
                received: 0,
                done: 0,
            }
        })
    }
}

impl Counter {
    /// Where among all bytes the process's bytes from `offset` on are. `all` were there before.
    ///
    /// Threads of a process may tell of their calls in another order than they made them, so an offset may be left out at
    /// first and come later.
    pub(in crate::replay) fn place(&self, all: u64, offset: u64, is_continued: bool) -> u64 {
        let next = match (self.has_begun, is_continued) {
            (true, _) => self.next,
            // What the process's own count began with is not known.
            (false, true) => offset,
            (false, false) => 0,
        };
        match offset.checked_sub(next) {
            Some(left_out) => all.wrapping_add(left_out),
            None => offset.wrapping_add(self.shift),
        }
    }

    pub(in crate::replay) fn count(
        &mut self,
        all: &mut u64,
        offset: u64,
        length: u64,
        is_continued: bool,
    ) -> Range<u64> {
        let start = self.place(*all, offset, is_continued);
        self.shift = start.wrapping_sub(offset);
        let end = offset.saturating_add(length);
        self.next = if self.has_begun {
            self.next.max(end)
        } else {
            end
        };
        self.has_begun = true;
        let range = start..start.saturating_add(length);
        *all = (*all).max(range.end);
        range
    }
}
