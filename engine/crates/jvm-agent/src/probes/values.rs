//! Calls whose values are logged (`observe_values`): their arguments and results.
//!
//! The values of a call arrive one by one. The thread keeps them until the call is entered or left (`pending_values.rs`).
//! This happens outside of the call's own times: before the clock is read at the entry, and after it is read at the exit. No
//! method of the program's objects is called: the virtual machine copies strings, and says which class other objects have.

use std::sync::atomic::Ordering;

use fulcrum_agent_core::MethodEvent;
use fulcrum_agent_core::say::guarded;
use fulcrum_jvm_core::{tag, utf8_start};
use fulcrum_wire::log::{LONGEST_TEXT, Value, kind};

use crate::jni::{AtomicObject, Env, Object};
use crate::objects::tags;
use crate::session::agent::{self, Agent};
use crate::threads::thread;

/// Prepares for a value. The first one of an entry or exit drops those that led to no event.
fn begin(tag: i32) {
    if tag & tag::FIRST == 0 {
        return;
    }
    thread::with(|state| {
        let stamp = (tag & tag::RESULT != 0).then(|| state.stamp());
        state.pending_values().begin(stamp);
    });
}

fn add(value: &Value<'_>) {
    thread::with(|state| state.pending_values().add(value));
}

fn add_value(tag: i32, value: &Value<'_>) {
    guarded(|| {
        begin(tag);
        add(value);
    });
}

/// An `int`, or a type that the machine treats as one.
fn of_int(value: i32, tag: i32) -> Value<'static> {
    match (tag & tag::TYPE) as u8 {
        b'Z' => Value::Boolean(value & 1 != 0),
        b'B' => Value::Integer(i64::from(value as i8)),
        b'S' => Value::Integer(i64::from(value as i16)),
        b'C' => Value::Character(u32::from(value as u16)),
        _ => Value::Integer(i64::from(value)),
    }
}

fn add_object(env: Env, object: Object, tag: i32) {
    begin(tag);
    let Some(agent) = agent::get() else { return };
    if object.is_null() {
        return add(&Value::Null);
    }
    if is_string(env, object) {
        let (mut units, mut bytes) = ([0; LONGEST_TEXT], [0; LONGEST_TEXT]);
        let longest = usize::from(agent.filter.longest_text).min(LONGEST_TEXT);
        let length = usize::try_from(env.string_length(object)).unwrap_or(0);
        let units = &mut units[..length.min(longest)];
        env.string_start(object, units);
        let text = utf8_start(units, &mut bytes[..longest]);
        let cut = text.cut || units.len() < length;
        let bytes = &bytes[..text.length];
        return add(&Value::Text { bytes, cut });
    }
    add(&Value::Object(tags::class_of(agent, env, object).number));
}

/// Whether an object is a string. `String` is final, so it is never a class of the program.
fn is_string(env: Env, object: Object) -> bool {
    static STRING: AtomicObject = AtomicObject::null();
    let mut class = STRING.load(Ordering::Acquire);
    if class.is_null() {
        let found = env.find_class(c"java/lang/String");
        let Some(global) = found.and_then(|it| env.global(it)) else {
            return false;
        };
        // Two threads at the same time store two references to the same class; either is good.
        STRING.store(global, Ordering::Release);
        class = global;
    }
    env.is_instance(object, class)
}

/// A method was entered that has `all` arguments; the values of the first ones are pending.
fn entered(all: i32, method: u32) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        thread::with(|state| {
            let payload = state
                .pending_values()
                .take_arguments(method, all.cast_unsigned());
            let event = MethodEvent {
                kind: kind::ENTER,
                method,
                stamp: state.stamp(),
            };
            state.method_with(agent.metering(), event, (kind::ARGUMENTS, &payload));
        });
    });
}

/// A method returns; its result is pending.
fn left(method: u32) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        leave(agent, method);
    });
}

fn leave(agent: &Agent, method: u32) {
    thread::with(|state| {
        let (payload, stamp) = state.pending_values().take_result(method);
        let event = MethodEvent {
            kind: kind::EXIT,
            method,
            stamp: stamp.unwrap_or_else(|| state.stamp()),
        };
        state.method_with(agent.metering(), event, (kind::RETURNED, &payload));
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_integer(
    _env: Env,
    _class: Object,
    value: i32,
    tag: i32,
) {
    add_value(tag, &of_int(value, tag));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_wide(
    _env: Env,
    _class: Object,
    value: i64,
    tag: i32,
) {
    add_value(tag, &Value::Integer(value));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_single(
    _env: Env,
    _class: Object,
    value: f32,
    tag: i32,
) {
    add_value(tag, &Value::Single(value.to_bits()));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_real(
    _env: Env,
    _class: Object,
    value: f64,
    tag: i32,
) {
    add_value(tag, &Value::Double(value.to_bits()));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_object(
    env: Env,
    _class: Object,
    value: Object,
    tag: i32,
) {
    guarded(|| add_object(env, value, tag));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_given(
    _env: Env,
    _class: Object,
    all: i32,
    method: i32,
) {
    entered(all, method.cast_unsigned());
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_gives(
    _env: Env,
    _class: Object,
    method: i32,
) {
    left(method.cast_unsigned());
}
