//! Numbers of objects that events are about: their JVMTI tags, which they keep as long as they live.
//!
//! A class that was looked up has a negative tag, so that its name is looked up once and not for each of its objects.

use std::sync::{Mutex, PoisonError};

use crate::jni::{Env, Object};
use crate::objects::classes::Class;
use crate::session::agent::Agent;

/// The next object's number, in all sessions.
static NEXT: Mutex<i64> = Mutex::new(1);

/// The tag of a class that was looked up in a session: the session and an index, negative.
fn class_tag(session: u32, index: usize) -> i64 {
    -((i64::from(session) << 32 | index as i64) + 1)
}

/// Looks up a class.
pub(crate) fn class(agent: &Agent, class: Object) -> Class {
    let tag = agent.jvmti.tag(class);
    let key = -(tag + 1);
    if tag < 0
        && key >> 32 == i64::from(agent.session)
        && let Some(known) = agent.objects.get((key & 0xffff_ffff) as usize)
    {
        return known;
    }
    let name = agent.jvmti.class_name(class);
    let known = Class {
        number: agent.dictionary().class(&name),
        observed: agent.filter.allocates(&name),
    };
    // A class that has a number as an object keeps that.
    if tag <= 0 {
        let tag = |index| agent.jvmti.set_tag(class, class_tag(agent.session, index));
        agent.objects.add(known, tag);
    }
    known
}

/// Looks up an object's class.
pub(crate) fn class_of(agent: &Agent, env: Env, object: Object) -> Class {
    let of = env.class_of(object);
    let known = class(agent, of);
    env.forget(of);
    known
}

/// The object's number; it gets a new one if it has none.
pub(crate) fn number(agent: &Agent, object: Object) -> u64 {
    if let Some(number) = of_tag(agent.jvmti.tag(object)) {
        return number;
    }
    // Two threads must not give an object two numbers.
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = of_tag(agent.jvmti.tag(object)) {
        return number;
    }
    if !agent.jvmti.set_tag(object, *next) {
        return 0;
    }
    *next += 1;
    (*next - 1).cast_unsigned()
}

/// The number that a tag stands for; `None` for no tag.
pub(crate) fn of_tag(tag: i64) -> Option<u64> {
    match tag {
        0 => None,
        1.. => Some(tag.cast_unsigned()),
        // Classes are objects too, for instance those whose static methods are synchronized.
        _ => Some(1 << 62 | tag.unsigned_abs()),
    }
}
