//! The functions of a Java virtual machine that our libraries in it call: JNI's ([`jni`]) and its tool interface's ([`jvmti`]),
//! by their numbers in the specifications. There is no virtual machine in this crate, and nothing is linked to one.
#![allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "references are the machine's: they are passed on as they came"
)]

pub mod jni;
pub mod jvmti;
