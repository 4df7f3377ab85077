//! The agent that Fulcrum preloads into native programs which were built with `-finstrument-functions`: writes the event log
//! (JPMT §4.2), as the agent for Java virtual machines does.
//!
//! Constraints, because this runs inside other people's programs:
//! - nothing is printed; what goes wrong is a note in the log, or in `agent-<pid>.txt` beside it;
//! - a probe takes no lock and makes no system call, except for a function's or thread's first event and a full chunk.
//!   Signals are blocked then, so that no handler jumps out of it. Where values are logged, the kernel reads what pointers
//!   point to;
//! - nothing of the program is called: we have our own memory, and never wait for the loader's lock while we hold ours;
//! - a process in which no instrumented function is called has no log, and nothing in it changes.
//!
//! It is separate from `runtime`, which hooks everything that blocks: those hooks would be part of the times that are
//! measured here. Its decisions are in `fulcrum-agent-core`, tested there.
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
