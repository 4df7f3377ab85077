//! The records of what a thread is in the midst of: a task that is done is one, and that it has returned is another.

use fulcrum_wire::transactions::{Calling, Record};

use super::scopes::{Kind, MOST, Scope, Tasks};
use crate::libraries::next_item;
use crate::threads::thread::Inside;

impl Tasks {
    /// The thread does something for an item, by a function. What is for no item, or for that which is done already, needs no record.
    pub(crate) fn enter(&self, inside: &Inside, scope: Scope, function: u64) {
        let is_last = self.count() + 1 == MOST;
        let around = self.from(0).rev().find(|it| it.told).map(|it| it.item);
        let is_new = scope.item != 0 && around != Some(scope.item);
        let is_told = scope.kind == Kind::Virtual || is_new || is_last;
        // What is so deep is for nobody, and so is all within it.
        let item = if is_last { 0 } else { scope.item };
        if self.count() < MOST && is_told {
            self.told.set(self.told.get() + 1);
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
            told: is_told && self.count() < MOST,
            item,
            ..scope
        });
    }

    /// The same for what nobody says the end of: where there is no room, it is left out.
    pub(crate) fn enter_if_room(&self, inside: &Inside, scope: Scope, function: u64) {
        if self.count() + 1 < MOST {
            self.enter(inside, scope, function);
        }
    }

    /// How many handlers and tasks the thread is in.
    fn depth(&self, inside: &Inside) -> u32 {
        inside.thread().nesting.depth() + self.told.get()
    }

    /// The innermost one of a kind is over, with all within it.
    pub(crate) fn leave(&self, inside: &Inside, kind: Kind) {
        let beyond = self.beyond.get();
        if beyond > 0 {
            self.beyond.set(beyond - 1);
        } else if let Some(at) = self.find(kind) {
            self.close(inside, at);
        }
    }

    /// Those from there on are over.
    pub(crate) fn close(&self, inside: &Inside, at: usize) {
        let told = self.from(at).filter(|it| it.told).count() as u32;
        if told > 0 {
            let depth = self.depth(inside) - told + 1;
            inside.write(0, &Record::Returned { depth });
        }
        self.told.set(self.told.get() - told);
        self.count.set(at as u32);
        self.beyond.set(0);
    }

    /// Those from there on go on in another thread: each is told to be over, and what was done in it is kept by a new item. They
    /// come into `kept`, which has room for them, outermost first.
    pub(crate) fn take_along(&self, inside: &Inside, at: usize, kept: &mut Vec<Scope>) {
        while self.count() > at {
            let last = self.count() - 1;
            let mut scope = self.scopes[last].get();
            if scope.told {
                scope.item = next_item();
                inside.write(0, &Record::Produce { item: scope.item });
            }
            kept.push(scope);
            self.close(inside, last);
        }
        kept.reverse();
    }

    /// Scopes that were taken along go on here.
    pub(crate) fn resume(&self, inside: &Inside, scopes: &[Scope], function: u64) {
        for (at, scope) in scopes.iter().enumerate() {
            match scope.told {
                true => self.enter(inside, *scope, if at == 0 { function } else { 0 }),
                false => self.push(*scope),
            }
        }
    }
}
