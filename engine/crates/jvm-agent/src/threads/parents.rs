//! Threads that were started and have not begun, and which threads started them.
//!
//! `thread_starts.rs` and `virtual_starts.rs` observe the starts.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::jni::{AtomicField, Env, Object};
use crate::session::agent::Agent;

/// A thread that was started and has not begun: a global reference.
struct Started {
    thread: Object,
    parent: u32,
}
// SAFETY: global references may be used by any thread.
unsafe impl Send for Started {}

static STARTED: Mutex<Vec<Started>> = Mutex::new(Vec::new());

/// A thread (a global reference) is being started by the thread with this number.
pub(crate) fn started(thread: Object, parent: u32) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    started.push(Started { thread, parent });
}

/// A thread could not be started.
pub(crate) fn failed(env: Env, thread: Object) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = started.iter().position(|it| it.thread == thread) {
        started.swap_remove(at);
        env.forget_global(thread);
    }
}

/// The number of the thread that started this one; 0 when it is not known, and when this is asked again.
pub(crate) fn of(agent: &Agent, thread: Object) -> u32 {
    let Some(env) = agent.env() else { return 0 };
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = started.iter().position(|it| env.is_same(it.thread, thread));
    let Some(found) = found else { return 0 };
    let it = started.swap_remove(found);
    env.forget_global(it.thread);
    it.parent
}

/// Forgets all platform threads.
pub(crate) fn clear(env: Env) {
    let started = std::mem::take(&mut *STARTED.lock().unwrap_or_else(PoisonError::into_inner));
    started
        .into_iter()
        .for_each(|it| env.forget_global(it.thread));
}

/// `Thread.tid`, the thread's own number.
static NUMBER: AtomicField = AtomicField::unknown();

/// Virtual threads that were started and have not begun: by their own numbers, the thread that started them.
fn waiting() -> MutexGuard<'static, HashMap<i64, u32>> {
    static WAITING: LazyLock<Mutex<HashMap<i64, u32>>> = LazyLock::new(Mutex::default);
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A virtual thread is being started by the thread with this number.
pub(crate) fn virtual_started(number: i64, parent: u32) {
    waiting().insert(number, parent);
}

/// A virtual thread could not be started.
pub(crate) fn virtual_failed(number: i64) {
    waiting().remove(&number);
}

/// Forgets all virtual threads.
pub(crate) fn clear_virtual() {
    waiting().clear();
}

/// The number of the thread that started a virtual one; 0 when it is not known, and when this is asked again.
pub(crate) fn of_virtual(agent: &Agent, thread: Object) -> u32 {
    let number = agent.env().and_then(|env| own_number(env, thread));
    number.and_then(|it| waiting().remove(&it)).unwrap_or(0)
}

/// A thread's own number, as Java counts them.
pub(crate) fn own_number(env: Env, thread: Object) -> Option<i64> {
    let field = match NUMBER.load(Ordering::Acquire) {
        Some(known) => known,
        None => {
            let found = env.long_field_of(thread, c"tid")?;
            NUMBER.store(found, Ordering::Release);
            found
        }
    };
    // SAFETY: the field is a `long` of `Thread`, which all threads' classes extend.
    Some(unsafe { env.long_in(thread, field) })
}
