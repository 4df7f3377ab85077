//! The library that Fulcrum injects into native programs (`LD_PRELOAD`): per-thread sampling, virtual speedups,
//! progress points, and the hooks that keep the delay ledger right (COZ §3).
//!
//! Constraints, because this runs inside other people's programs:
//! - no allocation, no locks held across calls into the program, nothing in signal handlers that is not
//!   async-signal-safe;
//! - every hook passes straight through while the runtime is inactive: before its constructor has run, in processes
//!   without a session, in forked children, after the last record;
//! - whatever fails here leaves the program as it would run without us.
//!
//! The decisions themselves (ledger, draws, records) are in `fulcrum-runtime-core`, tested under simulation; this
//! crate is tested from outside, by running programs under it.
#![allow(
    clippy::missing_safety_doc,
    reason = "exported symbols have libc's contracts"
)]

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the runtime supports x86-64 Linux");

mod experiment;
mod hooks;
mod process;
mod sampling;
mod signals;
mod sys;

fulcrum_preload::sanitizer_options!();
