//! Calls whose values are logged (`observe_values`): what they are given and what they return.
//!
//! The values of a call come one by one and are kept by the thread until the call is entered or left (`told.rs`). That is
//! done outside of the call's own times: before the clock is asked at the entry, and after it at the exit. Of the program's
//! objects, nothing is called: strings are copied by the virtual machine, and of others it tells the class.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use fulcrum_agent_core::say::guarded;
use fulcrum_jvm_core::{tag, utf8_start};
use fulcrum_wire::log::{LONGEST_TEXT, Value, kind};

use crate::agent::{self, Agent};
use crate::jni::{Env, Object};
use crate::{objects, thread};

/// What is told comes next: the first value of a call's beginning or end makes those forgotten that led to no event.
fn begin(tag: i32) {
    if tag & tag::FIRST == 0 {
        return;
    }
    thread::with(|state| {
        let stamp = (tag & tag::RESULT != 0).then(|| state.stamp());
        state.told().begin(stamp);
    });
}

fn add(value: &Value<'_>) {
    thread::with(|state| state.told().add(value));
}

fn tell(tag: i32, value: &Value<'_>) {
    guarded(|| {
        begin(tag);
        add(value);
    });
}

/// `int`, and what the machine treats as one.
fn of_int(value: i32, tag: i32) -> Value<'static> {
    match (tag & tag::TYPE) as u8 {
        b'Z' => Value::Boolean(value & 1 != 0),
        b'B' => Value::Integer(i64::from(value as i8)),
        b'S' => Value::Integer(i64::from(value as i16)),
        b'C' => Value::Character(u32::from(value as u16)),
        _ => Value::Integer(i64::from(value)),
    }
}

fn tell_object(env: Env, object: Object, tag: i32) {
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
    add(&Value::Object(objects::class_of(agent, env, object).number));
}

/// Whether an object is a string, of which no class of the program's can be.
fn is_string(env: Env, object: Object) -> bool {
    static STRING: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let mut class = STRING.load(Ordering::Acquire);
    if class.is_null() {
        let found = env.find_class(c"java/lang/String");
        let Some(global) = found.and_then(|it| env.global(it)) else {
            return false;
        };
        // Two threads at once keep one of two references each: both are to the same class.
        STRING.store(global, Ordering::Release);
        class = global;
    }
    env.is_instance(object, class) != 0
}

/// A method was entered that has so many arguments, of which the first ones were told.
fn entered(all: i32, method: u32) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        thread::with(|state| {
            let payload = state.told().take_arguments(method, all.cast_unsigned());
            let stamp = state.stamp();
            let arguments = (kind::ARGUMENTS, &payload);
            state.method_with(agent.metering(), kind::ENTER, method, stamp, arguments);
        });
    });
}

/// A method returns what was told.
fn left(method: u32) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        leave(agent, method);
    });
}

fn leave(agent: &Agent, method: u32) {
    thread::with(|state| {
        let (payload, stamp) = state.told().take_result(method);
        let stamp = stamp.unwrap_or_else(|| state.stamp());
        let result = (kind::RETURNED, &payload);
        state.method_with(agent.metering(), kind::EXIT, method, stamp, result);
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_integer(
    _env: *mut c_void,
    _class: Object,
    value: i32,
    tag: i32,
) {
    tell(tag, &of_int(value, tag));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_wide(
    _env: *mut c_void,
    _class: Object,
    value: i64,
    tag: i32,
) {
    tell(tag, &Value::Integer(value));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_single(
    _env: *mut c_void,
    _class: Object,
    value: f32,
    tag: i32,
) {
    tell(tag, &Value::Single(value.to_bits()));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_real(
    _env: *mut c_void,
    _class: Object,
    value: f64,
    tag: i32,
) {
    tell(tag, &Value::Double(value.to_bits()));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_object(
    env: *mut c_void,
    _class: Object,
    value: Object,
    tag: i32,
) {
    guarded(|| tell_object(Env::from_raw(env), value, tag));
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_given(
    _env: *mut c_void,
    _class: Object,
    all: i32,
    method: i32,
) {
    entered(all, method.cast_unsigned());
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_gives(
    _env: *mut c_void,
    _class: Object,
    method: i32,
) {
    left(method.cast_unsigned());
}
