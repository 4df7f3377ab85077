//! Observes which thread starts which: JVMTI reports a new thread only from within it.
//!
//! `Thread.start0` is a native method. While a program is traced, it is bound to ours, which calls the machine's. No byte code of
//! `Thread` changes. Virtual threads are started without a native method: see `virtual_starts.rs`.

use std::ffi::c_void;
use std::sync::OnceLock;

use fulcrum_agent_core::say::guarded;
use fulcrum_preload::real::find;

use crate::jni::{Env, NativeMethod, Object};
use crate::session::agent;
use crate::threads::{parents, thread};

type Start = unsafe extern "system" fn(Env, Object);

/// What `Thread.start0` is bound to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start0 {
    /// The function of the virtual machine.
    Machine,
    /// Our function, which calls that.
    Ours,
}

/// The machine's function that starts a thread.
fn machine_start() -> Option<Start> {
    static START: OnceLock<Option<Start>> = OnceLock::new();
    *START.get_or_init(|| {
        let name = c"JVM_StartThread";
        // SAFETY: plain lookups of names, in a machine that was loaded privately.
        let at = find(name).unwrap_or_else(|| unsafe {
            let machine = libc::dlopen(c"libjvm.so".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if machine.is_null() {
                machine
            } else {
                libc::dlsym(machine, name.as_ptr())
            }
        });
        // SAFETY: since JDK 1.2, what `Thread.start0` is bound to.
        (!at.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Start>(at) })
    })
}

/// Binds `Thread.start0`. `false` when this machine starts threads in another way.
///
/// To be called by a native method that a class of the platform calls; otherwise the machine prints a warning.
pub(crate) fn bind(env: Env, to: Start0) -> bool {
    let (Some(machine), Some(class)) = (machine_start(), env.find_class(c"java/lang/Thread"))
    else {
        return false;
    };
    let method = NativeMethod {
        name: c"start0".as_ptr(),
        signature: c"()V".as_ptr(),
        function: if to == Start0::Ours {
            start0 as *const c_void
        } else {
            machine as *const c_void
        },
    };
    // SAFETY: C strings, and functions with the types of `start0`.
    unsafe { env.register(class, &method) }
}

unsafe extern "system" fn start0(env: Env, this: Object) {
    let noted = guarded(|| {
        agent::get()?;
        let parent = thread::number();
        let thread = env.global(this)?;
        parents::started(thread, parent);
        Some(thread)
    });
    if let Some(start) = machine_start() {
        // SAFETY: what the machine itself would have called, with its own arguments.
        unsafe { start(env, this) };
    }
    if let Some(thread) = noted
        && env.has_exception()
    {
        // It did not start. The exception is the program's; these calls are allowed while it is pending.
        guarded(|| parents::failed(env, thread));
    }
}
