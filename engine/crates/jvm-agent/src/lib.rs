//! The agent that Fulcrum loads into Java virtual machines, when they start (`-agentpath`) or later (the attach protocol). It
//! writes the event log (JPMT §4.2).
//!
//! Constraints, because this runs inside other people's programs:
//! - nothing is printed; what goes wrong is a note in the log, or in `agent-<pid>.txt` beside it;
//! - whatever fails here leaves the program as it would run without us: no panic leaves a callback;
//! - a probe takes no lock and calls nothing of the virtual machine, except for a thread's first event and a full chunk.
//!
//! The decisions are in `fulcrum-filter` and `fulcrum-jvm-core` (rewriting class files), the log is `fulcrum-event-log`'s.
#![allow(non_snake_case, reason = "the virtual machine looks for such names")]
#![allow(
    clippy::missing_safety_doc,
    reason = "exported functions have JVMTI's and JNI's contracts"
)]

mod classes;
mod objects;
mod probes;
mod session;
mod threads;

use std::ffi::{CStr, c_char, c_void};

use fulcrum_agent_core::say;
use fulcrum_jvm_interface::{jni, jvmti};
use jni::JavaVm;

use crate::session::commands;

/// The virtual machine starts with the agent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(
    vm: *mut JavaVm,
    options: *const c_char,
    _reserved: *mut c_void,
) -> i32 {
    // If a failure cannot be reported, the missing log shows it.
    // SAFETY: the machine's own pointer, and its C string or null.
    let _ = unsafe { guarded_with(options, |options| commands::load(vm, options)) };
    // Anything else would end the program.
    0
}

/// The agent is loaded into a running virtual machine. `options` is a command for `commands::command`. Returns 0 when it
/// was done, 1 when it was refused and the reason is in the run's folder, and a negative error number (`errno`) when the
/// reason could not be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnAttach(
    vm: *mut JavaVm,
    options: *const c_char,
    _reserved: *mut c_void,
) -> i32 {
    // SAFETY: the machine's own pointer, and its C string or null.
    match unsafe { guarded_with(options, |options| commands::command(vm, options)) } {
        Outcome::Done => 0,
        Outcome::Refused => 1,
        Outcome::Unreported(error) => -error.raw_os_error().unwrap_or(libc::EIO),
    }
}

/// What became of a command.
#[derive(Default)]
enum Outcome {
    Done,
    /// The reason has been reported; also when the agent panicked.
    #[default]
    Refused,
    /// It was not done, and this error kept us from reporting why.
    Unreported(std::io::Error),
}

/// # Safety
/// `options` is a string that lives as long as this call, or null.
unsafe fn guarded_with(
    options: *const c_char,
    what: impl FnOnce(&str) -> Result<bool, String>,
) -> Outcome {
    say::guarded(|| {
        let options = if options.is_null() {
            String::new()
        } else {
            // SAFETY: the caller's promise.
            let options = unsafe { CStr::from_ptr(options) };
            options.to_string_lossy().into_owned()
        };
        match what(&options) {
            Ok(true) => Outcome::Done,
            Ok(false) => Outcome::Refused,
            Err(why) => match say::refuse(&why) {
                Ok(()) => Outcome::Refused,
                Err(error) => Outcome::Unreported(error),
            },
        }
    })
}
