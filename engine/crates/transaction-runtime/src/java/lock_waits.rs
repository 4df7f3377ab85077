//! Waits of Java threads for each other (Whodunit §6): for monitors, and for what `LockSupport` parks for, as the locks of
//! `java.util.concurrent` do.
//!
//! The machine waits at conditions of its own, one for each thread, and its waits there are seen like those of any program. Here
//! such waits become one, which tells the object, its class, and the method that waited. Who ended it is told by the signal
//! to the last of the conditions, and where it came from [`LockSupport.unpark`](super::points), also the method that called it.

use fulcrum_jvm_interface::jni::{Env, Object};
use fulcrum_jvm_interface::jvmti::Jvmti;
use fulcrum_wire::transactions::{LockKind, Record};

use super::names;
use crate::threads::thread;

fn begins(env: Env, jvmti: Jvmti, lock: Object, kind: Option<LockKind>) {
    if lock.is_null() || !thread::is_recorded() {
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
    let method = match wait.has_waited() {
        true => names::of_locking_method(env, jvmti),
        false => 0,
    };
    if let Some((path, record)) = wait.end(method, timed_out)
        && let Some(inside) = thread::enter()
    {
        inside.write(path, &record);
    }
}

/// The thread is about to end the wait of another one that has parked.
pub(crate) fn unparks() {
    if let Some(thread) = thread::current() {
        thread.lock_wait.wakes();
    }
}

/// The thread has done so, if the other one has waited.
pub(crate) fn unparked(env: Env, jvmti: Jvmti) {
    let Some(thread) = thread::current() else {
        return;
    };
    let signalled = thread.lock_wait.woke();
    if signalled[0] == 0 {
        return;
    }
    let method = names::of_locking_method(env, jvmti);
    if method != 0
        && let Some(inside) = thread::enter()
    {
        for condition in signalled.into_iter().filter(|it| *it != 0) {
            inside.write(0, &Record::JavaRelease { condition, method });
        }
    }
}

/// The thread turns to something else.
pub(crate) fn forget() {
    if let Some(thread) = thread::current() {
        thread.lock_wait.forget();
    }
}
