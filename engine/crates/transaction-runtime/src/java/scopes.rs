//! What a thread is in the midst of: tasks within tasks, and methods of ours within which others mean nothing.
//!
//! What is taken from a queue has no end of its own: it is over when the thread comes back to the queue, or when the task is over
//! in which it was taken. What of this is written stands in [`telling`](super::telling).

use core::cell::Cell;

/// Scopes within one another that are kept.
pub(crate) const MOST: usize = 64;

/// What a scope is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A task that is done, until it returns.
    #[default]
    Task,
    /// A pool's thread does a task, until it asks for the next one.
    Worker,
    /// What came from a queue of this number.
    Taken,
    /// A virtual thread of this number.
    Virtual,
    /// An object is being handed on: what its executor does with it is that.
    Handing,
    /// A pool's thread asks for its next task: what it takes from the pool's queue is that.
    Asking,
    /// The thread takes something from a queue of this number.
    Taking,
    /// A virtual thread is being resumed.
    Resuming,
}

/// A scope.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) kind: Kind,
    /// A record has told it.
    pub(crate) told: bool,
    /// What it is for; 0: nobody's, or not known.
    pub(crate) item: u64,
    /// As its kind says.
    pub(crate) number: u64,
}

/// The scopes that a thread is in. Zeroed, none.
pub(crate) struct Tasks {
    pub(super) count: Cell<u32>,
    /// Of those, which records have told.
    pub(super) told: Cell<u32>,
    /// Scopes beyond those that are kept.
    pub(super) beyond: Cell<u32>,
    pub(super) scopes: [Cell<Scope>; MOST],
}

impl Tasks {
    /// A thread begins.
    pub(crate) fn begin(&self) {
        self.count.set(0);
        self.told.set(0);
        self.beyond.set(0);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count.get() as usize
    }

    /// Those from there on, outermost first.
    pub(crate) fn from(&self, at: usize) -> impl DoubleEndedIterator<Item = Scope> + use<'_> {
        self.scopes[..self.count()].iter().skip(at).map(Cell::get)
    }

    /// The innermost one.
    pub(crate) fn innermost(&self) -> Option<Scope> {
        match self.beyond.get() {
            0 => Some(self.scopes[self.count().checked_sub(1)?].get()),
            _ => None,
        }
    }

    /// Where the innermost one of a kind is.
    pub(crate) fn find(&self, kind: Kind) -> Option<usize> {
        let mut all = self.scopes[..self.count()].iter();
        all.rposition(|it| it.get().kind == kind)
    }

    /// Where what was taken from a queue is, in the task that the thread does.
    pub(crate) fn find_taken(&self, queue: u64) -> Option<usize> {
        let scopes = &self.scopes[..self.count()];
        let own = scopes.iter().rposition(|it| it.get().kind != Kind::Taken);
        let own = own.map_or(0, |it| it + 1);
        let is = |it: &Cell<Scope>| it.get().number == queue;
        scopes[own..].iter().position(is).map(|it| own + it)
    }

    /// The virtual thread that the thread carries; 0: none.
    pub(crate) fn carried(&self) -> u64 {
        self.find(Kind::Virtual)
            .map_or(0, |at| self.scopes[at].get().number)
    }

    /// One more that no record tells.
    pub(crate) fn mark(&self, kind: Kind, item: u64, number: u64) {
        self.push(Scope {
            kind,
            told: false,
            item,
            number,
        });
    }

    /// One more. Where there is no room, it is counted.
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

    /// The innermost one of a kind that no record has told is over. Whether there was one.
    pub(crate) fn unmark(&self, kind: Kind) -> Option<Scope> {
        let beyond = self.beyond.get();
        if beyond > 0 {
            self.beyond.set(beyond - 1);
            return None;
        }
        let at = self.find(kind)?;
        let scope = self.scopes[at].get();
        // Records that were written within it tell scopes that its callee has left open: what was taken from a queue.
        for place in at..self.count() - 1 {
            self.scopes[place].set(self.scopes[place + 1].get());
        }
        self.count.set(self.count.get() - 1);
        Some(scope)
    }
}
