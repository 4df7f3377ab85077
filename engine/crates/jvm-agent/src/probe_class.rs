//! The class that probes call, as bytes: `java.lang.FulcrumProbe`, for JDK 5 and later.
//!
//! It is in `java.lang`, because every class loader passes that package on to the boot loader, and every module reads it.
//! ```text
//! public final class FulcrumProbe {
//!     public static native void enter(int method);
//!     public static native void exit(int method);
//!     public static native void thrown(int method);
//!     static void calibrate(int times) { do { enter(0); exit(0); times--; } while (times > 0); }
//! }
//! ```

use std::ffi::CStr;

use fulcrum_jvm_core::Probes;

/// Its name, for the machine.
pub const NAME: &CStr = c"java/lang/FulcrumProbe";
/// What rewritten methods call.
pub const PROBES: Probes<'_> = Probes {
    class: "java/lang/FulcrumProbe",
    enter: "enter",
    exit: "exit",
    thrown: "thrown",
};

/// The class file.
pub fn bytes() -> Vec<u8> {
    let mut out = Vec::new();
    let put = |out: &mut Vec<u8>, numbers: &[u16]| {
        numbers.iter().for_each(|it| out.extend(it.to_be_bytes()))
    };
    // Magic, minor 0, major 49: without stack maps.
    put(&mut out, &[0xcafe, 0xbabe, 0, 49]);
    let texts = [
        PROBES.class,
        "java/lang/Object",
        "enter",
        "exit",
        "thrown",
        "calibrate",
        "(I)V",
        "Code",
    ];
    put(&mut out, &[texts.len() as u16 + 7]);
    for text in texts {
        out.push(1);
        put(&mut out, &[text.len() as u16]);
        out.extend_from_slice(text.as_bytes());
    }
    let (enter, exit, thrown, calibrate, descriptor, code) = (3, 4, 5, 6, 7, 8);
    // 9: this class, 10: Object, 11, 12: names with types, 13: enter, 14: exit.
    for (tag, fields) in [
        (7, &[1][..]),
        (7, &[2]),
        (12, &[enter, descriptor]),
        (12, &[exit, descriptor]),
        (10, &[9, 11]),
        (10, &[9, 12]),
    ] {
        out.push(tag);
        put(&mut out, fields);
    }
    // public final super; this, parent, no interfaces, no fields, methods.
    put(&mut out, &[0x31, 9, 10, 0, 0, 4]);
    for name in [enter, exit, thrown] {
        // public static native, no attributes.
        put(&mut out, &[0x109, name, descriptor, 0]);
    }
    // iconst_0, invokestatic enter, iconst_0, invokestatic exit, iinc 0 -1, iload_0, ifgt 0, return
    let body = [
        3, 0xb8, 0, 13, 3, 0xb8, 0, 14, 0x84, 0, 0xff, 0x1a, 0x9d, 0xff, 0xf4, 0xb1,
    ];
    // static, one attribute; its length; stack 1, variables 1.
    put(
        &mut out,
        &[
            8,
            calibrate,
            descriptor,
            1,
            code,
            0,
            12 + body.len() as u16,
            1,
            1,
        ],
    );
    put(&mut out, &[0, body.len() as u16]);
    out.extend_from_slice(&body);
    // No handlers, no attributes of the code, none of the class.
    put(&mut out, &[0, 0, 0]);
    out
}
