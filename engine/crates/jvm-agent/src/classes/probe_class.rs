//! The class that probes call, as bytes: `java.lang.FulcrumProbe`, for JDK 5 and later. It is written by hand, as
//! [`super::gates`].
//!
//! It is in `java.lang`, because every class loader delegates that package to the boot loader, and every module reads it.
//! ```text
//! public final class FulcrumProbe {
//!     public static native void enter(int method);
//!     public static native void exit(int method);
//!     public static native void thrown(int method);
//!     public static native void entered(Object on, Object given, int method);
//!     public static native void returns(Object object, int method);
//!     public static native void says(int yes, int method);
//!     public static native void integer(int value, int tag);
//!     public static native void wide(long value, int tag);
//!     public static native void single(float value, int tag);
//!     public static native void real(double value, int tag);
//!     public static native void object(Object value, int tag);
//!     public static native void given(int all, int method);
//!     public static native void gives(int method);
//!     public static native void starting(Object thread, Object container, int method);
//!     public static native void started(int method);
//!     public static native void failed(int method);
//!     static native void hook(int on);
//!     static void observe(int on) { hook(on); }
//!     static void calibrate(int times) { do { enter(0); exit(0); times--; } while (times > 0); }
//! }
//! ```

use std::ffi::CStr;
use std::sync::atomic::Ordering;

use fulcrum_jvm_core::{ObjectProbes, Probes, ValueProbes};

use crate::jni::{AtomicObject, Env, Object};

/// Its name, for the machine.
const NAME: &CStr = c"java/lang/FulcrumProbe";
/// The probes that rewritten methods call.
pub(crate) const PROBES: Probes<'_> = Probes {
    class: "java/lang/FulcrumProbe",
    enter: "enter",
    exit: "exit",
    thrown: "thrown",
    gate: None,
    objects: Some(ObjectProbes {
        class: "java/lang/FulcrumProbe",
        entered: "entered",
        returns: "returns",
        says: "says",
    }),
    values: Some(ValueProbes {
        class: "java/lang/FulcrumProbe",
        int: "integer",
        long: "wide",
        float: "single",
        double: "real",
        object: "object",
        given: "given",
        gives: "gives",
    }),
};

/// Defines the class, once. `None` when the machine refuses it.
pub(crate) fn define(env: Env) -> Option<Object> {
    static CLASS: AtomicObject = AtomicObject::null();
    let known = CLASS.load(Ordering::Acquire);
    if !known.is_null() {
        return Some(known);
    }
    let class = env.define_boot_class(NAME, &bytes())?;
    CLASS.store(class, Ordering::Release);
    Some(class)
}

/// Starts observing which thread starts which. `false` when that is not possible.
pub(crate) fn observe_threads(env: Env, class: Object) -> bool {
    env.call_static_int(class, c"observe", 1).is_some()
}

/// Stops observing which thread starts which.
pub(crate) fn ignore_threads(env: Env, class: Object) {
    // It can only fail where observing has failed.
    let _ = env.call_static_int(class, c"observe", 0);
}

/// The class file.
fn bytes() -> Vec<u8> {
    let mut out = Vec::new();
    // Magic, minor 0, major 49: without stack maps.
    put(&mut out, &[0xcafe, 0xbabe, 0, 49]);
    let texts = [
        PROBES.class,
        "java/lang/Object",
        "enter",
        "exit",
        "thrown",
        "hook",
        "observe",
        "calibrate",
        "(I)V",
        "Code",
        "entered",
        "(Ljava/lang/Object;Ljava/lang/Object;I)V",
        "returns",
        "(Ljava/lang/Object;I)V",
        "says",
        "(II)V",
        "starting",
        "started",
        "failed",
        "integer",
        "wide",
        "(JI)V",
        "single",
        "(FI)V",
        "real",
        "(DI)V",
        "object",
        "given",
        "gives",
    ];
    put(&mut out, &[texts.len() as u16 + 9]);
    for text in texts {
        out.push(1);
        put(&mut out, &[text.len() as u16]);
        out.extend_from_slice(text.as_bytes());
    }
    let (enter, exit, thrown, hook, observe, calibrate, descriptor, code) =
        (3, 4, 5, 6, 7, 8, 9, 10);
    let others = [
        (11, 12),
        (13, 14),
        (15, 16),
        (17, 12),
        (18, descriptor),
        (19, descriptor),
        (20, 16),
        (21, 22),
        (23, 24),
        (25, 26),
        (27, 14),
        (28, 16),
        (29, descriptor),
    ];
    // 30: this class, 31: Object, 32 to 34: names with types, 35: enter, 36: exit, 37: hook.
    let (this, object, enter_method, exit_method, hook_method) = (30, 31, 35, 36, 37);
    for (tag, fields) in [
        (7, &[1][..]),
        (7, &[2]),
        (12, &[enter, descriptor]),
        (12, &[exit, descriptor]),
        (12, &[hook, descriptor]),
        (10, &[this, 32]),
        (10, &[this, 33]),
        (10, &[this, 34]),
    ] {
        out.push(tag);
        put(&mut out, fields);
    }
    // public final super; this, parent, no interfaces, no fields, methods.
    put(&mut out, &[0x31, this, object, 0, 0, 19]);
    let natives = [enter, exit, thrown, hook].map(|name| (name, descriptor));
    for (name, descriptor) in natives.into_iter().chain(others) {
        // public static native, no attributes.
        put(&mut out, &[0x109, name, descriptor, 0]);
    }
    // iload_0, invokestatic hook, return
    method(
        &mut out,
        observe,
        descriptor,
        code,
        &[0x1a, 0xb8, 0, hook_method, 0xb1],
    );
    // iconst_0, invokestatic enter, iconst_0, invokestatic exit, iinc 0 -1, iload_0, ifgt 0, return
    let body = [
        3,
        0xb8,
        0,
        enter_method,
        3,
        0xb8,
        0,
        exit_method,
        0x84,
        0,
        0xff,
        0x1a,
        0x9d,
        0xff,
        0xf4,
        0xb1,
    ];
    method(&mut out, calibrate, descriptor, code, &body);
    // No attributes.
    put(&mut out, &[0]);
    out
}

fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|it| out.extend(it.to_be_bytes()));
}

/// A static method with one parameter, and byte code that needs one place on the stack.
fn method(out: &mut Vec<u8>, name: u16, descriptor: u16, code: u16, body: &[u8]) {
    let length = body.len() as u16;
    // static, one attribute; its length; stack 1, variables 1; no handlers, no attributes of the code.
    put(
        out,
        &[
            8,
            name,
            descriptor,
            1,
            code,
            0,
            12 + length,
            1,
            1,
            0,
            length,
        ],
    );
    out.extend_from_slice(body);
    put(out, &[0, 0]);
}
