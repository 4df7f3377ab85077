//! Threads that were started and have not begun, and which threads started them.
//!
//! Who sees them start is in `thread_starts.rs` and `virtual_starts.rs`.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::agent::Agent;
use crate::jni::{Env, Object};

/// A thread that was started and has not begun: a global reference.
struct Started {
    thread: Object,
    parent: u32,
}
// SAFETY: global references may be used by any thread.
unsafe impl Send for Started {}

static STARTED: Mutex<Vec<Started>> = Mutex::new(Vec::new());

/// A thread, a global reference, is being started by the thread with this number.
pub fn started(thread: Object, parent: u32) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    started.push(Started { thread, parent });
}

/// It did not start.
pub fn failed(env: Env, thread: Object) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = started.iter().position(|it| it.thread == thread) {
        started.swap_remove(at);
        env.forget_global(thread);
    }
}

/// The number of the thread that started this one, once; 0 when it is not known.
pub fn of(agent: &Agent, thread: Object) -> u32 {
    let Some(env) = agent.env() else { return 0 };
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = started
        .iter()
        .position(|it| env.is_same(it.thread, thread) != 0);
    let Some(found) = found else { return 0 };
    let it = started.swap_remove(found);
    env.forget_global(it.thread);
    it.parent
}

/// Forgets all, but for virtual ones.
pub fn clear(env: Env) {
    let started = std::mem::take(&mut *STARTED.lock().unwrap_or_else(PoisonError::into_inner));
    started
        .into_iter()
        .for_each(|it| env.forget_global(it.thread));
}

/// `Thread.tid`, the thread's own number; null before it was looked for.
static NUMBER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Virtual threads that were started and have not begun, by their own numbers, with who started them.
fn waiting() -> MutexGuard<'static, HashMap<i64, u32>> {
    static WAITING: LazyLock<Mutex<HashMap<i64, u32>>> = LazyLock::new(Mutex::default);
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A virtual thread is being started by the thread with this number.
pub fn virtual_started(number: i64, parent: u32) {
    waiting().insert(number, parent);
}

/// It did not start.
pub fn virtual_failed(number: i64) {
    waiting().remove(&number);
}

/// Forgets all virtual ones.
pub fn clear_virtual() {
    waiting().clear();
}

/// The number of the thread that started a virtual one, once; 0 when it is not known.
pub fn of_virtual(agent: &Agent, thread: Object) -> u32 {
    let number = agent.env().and_then(|env| own_number(env, thread));
    number.and_then(|it| waiting().remove(&it)).unwrap_or(0)
}

/// A thread's own number, as Java counts them.
pub fn own_number(env: Env, thread: Object) -> Option<i64> {
    let mut field = NUMBER.load(Ordering::Acquire);
    if field.is_null() {
        field = env.long_field_of(thread, c"tid")?;
        NUMBER.store(field, Ordering::Release);
    }
    Some(env.long_in(thread, field))
}
