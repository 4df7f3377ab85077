//! The class that rewritten methods call, as bytes: `java.lang.FulcrumTasks`, in the package that every class can see.
//! ```text
//! public final class FulcrumTasks {
//!     public static native void entered(Object on, Object given, int point);
//!     public static native void returns(Object object, int point);
//!     public static native void says(int yes, int point);
//!     public static native void exit(int point);
//!     public static native void thrown(int point);
//! }
//! ```
//!
//! Written by hand: the class has five native methods and no code, for which a crate that assembles class files would be
//! the larger part.

use core::ffi::CStr;

use fulcrum_jvm_core::{ObjectProbes, Probes};

/// The class name, for the machine.
pub(crate) const NAME: &CStr = c"java/lang/FulcrumTasks";
const CLASS: &str = "java/lang/FulcrumTasks";

/// The methods that rewritten methods call.
pub(crate) const PROBES: Probes<'_> = Probes {
    class: CLASS,
    enter: "exit",
    exit: "exit",
    thrown: "thrown",
    gate: None,
    objects: Some(ObjectProbes {
        class: CLASS,
        entered: "entered",
        returns: "returns",
        says: "says",
    }),
    values: None,
};

/// The methods and their types.
const METHODS: [(&str, &str); 5] = [
    ("entered", "(Ljava/lang/Object;Ljava/lang/Object;I)V"),
    ("returns", "(Ljava/lang/Object;I)V"),
    ("says", "(II)V"),
    ("exit", "(I)V"),
    ("thrown", "(I)V"),
];

/// The class file.
pub(crate) fn bytes() -> Vec<u8> {
    let mut out = Vec::new();
    // Magic, minor version 0, major version 49, which needs no stack maps.
    put(&mut out, &[0xcafe, 0xbabe, 0, 49]);
    let texts = METHODS.iter().flat_map(|(name, kind)| [*name, *kind]);
    let texts: Vec<&str> = texts.chain([CLASS, "java/lang/Object"]).collect();
    let count = texts.len() as u16;
    // Strings from index 1, then this class and `Object`.
    put(&mut out, &[count + 3]);
    for text in texts {
        out.push(1);
        put(&mut out, &[text.len() as u16]);
        out.extend_from_slice(text.as_bytes());
    }
    for class in [count - 1, count] {
        out.push(7);
        put(&mut out, &[class]);
    }
    // public final super; this, parent, no interfaces, no fields, methods.
    let methods = METHODS.len() as u16;
    put(&mut out, &[0x31, count + 1, count + 2, 0, 0, methods]);
    for method in 0..methods {
        // public static native, no attributes.
        put(&mut out, &[0x109, 2 * method + 1, 2 * method + 2, 0]);
    }
    // No attributes.
    put(&mut out, &[0]);
    out
}

fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|it| out.extend(it.to_be_bytes()));
}
