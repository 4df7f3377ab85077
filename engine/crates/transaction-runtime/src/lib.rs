//! The library that Fulcrum preloads into programs under transactional profiling (Whodunit §7.1). It logs what threads do,
//! from which the contexts of transactions follow. `fulcrum_wire::transactions` defines the log.
//!
//! It only logs. The engine computes contexts from the logs and takes CPU samples from outside, so this library has no
//! timers, signal handlers or threads.
//!
//! The exception is flow through shared memory (§3): critical sections run from copies of their instructions
//! (`fulcrum_critical_sections`), and the library logs when a thread consumes what another one produced.
//!
//! Constraints, because this runs inside other people's programs:
//! - No allocation from the program's heap, not even in hooks of locks, which allocators use. No lock is held across calls
//!   into the program.
//! - Every hook passes calls straight through while the library is inactive: before its constructor has run, in processes
//!   without a session, and in forked children without a log.
//! - Results, `errno`, blocking, partial counts and cancellation are those of the hidden functions.
//! - A signal handler that interrupts our code detects this. Its actions are counted, not logged.
//!
//! Not seen: what libc does internally (stdio on a socket, `getaddrinfo`), and system calls made by instructions.
//! Operations through `io_uring` are counted.
#![allow(
    clippy::missing_safety_doc,
    reason = "exported symbols have libc's contracts"
)]

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the transaction runtime supports x86-64 Linux");

mod active;
mod call_paths;
mod hooks;
mod java;
mod libraries;
mod locking;
mod log;
mod messages;
mod process;
mod session;
mod threads;
mod windows;

fulcrum_preload::sanitizer_options!();
