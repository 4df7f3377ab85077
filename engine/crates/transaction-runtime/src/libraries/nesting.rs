//! The handlers that a thread is in: a handler may run a loop of its own, which calls others.

use core::cell::Cell;

use fulcrum_wire::transactions::{Calling, Record};

use super::kind::Kind;

/// Handlers within one another that are told of.
const MOST: usize = 16;

/// A handler that is called. Zeroed, none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Called {
    /// Where the registers lie that it was called with.
    pub(crate) stack: u64,
    /// The key of what it was registered for; 0: not known.
    pub(crate) key: u64,
    pub(crate) kind: Kind,
    /// The key of the buffers whose handlers libevent calls later, for what is done now; 0: there are none.
    pub(crate) later: u64,
}

/// The handlers that a thread is in. Zeroed, none.
pub(crate) struct Nesting {
    depth: Cell<u32>,
    /// The outermost one that has returned and of which that is not told, from 1; 0: none.
    owed: Cell<u32>,
    called: [Cell<Called>; MOST],
}

impl Nesting {
    /// A thread begins.
    pub(crate) fn begin(&self) {
        self.depth.set(0);
        self.owed.set(0);
    }

    /// The innermost one.
    pub(crate) fn innermost(&self) -> Option<Called> {
        let at = self.depth.get().checked_sub(1)?;
        Some(self.called[at as usize].get())
    }

    /// How many there are.
    pub(crate) fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// One more is called. How deep it is, from 1; `None` when it is too deep. `is_own` says which addresses are on the thread's own
    /// stack.
    pub(crate) fn enter(&self, called: Called, is_own: impl Fn(u64) -> bool) -> Option<u32> {
        // What was left by a jump, or was to be gone on with and is not.
        while let Some(before) = self.innermost() {
            let is_left =
                is_own(called.stack) && is_own(before.stack) && before.stack <= called.stack;
            if !is_left && before.kind != Kind::Allocates {
                break;
            }
            self.depth.set(self.depth.get() - 1);
        }
        let depth = self.depth.get();
        self.called.get(depth as usize)?.set(called);
        self.depth.set(depth + 1);
        Some(depth + 1)
    }

    /// What was to be gone on with is gone on with, by a handler for the same. How deep it is.
    pub(crate) fn go_on(&self, called: Called) -> Option<u32> {
        let before = self.innermost()?;
        if before.kind != Kind::Allocates || before.key != called.key {
            return None;
        }
        let depth = self.depth.get();
        self.called[depth as usize - 1].set(called);
        Some(depth)
    }

    /// The one of that depth has returned. What it was; `None` when it is not there any more, or is to be gone on with.
    pub(crate) fn leave(&self, depth: u32) -> Option<Called> {
        let at = depth.checked_sub(1)?;
        let called = self.called.get(at as usize)?.get();
        if self.depth.get() < depth || called.kind == Kind::Allocates {
            return None;
        }
        self.depth.set(at);
        Some(called)
    }

    /// That the one of this depth has returned is to be told before the thread does anything else.
    pub(crate) fn owe(&self, depth: u32) {
        let owed = self.owed.get();
        if owed == 0 || depth < owed {
            self.owed.set(depth);
        }
    }

    /// What is to be told before this record: the outermost one that has returned; 0: none. The next handler tells it itself,
    /// unless it goes on with what is done, and a loop that waits goes on.
    #[inline]
    pub(crate) fn owed(&self, record: &Record) -> u32 {
        let owed = self.owed.get();
        if owed == 0 {
            return 0;
        }
        match record {
            Record::Idle { .. } | Record::Event { .. } => 0,
            Record::Handler {
                how: Calling::First | Calling::Again,
                ..
            } => {
                self.owed.set(0);
                0
            }
            _ => {
                self.owed.set(0);
                owed
            }
        }
    }
}
