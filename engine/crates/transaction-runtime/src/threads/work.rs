//! How a thread came to its current work, as far as its own records tell. Contexts are computed after the run; this only tells
//! which registrations with an event loop are worth a record.

use core::cell::Cell;

use fulcrum_wire::transactions::{Interest, Record};

/// The thread works for no transaction.
const NOBODY: u32 = 0;
/// The thread did not come to its work by a stream.
const OTHER: u32 = u32::MAX;

/// A thread's current work.
pub(crate) struct Work {
    /// The stream by which the thread came to it, [`NOBODY`] or [`OTHER`].
    by: Cell<u32>,
    /// Changes whenever the thread may have turned to something else.
    turn: Cell<u32>,
    /// Nothing that concerns transactions has happened since the thread last waited for anything.
    is_idle: Cell<bool>,
}

impl Work {
    /// A thread starts. It may continue what its creator does.
    pub(crate) fn begin(&self) {
        // A reused slot never gives a turn twice.
        self.turns_to(OTHER);
    }

    fn turns_to(&self, by: u32) {
        self.is_idle.set(false);
        self.by.set(by);
        self.turn.set(self.turn.get().wrapping_add(1));
    }

    /// The thread has written this record.
    #[inline]
    pub(crate) fn written(&self, record: &Record) {
        match *record {
            Record::Idle { .. } => {
                self.turns_to(NOBODY);
                self.is_idle.set(true);
            }
            // An event of something that is no stream is for nobody.
            Record::Event { stream, .. } => self.turns_to(stream),
            Record::Receive { stream, length, .. } if length > 0 => self.turns_to(stream),
            Record::Begin { .. }
            | Record::Consume { .. }
            | Record::Handler { .. }
            | Record::Returned { .. }
            | Record::Span { .. } => self.turns_to(OTHER),
            // After these, an interrupted transaction may go on.
            Record::Send { .. }
            | Record::Spawn { .. }
            | Record::Fork { .. }
            | Record::Produce { .. }
            | Record::Wait { .. }
            | Record::JavaWait { .. }
                if self.by.get() == NOBODY =>
            {
                self.turns_to(OTHER);
            }
            _ => {}
        }
    }

    /// Whether the thread has waited for anything and done nothing since: that it waits again tells nothing new.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_idle.get()
    }

    /// Identifies a registration of `stream` by thread `number`: two with the same mark tell nothing new. Returns `None` if the
    /// registration tells nothing: the thread works for nobody, or came to its work by this very stream.
    pub(crate) fn mark(&self, number: u32, stream: u32, interest: Interest) -> Option<u64> {
        let by = self.by.get();
        if by == NOBODY || by == stream {
            return None;
        }
        let turn = u64::from(self.turn.get() & (u32::MAX >> 2));
        Some(u64::from(number) << 32 | turn << 2 | interest as u64)
    }
}
