//! Code shared by the libraries that are loaded into other people's programs: access to the functions that our symbols hide,
//! constructors and destructors, sections of our own code, descriptors, and system calls that bypass libc.
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
