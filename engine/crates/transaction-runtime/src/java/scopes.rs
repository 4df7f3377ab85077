//! What a thread is in the middle of: nested tasks, and methods that change the meaning of others called within them.
//!
//! An object taken from a queue has no end of its own: its scope ends when the thread comes back to the queue, or with the
//! task in which it was taken. The records of this are written by [`task_records`](super::task_records).

use core::cell::Cell;

/// The most nested scopes that are kept.
pub(crate) const MOST: usize = 64;

/// The kind of a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A task, until it returns.
    #[default]
    Task,
    /// A task run by a pool's thread, until it asks for the next one.
    Worker,
    /// An object from the queue with this number.
    Taken,
    /// The virtual thread with this number.
    Virtual,
    /// An object is being handed on: what its executor does with it is part of that.
    Handing,
    /// A pool's thread asks for its next task: what it takes from the pool's queue is part of that.
    Asking,
    /// The thread takes something from the queue with this number.
    Taking,
    /// A virtual thread is being resumed.
    Resuming,
}

/// A scope.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) kind: Kind,
    /// Whether it has been recorded.
    pub(crate) recorded: bool,
    /// The item that it works for, or 0 if there is none or it is unknown.
    pub(crate) item: u64,
    /// The number that its kind has.
    pub(crate) number: u64,
}

/// The scopes that a thread is in. Zeroed, there are none.
pub(crate) struct Tasks {
    pub(super) count: Cell<u32>,
    /// How many of these have been recorded.
    pub(super) recorded: Cell<u32>,
    /// The number of scopes beyond those kept.
    pub(super) beyond: Cell<u32>,
    pub(super) scopes: [Cell<Scope>; MOST],
}

impl Tasks {
    /// A thread starts.
    pub(crate) fn begin(&self) {
        self.count.set(0);
        self.recorded.set(0);
        self.beyond.set(0);
    }

    /// The number of scopes.
    pub(crate) fn count(&self) -> usize {
        self.count.get() as usize
    }

    /// The scopes from `at` on, outermost first.
    pub(crate) fn from(&self, at: usize) -> impl DoubleEndedIterator<Item = Scope> + use<'_> {
        self.scopes[..self.count()].iter().skip(at).map(Cell::get)
    }

    /// The innermost scope.
    pub(crate) fn innermost(&self) -> Option<Scope> {
        match self.beyond.get() {
            0 => Some(self.scopes[self.count().checked_sub(1)?].get()),
            _ => None,
        }
    }

    /// The place of the innermost scope of a kind.
    pub(crate) fn find(&self, kind: Kind) -> Option<usize> {
        let mut all = self.scopes[..self.count()].iter();
        all.rposition(|it| it.get().kind == kind)
    }

    /// The place of what was taken from a queue, within the current task.
    pub(crate) fn find_taken(&self, queue: u64) -> Option<usize> {
        let scopes = &self.scopes[..self.count()];
        let own = scopes.iter().rposition(|it| it.get().kind != Kind::Taken);
        let own = own.map_or(0, |it| it + 1);
        let is = |it: &Cell<Scope>| it.get().number == queue;
        scopes[own..].iter().position(is).map(|it| own + it)
    }

    /// The virtual thread that the thread carries, or 0 if there is none.
    pub(crate) fn carried(&self) -> u64 {
        self.find(Kind::Virtual)
            .map_or(0, |at| self.scopes[at].get().number)
    }

    /// Enters a scope that is not recorded.
    pub(crate) fn mark(&self, kind: Kind, item: u64, number: u64) {
        self.push(Scope {
            kind,
            recorded: false,
            item,
            number,
        });
    }

    /// Enters a scope. Counts it if there is no room.
    pub(super) fn push(&self, scope: Scope) {
        let at = self.count();
        match self.scopes.get(at) {
            Some(place) => {
                place.set(scope);
                self.count.set(at as u32 + 1);
            }
            None => self.beyond.set(self.beyond.get() + 1),
        }
    }

    /// Leaves the innermost unrecorded scope of a kind. Returns it if there was one.
    pub(crate) fn unmark(&self, kind: Kind) -> Option<Scope> {
        let beyond = self.beyond.get();
        if beyond > 0 {
            self.beyond.set(beyond - 1);
            return None;
        }
        let at = self.find(kind)?;
        let scope = self.scopes[at].get();
        // Records written within it also record scopes that a callee left open: objects taken from a queue.
        for place in at..self.count() - 1 {
            self.scopes[place].set(self.scopes[place + 1].get());
        }
        self.count.set(self.count.get() - 1);
        Some(scope)
    }
}
