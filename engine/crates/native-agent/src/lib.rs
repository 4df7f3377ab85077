//! The agent that Fulcrum preloads into native programs which were built with `-finstrument-functions`: writes the event log
//! (JPMT §4.2), as the agent for Java virtual machines does.
//!
//! Constraints, because this runs inside other people's programs:
//! - nothing is printed; what goes wrong is a note in the log, or in `agent-<pid>.txt` beside it;
//! - a probe takes no lock and makes no system call, but for a function's and a thread's first event and a full chunk; then
//!   signals wait, so that no handler jumps out of it. Where values are logged, the kernel reads what pointers lead to;
//! - nothing of the program's is called: memory is our own, and our lock is never held while the loader's is waited for;
//! - a process in which no instrumented function is called has no log, and nothing in it changes.
//!
//! It is a library beside `runtime`: that one samples and pauses, and hooks everything that blocks, which would be in the
//! times that are measured here. What it decides is in `fulcrum-agent-core`, tested there.
#![allow(
    clippy::missing_safety_doc,
    reason = "exported symbols have libc's and the compiler's contracts"
)]

mod hooks;
mod life;
mod memory;
mod modules;
mod probes;
mod quiet;
mod session;
mod thread;
mod values;

fulcrum_preload::sanitizer_options!();
