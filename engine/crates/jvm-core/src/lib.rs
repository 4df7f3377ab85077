//! How class files get probes ([`class`], [`rewrite()`]), without a virtual machine. A filter decides which methods get them:
//! `fulcrum-filter`.
//!
//! By hand: `cafebabe` only reads class files; `noak` and `ristretto_classfile` write a class anew, which would also change
//! methods that nobody selected, and the latter needs a newer Rust. This crate copies all bytes except those of the selected
//! methods' code.
//!
//! Constraints, because this runs inside other people's programs: nothing here panics on a class file, whatever is in it,
//! and a method that cannot be rewritten safely is refused and left as it is.

#![forbid(unsafe_code)]

mod bytes;
mod calls;
pub mod class;
mod code;
mod constructor;
mod frames;
mod gate;
mod objects;
mod pool;
mod probes;
mod rewrite;
mod text;
mod values;

pub use bytes::Malformed;
pub use class::{ClassFile, Method};
pub use probes::{ObjectProbes, Probes, Refusal, Selected, ValueProbes};
pub use rewrite::{Rewritten, rewrite};
pub use text::{Start, utf8_start};
pub use values::tag;
