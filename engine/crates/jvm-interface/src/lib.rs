//! The functions of a Java virtual machine that our libraries call in it: JNI's ([`jni`]) and those of its tool interface
//! ([`jvmti`]), by their places in the tables that the specifications define. Nothing is linked to a virtual machine.
//!
//! By hand, because `jni-sys` declares JNI alone, and `jvmti-bindings` declares both interfaces in full for agents that are built
//! on it. Our libraries use fifty functions, and are loaded into other people's programs.

pub mod jni;
pub mod jvmti;
