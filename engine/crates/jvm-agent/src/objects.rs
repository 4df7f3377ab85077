//! Objects that events are about: each keeps one number as long as it lives.

use std::sync::Mutex;
use std::sync::PoisonError;

use crate::agent::Agent;
use crate::jni::Object;

/// The next object's number.
pub static NEXT: Mutex<i64> = Mutex::new(1);

/// The object's number, which it gets when it has none.
pub fn number(agent: &Agent, object: Object) -> u64 {
    let known = agent.jvmti.tag(object);
    if known != 0 {
        return known.cast_unsigned();
    }
    // Two threads that meet at an object must not give it two numbers.
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = agent.jvmti.tag(object);
    if known != 0 {
        return known.cast_unsigned();
    }
    if !agent.jvmti.set_tag(object, *next) {
        return 0;
    }
    *next += 1;
    (*next - 1).cast_unsigned()
}
