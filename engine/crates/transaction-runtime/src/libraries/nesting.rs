//! The nested handlers of a thread. A handler may run a loop, which calls other handlers.

use core::cell::Cell;

use fulcrum_wire::transactions::{Calling, Record};

use super::kind::Kind;

/// The most nested handlers that are recorded.
const MOST: usize = 16;

/// A running handler. Zeroed, there is none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Called {
    /// The address of the registers that it was called with.
    pub(crate) stack: u64,
    /// The key of what it was registered for, or 0 if unknown.
    pub(crate) key: u64,
    pub(crate) kind: Kind,
    /// The key of the buffers whose handlers libevent calls later for the current work, or 0 if there are none.
    pub(crate) later: u64,
}

/// The handlers that a thread is in. Zeroed, there are none.
pub(crate) struct Nesting {
    depth: Cell<u32>,
    /// The depth, from 1, of the outermost handler whose return is not recorded yet, or 0 if there is none.
    owed: Cell<u32>,
    called: [Cell<Called>; MOST],
}

impl Nesting {
    /// A thread starts.
    pub(crate) fn begin(&self) {
        self.depth.set(0);
        self.owed.set(0);
    }

    /// The innermost handler.
    pub(crate) fn innermost(&self) -> Option<Called> {
        let at = self.depth.get().checked_sub(1)?;
        Some(self.called[at as usize].get())
    }

    /// The number of handlers.
    pub(crate) fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// Enters a handler. Returns its depth, from 1, or `None` if it is too deep. `is_own` tells which addresses are on the
    /// thread's own stack.
    pub(crate) fn enter(&self, called: Called, is_own: impl Fn(u64) -> bool) -> Option<u32> {
        // Drops handlers that were left by a jump, or whose work was to be continued and is not.
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

    /// A handler for the same object continues earlier work. Returns its depth.
    pub(crate) fn go_on(&self, called: Called) -> Option<u32> {
        let before = self.innermost()?;
        if before.kind != Kind::Allocates || before.key != called.key {
            return None;
        }
        let depth = self.depth.get();
        self.called[depth as usize - 1].set(called);
        Some(depth)
    }

    /// The handler at this depth has returned. Returns it, or `None` if it is no longer there or its work is to be
    /// continued.
    pub(crate) fn leave(&self, depth: u32) -> Option<Called> {
        let at = depth.checked_sub(1)?;
        let called = self.called.get(at as usize)?.get();
        if self.depth.get() < depth || called.kind == Kind::Allocates {
            return None;
        }
        self.depth.set(at);
        Some(called)
    }

    /// The return of the handler at this depth must be recorded before the thread does anything else.
    pub(crate) fn owe(&self, depth: u32) {
        let owed = self.owed.get();
        if owed == 0 || depth < owed {
            self.owed.set(depth);
        }
    }

    /// Whether all handlers have returned, though this is not recorded yet.
    pub(crate) fn is_over(&self) -> bool {
        self.owed.get() == 1
    }

    /// The depth of the outermost unrecorded return to record before this record, or 0. The next handler implies the
    /// return, unless it continues the work, and so does a waiting loop.
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
