//! The class that gated probes call, as bytes: `java.lang.FulcrumGates`. It is only used with a rule (refine loop).
//!
//! A call through a shut gate costs a load, a branch, and a count, all inline. The class is written by hand: libraries that
//! write class files would be loaded into other people's programs for these few fixed bytes.
//! ```text
//! public final class FulcrumGates {
//!     static final byte[] off = new byte[CAPACITY];
//!     static final long[] passed = new long[CAPACITY];
//!     public static native void enter(int method);
//!     public static native void exit(int method);
//!     public static native void thrown(int method);
//!     @ForceInline public static int gate(int method) {
//!         int off = FulcrumGates.off[method];
//!         if (off == 0) { enter(method); return 0; }
//!         passed[method]++;
//!         return off;
//!     }
//!     @ForceInline public static void exit(int method, int off) { if (off == 0) exit(method); }
//!     @ForceInline public static void thrown(int method, int off) { if (off == 0) thrown(method); }
//!     static void calibrate(int times) { do { enter(0); exit(0); times--; } while (times > 0); }
//! }
//! ```
//! Threads that count the same method at the same moment may lose some calls: an exact count would cost more than metering.

use std::ffi::CStr;
use std::sync::OnceLock;

use fulcrum_jvm_core::Probes;

use crate::jni::{Env, Object};

/// Methods with larger numbers have no gate.
pub(crate) const CAPACITY: usize = 1 << 17;

const NAME: &CStr = c"java/lang/FulcrumGates";

/// The probes that rewritten methods call.
pub(crate) const PROBES: Probes<'_> = Probes {
    class: "java/lang/FulcrumGates",
    enter: "enter",
    exit: "exit",
    thrown: "thrown",
    gate: Some("gate"),
    objects: crate::classes::probe_class::PROBES.objects,
    values: crate::classes::probe_class::PROBES.values,
};

/// The class in the running machine, and its arrays.
pub(crate) struct Gates {
    pub(crate) class: Object,
    off: Object,
    passed: Object,
}
// SAFETY: global references, which all threads may use.
unsafe impl Send for Gates {}
// SAFETY: see above.
unsafe impl Sync for Gates {}

impl Gates {
    /// Defines the class, once. `None` when the machine refuses it.
    pub(crate) fn define(env: Env) -> Option<&'static Gates> {
        static GATES: OnceLock<Gates> = OnceLock::new();
        if let Some(gates) = GATES.get() {
            return Some(gates);
        }
        let class = env.define_boot_class(NAME, &bytes())?;
        // Its first use makes the arrays.
        env.call_static_int(class, c"calibrate", 1)?;
        let gates = Gates {
            class,
            off: env.static_array(class, c"off", c"[B")?,
            passed: env.static_array(class, c"passed", c"[J")?,
        };
        Some(GATES.get_or_init(|| gates))
    }

    /// Shuts a method's gate: its calls are counted and not measured from now on.
    pub(crate) fn shut(&self, env: Env, method: u32) {
        if (method as usize) < CAPACITY {
            env.set_bytes(self.off, method as usize, &[1]);
        }
    }

    /// Opens all gates, and resets the counts.
    pub(crate) fn reset(&self, env: Env) {
        env.set_bytes(self.off, 0, &vec![0; CAPACITY]);
        env.set_longs(self.passed, &vec![0; CAPACITY]);
    }

    /// By method number, how many calls went through shut gates.
    pub(crate) fn passed(&self, env: Env) -> Vec<i64> {
        env.longs(self.passed, CAPACITY)
    }
}

/// Numbers of the class's constants.
mod constant {
    pub(crate) const NAMES: [&str; 20] = [
        super::PROBES.class,
        "java/lang/Object",
        "enter",
        "exit",
        "thrown",
        "gate",
        "calibrate",
        "<clinit>",
        "off",
        "passed",
        "(I)V",
        "(II)V",
        "(I)I",
        "()V",
        "[B",
        "[J",
        "Code",
        "RuntimeVisibleAnnotations",
        // JDK 9 and later, and JDK 8.
        "Ljdk/internal/vm/annotation/ForceInline;",
        "Ljava/lang/invoke/ForceInline;",
    ];
    pub(crate) const THIS: u16 = 21;
    pub(crate) const OBJECT: u16 = 22;
    pub(crate) const ENTER: u8 = 28;
    pub(crate) const EXIT: u8 = 29;
    pub(crate) const THROWN: u8 = 30;
    pub(crate) const OFF: u8 = 31;
    pub(crate) const PASSED: u8 = 32;
    pub(crate) const CAPACITY: u8 = 33;

    /// A text's number.
    pub(crate) const fn text(wanted: &str) -> u16 {
        let mut at = 0;
        while at < NAMES.len() {
            if same(NAMES[at].as_bytes(), wanted.as_bytes()) {
                return at as u16 + 1;
            }
            at += 1;
        }
        panic!("it is no constant of the class")
    }

    const fn same(a: &[u8], b: &[u8]) -> bool {
        let mut at = 0;
        while at < a.len() && at < b.len() && a[at] == b[at] {
            at += 1;
        }
        at == a.len() && at == b.len()
    }
}

/// The class file: major 49, without stack maps.
fn bytes() -> Vec<u8> {
    use constant::{THIS, text};
    let mut out = Vec::new();
    put(&mut out, &[0xcafe, 0xbabe, 0, 49, 34]);
    for text in constant::NAMES {
        out.push(1);
        put(&mut out, &[text.len() as u16]);
        out.extend_from_slice(text.as_bytes());
    }
    let void = text("(I)V");
    for (tag, fields) in [
        (7, &[text(PROBES.class)][..]),
        (7, &[text("java/lang/Object")]),
        // 23 to 27: names with types.
        (12, &[text("enter"), void]),
        (12, &[text("exit"), void]),
        (12, &[text("thrown"), void]),
        (12, &[text("off"), text("[B")]),
        (12, &[text("passed"), text("[J")]),
        // 28 to 32: methods and fields.
        (10, &[THIS, 23]),
        (10, &[THIS, 24]),
        (10, &[THIS, 25]),
        (9, &[THIS, 26]),
        (9, &[THIS, 27]),
        (3, &[(self::CAPACITY >> 16) as u16, self::CAPACITY as u16]),
    ] {
        out.push(tag);
        put(&mut out, fields);
    }
    members(&mut out);
    // No attributes.
    put(&mut out, &[0]);
    out
}

/// Appends everything between the constants and the attributes of the class.
fn members(out: &mut Vec<u8>) {
    use constant::{CAPACITY, ENTER, EXIT, OBJECT, OFF, PASSED, THIS, THROWN, text};
    // public final super; this, parent, no interfaces, two fields.
    put(out, &[0x31, THIS, OBJECT, 0, 2]);
    for (name, kind) in [("off", "[B"), ("passed", "[J")] {
        // static final, no attributes.
        put(out, &[0x18, text(name), text(kind), 0]);
    }
    put(out, &[8]);
    for name in ["enter", "exit", "thrown"] {
        // public static native, no attributes.
        put(out, &[0x109, text(name), text("(I)V"), 0]);
    }
    // getstatic off, iload_0, baload, dup, istore_1, ifne PASS; iload_0, invokestatic enter, iconst_0, ireturn;
    // PASS: getstatic passed, iload_0, dup2, laload, lconst_1, ladd, lastore, iload_1, ireturn
    let gate = [
        0xb2, 0, OFF, 0x1a, 0x33, 0x59, 0x3c, 0x9a, 0, 9, 0x1a, 0xb8, 0, ENTER, 3, 0xac, 0xb2, 0,
        PASSED, 0x1a, 0x5c, 0x2f, 0x0a, 0x61, 0x50, 0x1b, 0xac,
    ];
    inlined_method(
        out,
        &MethodCode {
            name: "gate",
            descriptor: "(I)I",
            stack: 6,
            variables: 2,
            body: &gate,
        },
    );
    for (name, native) in [("exit", EXIT), ("thrown", THROWN)] {
        // iload_1, ifne END, iload_0, invokestatic, END: return
        let body = [0x1b, 0x9a, 0, 7, 0x1a, 0xb8, 0, native, 0xb1];
        inlined_method(
            out,
            &MethodCode {
                name,
                descriptor: "(II)V",
                stack: 1,
                variables: 2,
                body: &body,
            },
        );
    }
    // iconst_0, invokestatic enter, iconst_0, invokestatic exit, iinc 0 -1, iload_0, ifgt 0, return
    let calibrate = [
        3, 0xb8, 0, ENTER, 3, 0xb8, 0, EXIT, 0x84, 0, 0xff, 0x1a, 0x9d, 0xff, 0xf4, 0xb1,
    ];
    method(
        out,
        &MethodCode {
            name: "calibrate",
            descriptor: "(I)V",
            stack: 1,
            variables: 1,
            body: &calibrate,
        },
    );
    // ldc CAPACITY, newarray byte, putstatic off, ldc CAPACITY, newarray long, putstatic passed, return
    let initializer = [
        0x12, CAPACITY, 0xbc, 8, 0xb3, 0, OFF, 0x12, CAPACITY, 0xbc, 11, 0xb3, 0, PASSED, 0xb1,
    ];
    method(
        out,
        &MethodCode {
            name: "<clinit>",
            descriptor: "()V",
            stack: 1,
            variables: 0,
            body: &initializer,
        },
    );
}

fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|it| out.extend(it.to_be_bytes()));
}

/// A static method: its name and descriptor, the sizes of its stack and variables, and its byte code.
struct MethodCode<'a> {
    name: &'a str,
    descriptor: &'a str,
    stack: u16,
    variables: u16,
    body: &'a [u8],
}

/// Appends a method.
fn method(out: &mut Vec<u8>, method: &MethodCode<'_>) {
    const STATIC: u16 = 8;
    head_and_code(out, method, STATIC, 1);
}

/// Appends a public method that is always inlined.
fn inlined_method(out: &mut Vec<u8>, method: &MethodCode<'_>) {
    const PUBLIC_STATIC: u16 = 9;
    head_and_code(out, method, PUBLIC_STATIC, 2);
    let annotations = constant::NAMES.len() as u16;
    put(
        out,
        &[
            constant::text("RuntimeVisibleAnnotations"),
            0,
            10,
            2,
            annotations - 1,
            0,
            annotations,
            0,
        ],
    );
}

fn head_and_code(out: &mut Vec<u8>, method: &MethodCode<'_>, access: u16, attributes: u16) {
    use constant::text;
    put(
        out,
        &[
            access,
            text(method.name),
            text(method.descriptor),
            attributes,
            text("Code"),
            0,
        ],
    );
    let length = method.body.len() as u16;
    put(
        out,
        &[12 + length, method.stack, method.variables, 0, length],
    );
    out.extend_from_slice(method.body);
    // No handlers, no attributes of the code.
    put(out, &[0, 0]);
}
