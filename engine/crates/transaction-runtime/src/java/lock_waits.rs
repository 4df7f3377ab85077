//! Waits of Java threads for each other (Whodunit §6): for monitors, and for what `LockSupport` parks for, as the locks of
//! `java.util.concurrent` do.
//!
//! The machine waits at conditions of its own, one for each thread, and its waits there are seen like those of any program. Here
//! such waits become one, which tells the object, its class, and the method that waited. Who ended it is told by the signal
//! to the last of the conditions.

use core::cell::Cell;

use fulcrum_jvm_interface::jni::{Env, Object};
use fulcrum_jvm_interface::jvmti::Jvmti;
use fulcrum_preload::sys;
use fulcrum_wire::transactions::{LockKind, Record};

use super::names;
use crate::threads::thread;

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
}

impl LockWait {
    /// There is no wait any more.
    pub(crate) fn forget(&self) {
        self.kind.set(None);
    }

    fn begin(&self, object: u32, class: u64, kind: LockKind) {
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

    /// Ends it. Returns its record and the call path, if the machine has waited.
    fn end(&self, method: u64, timed_out: Option<bool>) -> Option<(u32, Record<'static>)> {
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

fn begins(env: Env, jvmti: Jvmti, lock: Object, kind: Option<LockKind>) {
    if lock.is_null() {
        return;
    }
    let (class, own) = names::of_lock(env, jvmti, lock);
    let object = jvmti.hash_code(lock).cast_unsigned();
    if let Some(inside) = thread::enter() {
        let wait = &inside.thread().lock_wait;
        wait.begin(object, class, kind.unwrap_or(own));
    }
}

/// The thread is about to wait for a monitor, which another thread has.
pub(crate) fn contends(env: Env, jvmti: Jvmti, lock: Object) {
    begins(env, jvmti, lock, Some(LockKind::Mutex));
}

/// The thread is about to wait in `Object.wait`.
pub(crate) fn awaits(env: Env, jvmti: Jvmti, object: Object) {
    begins(env, jvmti, object, Some(LockKind::Condition));
}

/// The thread parks for an object.
pub(crate) fn parks(env: Env, jvmti: Jvmti, blocker: Object) {
    begins(env, jvmti, blocker, None);
}

/// The thread continues. `timed_out` is what the machine says; without it, the last wait for a condition tells.
pub(crate) fn ends(env: Env, jvmti: Jvmti, timed_out: Option<bool>) {
    let Some(wait) = thread::current().map(|it| &it.lock_wait) else {
        return;
    };
    let has_waited = wait.kind.get().is_some() && wait.condition.get() != 0;
    let method = match has_waited {
        true => names::of_waiting_method(env, jvmti),
        false => 0,
    };
    if let Some((path, record)) = wait.end(method, timed_out)
        && let Some(inside) = thread::enter()
    {
        inside.write(path, &record);
    }
}

/// The thread turns to something else.
pub(crate) fn forget() {
    if let Some(thread) = thread::current() {
        thread.lock_wait.forget();
    }
}
