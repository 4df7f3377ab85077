//! The library that Fulcrum preloads into programs under transactional profiling (Whodunit §7.1): it logs what threads do
//! that the contexts of transactions follow from. Layout and meaning of the log are `fulcrum_wire::transactions`.
//!
//! It only logs. The engine makes contexts of the logs, and takes the CPU samples, from outside: here are no timers, no signal
//! handlers and no threads.
//!
//! What flows through shared memory (§3), it finds itself: critical sections run from copies of their instructions
//! (`fulcrum_critical_sections`), and what a thread consumes that another one produced is logged.
//!
//! Constraints, because this runs inside other people's programs:
//! - no allocation from the program's heap, also not in hooks of locks, which allocators use; no lock held across calls into
//!   the program;
//! - every hook passes straight through while the library is inactive: before its constructor has run, in processes without a
//!   session, in forked children that have no log;
//! - results, `errno`, blocking, partial counts and cancellation are those of the hidden functions;
//! - a signal handler that interrupts our code finds that it does: what it does is counted, not logged.
//!
//! Not seen: what libc does inside itself (stdio on a socket, `getaddrinfo`), system calls made by instructions. What goes through
//! `io_uring` is counted.
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

fulcrum_preload::sanitizer_options!();
