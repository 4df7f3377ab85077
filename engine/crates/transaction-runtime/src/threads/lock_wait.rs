//! A thread's wait for a monitor or a lock of a Java virtual machine, between its beginning and its end, and its ends of others' waits.

use core::cell::Cell;

use fulcrum_preload::sys;
use fulcrum_wire::transactions::{LockKind, Record};

/// The wait that a thread has begun. Zeroed, there is none.
pub(crate) struct LockWait {
    kind: Cell<Option<LockKind>>,
    began_ns: Cell<u64>,
    object: Cell<u32>,
    class: Cell<u64>,
    /// Where the machine waited last, or 0 if it has not waited yet.
    condition: Cell<u64>,
    path: Cell<u32>,
    timed_out: Cell<bool>,
    /// Whether the thread is in a method that ends the wait of another one.
    wakes: Cell<bool>,
    /// The conditions that it has signalled there; 0 for none.
    signalled: [Cell<u64>; MOST_SIGNALS],
}

/// In a method that ends a wait, the machine may also wake threads of its own, such as its compilers.
const MOST_SIGNALS: usize = 4;

impl LockWait {
    /// The thread neither waits nor ends a wait any more.
    pub(crate) fn forget(&self) {
        self.kind.set(None);
        self.wakes.set(false);
    }

    /// The thread begins to end the wait of another one.
    pub(crate) fn wakes(&self) {
        self.wakes.set(true);
        self.signalled.iter().for_each(|it| it.set(0));
    }

    /// The thread has signalled a condition that others waited for.
    #[inline]
    pub(crate) fn signals(&self, condition: u64) {
        if self.wakes.get() {
            let place = |it: &&Cell<u64>| [0, condition].contains(&it.get());
            if let Some(place) = self.signalled.iter().find(place) {
                place.set(condition);
            }
        }
    }

    /// The thread has ended the wait, or there was none. Returns what it has signalled: zeros stand for nothing.
    pub(crate) fn woke(&self) -> [u64; MOST_SIGNALS] {
        let does = self.wakes.take();
        self.signalled
            .each_ref()
            .map(|it| if does { it.get() } else { 0 })
    }

    /// Begins one, for an object with this identity hash and class.
    pub(crate) fn begin(&self, object: u32, class: u64, kind: LockKind) {
        self.kind.set(Some(kind));
        self.began_ns.set(sys::now());
        self.object.set(object);
        self.class.set(class);
        self.condition.set(0);
    }

    /// The thread has waited for a condition. Returns whether this is part of a wait that is recorded as a whole.
    #[inline]
    pub(crate) fn includes(&self, condition: u64, path: u32, timed_out: bool) -> bool {
        let includes = self.kind.get().is_some();
        if includes {
            self.condition.set(condition);
            self.path.set(path);
            self.timed_out.set(timed_out);
        }
        includes
    }

    /// Whether it has begun, and the machine has waited.
    pub(crate) fn has_waited(&self) -> bool {
        self.kind.get().is_some() && self.condition.get() != 0
    }

    /// Ends it. Returns its record and the call path, if the machine has waited.
    pub(crate) fn end(
        &self,
        method: u64,
        timed_out: Option<bool>,
    ) -> Option<(u32, Record<'static>)> {
        let kind = self.kind.take()?;
        let condition = self.condition.get();
        let record = Record::JavaWait {
            object: self.object.get(),
            class: self.class.get(),
            method,
            kind,
            condition,
            began_ns: self.began_ns.get(),
            timed_out: timed_out.unwrap_or(self.timed_out.get()),
        };
        (condition != 0).then_some((self.path.get(), record))
    }
}
