//! What libraries that are loaded into other people's programs share: the functions that our symbols hide, beginnings and
//! ends, sections of our own code, descriptors, and system calls that nobody sees.
//!
//! Constraints, because this runs inside other people's programs: no allocation, no locks held across calls into the
//! program, and whatever signal handlers call is async-signal-safe.
#![no_std]

pub mod descriptors;
pub mod exec;
pub mod kept;
pub mod life;
pub mod quiet;
pub mod real;
pub mod sanitizers;
pub mod sys;
