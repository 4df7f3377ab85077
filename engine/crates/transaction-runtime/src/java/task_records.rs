//! Records the tasks that a thread runs: one record when a task starts, and one when it has returned.

use fulcrum_wire::transactions::{Calling, Record};

use super::scopes::{Kind, MOST, Scope, Tasks};
use crate::libraries::next_item;
use crate::threads::thread::Inside;

impl Tasks {
    /// The thread works for an item, in a function. Work for no item, or for the current one, needs no record.
    pub(crate) fn enter(&self, inside: &Inside, scope: Scope, function: u64) {
        let is_last = self.count() + 1 == MOST;
        let around = self.from(0).rev().find(|it| it.recorded).map(|it| it.item);
        let is_new = scope.item != 0 && around != Some(scope.item);
        let is_recorded = scope.kind == Kind::Virtual || is_new || is_last;
        // The deepest scope works for nothing, and so does everything within it.
        let item = if is_last { 0 } else { scope.item };
        if self.count() < MOST && is_recorded {
            self.recorded.set(self.recorded.get() + 1);
            let record = Record::Handler {
                item,
                function,
                stream: 0,
                depth: self.depth(inside),
                how: match scope.kind {
                    Kind::Taken => Calling::Taken,
                    _ => Calling::Task,
                },
            };
            inside.write(0, &record);
        }
        self.push(Scope {
            recorded: is_recorded && self.count() < MOST,
            item,
            ..scope
        });
    }

    /// The same for scopes without an explicit end. Left out if there is no room.
    pub(crate) fn enter_if_room(&self, inside: &Inside, scope: Scope, function: u64) {
        if self.count() + 1 < MOST {
            self.enter(inside, scope, function);
        }
    }

    /// The number of handlers and tasks that the thread is in.
    fn depth(&self, inside: &Inside) -> u32 {
        inside.thread().nesting.depth() + self.recorded.get()
    }

    /// Leaves the innermost scope of a kind, with everything within it.
    pub(crate) fn leave(&self, inside: &Inside, kind: Kind) {
        let beyond = self.beyond.get();
        if beyond > 0 {
            self.beyond.set(beyond - 1);
        } else if let Some(at) = self.find(kind) {
            self.close(inside, at);
        }
    }

    /// Leaves the scopes from `at` on.
    pub(crate) fn close(&self, inside: &Inside, at: usize) {
        let recorded = self.from(at).filter(|it| it.recorded).count() as u32;
        if recorded > 0 {
            let depth = self.depth(inside) - recorded + 1;
            inside.write(0, &Record::Returned { depth });
        }
        self.recorded.set(self.recorded.get() - recorded);
        self.count.set(at as u32);
        self.beyond.set(0);
    }

    /// Moves the scopes from `at` on to another thread: records the end of each, and keeps its work under a new item.
    /// Appends them to `kept`, which has room for them, outermost first.
    pub(crate) fn take_along(&self, inside: &Inside, at: usize, kept: &mut Vec<Scope>) {
        while self.count() > at {
            let last = self.count() - 1;
            let mut scope = self.scopes[last].get();
            if scope.recorded {
                scope.item = next_item();
                inside.write(0, &Record::Produce { item: scope.item });
            }
            kept.push(scope);
            self.close(inside, last);
        }
        kept.reverse();
    }

    /// Continues scopes that were taken along.
    pub(crate) fn resume(&self, inside: &Inside, scopes: &[Scope], function: u64) {
        for (at, scope) in scopes.iter().enumerate() {
            match scope.recorded {
                true => self.enter(inside, *scope, if at == 0 { function } else { 0 }),
                false => self.push(*scope),
            }
        }
    }
}
