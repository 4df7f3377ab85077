//! The agent that Fulcrum loads into Java virtual machines (`-agentpath`): writes the event log (JPMT §4.2).
//!
//! Constraints, because this runs inside other people's programs:
//! - nothing is printed; what goes wrong is a note in the log, or in `agent-<pid>.txt` beside it;
//! - whatever fails here leaves the program as it would be alone: no panic leaves a callback;
//! - a probe takes no lock and calls nothing of the virtual machine, but for a thread's first event and a full chunk.
//!
//! The decisions (filters, rewriting class files) are in `fulcrum-jvm-core`, the log is `fulcrum-event-log`'s.
#![allow(non_snake_case, reason = "the virtual machine looks for such names")]
#![allow(
    clippy::missing_safety_doc,
    reason = "exported functions have JVMTI's and JNI's contracts"
)]

mod agent;
mod classes;
mod clock;
mod costs;
mod events;
mod jni;
mod jvmti;
mod objects;
mod options;
mod probe_class;
mod probes;
mod say;
mod thread;

use std::ffi::{CStr, c_char, c_void};

/// The machine starts with us.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(
    vm: *mut jni::JavaVm,
    options: *const c_char,
    _reserved: *mut c_void,
) -> i32 {
    say::guarded(|| {
        let options = if options.is_null() {
            String::new()
        } else {
            // SAFETY: the machine gives a string that lives as long as this call.
            let options = unsafe { CStr::from_ptr(options) };
            options.to_string_lossy().into_owned()
        };
        // SAFETY: the machine's own pointer.
        if let Err(why) = unsafe { agent::start(vm, &options) } {
            say::say(&why);
        }
    });
    // Anything else would end the program.
    0
}
