//! What the agent for Java virtual machines decides, without a virtual machine: which methods are observed ([`filter`]),
//! and how class files get probes ([`class`], [`rewrite()`]).
//!
//! Constraints, because this runs inside other people's programs: nothing here panics on a class file, whatever is in it,
//! and a method that cannot be rewritten safely is refused and left as it is.

mod bytes;
mod calls;
pub mod class;
mod code;
mod constructor;
pub mod directives;
pub mod filter;
mod frames;
mod gate;
mod objects;
mod pattern;
mod pool;
mod rewrite;

pub use bytes::Malformed;
pub use class::{ClassFile, Method};
pub use rewrite::{ObjectProbes, Probes, Refusal, Rewritten, Selected, rewrite};
