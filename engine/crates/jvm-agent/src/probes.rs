//! What rewritten methods call.

use std::ffi::c_void;

use fulcrum_wire::log::kind;

use crate::costs;
use crate::jni::Object;
use crate::say::guarded;
use crate::thread;

// The machine finds native methods by these names in agents too. Registering them would print a
// warning on the program's standard output.

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_enter(
    _env: *mut c_void,
    _class: Object,
    method: i32,
) {
    probe(kind::ENTER, method);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_exit(
    _env: *mut c_void,
    _class: Object,
    method: i32,
) {
    probe(kind::EXIT, method);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_thrown(
    _env: *mut c_void,
    _class: Object,
    method: i32,
) {
    probe(kind::THROWN, method);
}

#[inline]
fn probe(kind: u8, method: i32) {
    guarded(|| {
        // Calibration alone says 0.
        if method == costs::METHOD {
            return costs::probe(kind);
        }
        thread::with(|state| state.method(kind, method.cast_unsigned()));
    });
}
