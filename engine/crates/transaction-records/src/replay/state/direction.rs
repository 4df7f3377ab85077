//! The bytes of a stream in one direction, and the transactions they belong to.

use std::ops::Range;
use std::rc::Rc;

use fulcrum_transactions::messages::ByteStream;
use fulcrum_wire::transactions::Interest;

use super::doing::{Doing, Hold, InstanceId, Origin};
use super::process::Outgoing;
use crate::index::{ChannelId, EndId, Index};

/// One direction of a stream. Offsets count the bytes of all writers together.
#[derive(Debug)]
pub(in crate::replay) struct Direction {
    pub(in crate::replay) stream: ByteStream<Rc<Message>>,
    pub(in crate::replay) writers: Vec<EndId>,
    /// The number of sends still to come.
    pub(in crate::replay) sends_left: u64,
    pub(in crate::replay) sent: u64,
    pub(in crate::replay) received: u64,
    /// Everything before this offset has been received.
    pub(in crate::replay) done: u64,
    /// A window has ended, so bytes before the next ones need not have been recorded.
    pub(in crate::replay) goes_on: bool,
}

/// What a process sent in one call.
#[derive(Debug)]
pub(in crate::replay) struct Message {
    pub(crate) outgoing: Rc<Outgoing>,
    pub(crate) origin: Rc<Origin>,
    pub(crate) instance: Option<InstanceId>,
    /// How many windows of the sender's run had ended.
    pub(crate) window: u32,
}

/// Where a process's offsets in a stream start.
#[derive(Clone, Copy)]
pub(in crate::replay) enum Start {
    /// At 0: the process has used the stream from its start.
    AtZero,
    /// Somewhere: others used the stream before the process did.
    Unknown,
}

/// Converts the offsets of one process to those of the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::replay) struct Counter {
    /// What is added to the process's offsets.
    shift: u64,
    /// The offset at which the process continues.
    next: u64,
    has_begun: bool,
}

/// A registration with an event loop.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Registered {
    /// The transaction that made it.
    pub(crate) by: Doing,
    pub(crate) interest: Interest,
}

/// A process's end of a stream.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct EndState {
    /// The transaction for which it was last used.
    pub(crate) used: Doing,
    /// The transaction for which it was last used to send.
    pub(crate) sent: Option<(Doing, Hold)>,
    /// The transaction that registered it with an event loop since something was last sent.
    pub(crate) registered: Option<Registered>,
    /// Whether it has been used in this window.
    pub(crate) is_touched: bool,
    pub(in crate::replay) sends: Counter,
    pub(in crate::replay) receives: Counter,
}

impl Direction {
    /// Both directions of a channel, by the sending side.
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
                goes_on: false,
            }
        })
    }
}

impl Counter {
    /// Where the process's bytes starting at `offset` are in the stream, which had `all` bytes before.
    ///
    /// Threads of a process may record their calls in another order than they made them, so a skipped offset may come
    /// later.
    pub(in crate::replay) fn place(&self, all: u64, offset: u64, start: Start) -> u64 {
        let next = match (self.has_begun, start) {
            (true, Start::AtZero | Start::Unknown) => self.next,
            (false, Start::Unknown) => offset,
            (false, Start::AtZero) => 0,
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
        begins: Start,
    ) -> Range<u64> {
        let start = self.place(*all, offset, begins);
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
