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

/// The class's text constants. Their numbers count from 1.
const TEXTS: [&str; 29] = [
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
const ENTER: u16 = 3;
const EXIT: u16 = 4;
const THROWN: u16 = 5;
const HOOK: u16 = 6;
const OBSERVE: u16 = 7;
const CALIBRATE: u16 = 8;
/// `(I)V`.
const DESCRIPTOR: u16 = 9;
const CODE: u16 = 10;
/// The native methods besides those of [`DESCRIPTOR`] that are called here: names and descriptors.
const OTHERS: [(u16, u16); 13] = [
    (11, 12),
    (13, 14),
    (15, 16),
    (17, 12),
    (18, DESCRIPTOR),
    (19, DESCRIPTOR),
    (20, 16),
    (21, 22),
    (23, 24),
    (25, 26),
    (27, 14),
    (28, 16),
    (29, DESCRIPTOR),
];
// After the texts: this class, `Object`, three names with types, and three methods.
const THIS: u16 = 30;
const OBJECT: u16 = 31;
const ENTER_METHOD: u8 = 35;
const EXIT_METHOD: u8 = 36;
const HOOK_METHOD: u8 = 37;

/// The class file.
fn bytes() -> Vec<u8> {
    let mut out = Vec::new();
    // Magic, minor 0, major 49: without stack maps.
    put(&mut out, &[0xcafe, 0xbabe, 0, 49]);
    put(&mut out, &[TEXTS.len() as u16 + 9]);
    for text in TEXTS {
        out.push(1);
        put(&mut out, &[text.len() as u16]);
        out.extend_from_slice(text.as_bytes());
    }
    for (tag, fields) in [
        (7, &[1][..]),
        (7, &[2]),
        (12, &[ENTER, DESCRIPTOR]),
        (12, &[EXIT, DESCRIPTOR]),
        (12, &[HOOK, DESCRIPTOR]),
        (10, &[THIS, 32]),
        (10, &[THIS, 33]),
        (10, &[THIS, 34]),
    ] {
        out.push(tag);
        put(&mut out, fields);
    }
    // public final super; this, parent, no interfaces, no fields, methods.
    put(&mut out, &[0x31, THIS, OBJECT, 0, 0, 19]);
    let natives = [ENTER, EXIT, THROWN, HOOK].map(|name| (name, DESCRIPTOR));
    for (name, descriptor) in natives.into_iter().chain(OTHERS) {
        // public static native, no attributes.
        put(&mut out, &[0x109, name, descriptor, 0]);
    }
    // iload_0, invokestatic hook, return
    method(&mut out, OBSERVE, &[0x1a, 0xb8, 0, HOOK_METHOD, 0xb1]);
    // iconst_0, invokestatic enter, iconst_0, invokestatic exit, iinc 0 -1, iload_0, ifgt 0, return
    let body = [
        3,
        0xb8,
        0,
        ENTER_METHOD,
        3,
        0xb8,
        0,
        EXIT_METHOD,
        0x84,
        0,
        0xff,
        0x1a,
        0x9d,
        0xff,
        0xf4,
        0xb1,
    ];
    method(&mut out, CALIBRATE, &body);
    // No attributes.
    put(&mut out, &[0]);
    out
}

fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|it| out.extend(it.to_be_bytes()));
}

/// Appends a static method of [`DESCRIPTOR`], with byte code that needs one place on the stack.
fn method(out: &mut Vec<u8>, name: u16, body: &[u8]) {
    let length = body.len() as u16;
    // static, one attribute; its length; stack 1, variables 1; no handlers, no attributes of the code.
    put(
        out,
        &[
            8,
            name,
            DESCRIPTOR,
            1,
            CODE,
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
