//! The probes without values: native methods that rewritten methods call.

use fulcrum_wire::log::kind;

use crate::jni::{Env, Object};
use crate::probes::identity;
use crate::threads::thread_starts::Start0;
use crate::threads::{thread, thread_starts};
use fulcrum_agent_core::say::guarded;

// The virtual machine finds native methods by these names in agents too. Registering them would print a warning on the program's
// standard output.

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_enter(
    _env: Env,
    _class: Object,
    method: i32,
) {
    thread::method(kind::ENTER, method.cast_unsigned());
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_exit(_env: Env, _class: Object, method: i32) {
    thread::method(kind::EXIT, method.cast_unsigned());
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_thrown(
    _env: Env,
    _class: Object,
    method: i32,
) {
    thread::method(kind::THROWN, method.cast_unsigned());
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_entered(
    _env: Env,
    _class: Object,
    on: Object,
    given: Object,
    method: i32,
) {
    identity::entered(method.cast_unsigned(), on, given);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_returns(
    _env: Env,
    _class: Object,
    object: Object,
    method: i32,
) {
    identity::returns(method.cast_unsigned(), object);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_says(
    _env: Env,
    _class: Object,
    yes: i32,
    method: i32,
) {
    identity::says(method.cast_unsigned(), yes != 0);
}

/// For the agent itself: 1 starts observing which thread starts which, 0 stops.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_hook(env: Env, _class: Object, on: i32) {
    guarded(|| {
        if !thread_starts::bind(
            env,
            if on == 0 {
                Start0::Machine
            } else {
                Start0::Ours
            },
        ) {
            fulcrum_agent_core::say::say(
                "It is not known which thread started which: this virtual machine starts threads in a way that Fulcrum does \
                 not recognise.",
            );
        }
    });
}
