//! Seeing which thread starts which: JVMTI tells a thread's beginning only within the new thread.
//!
//! `Thread.start0` is a native method: ours stands before the machine's own while a program is traced. No byte code of
//! `Thread` changes. Virtual threads are started without any native method: see `virtual_starts.rs`.

use std::ffi::c_void;
use std::sync::OnceLock;

use fulcrum_agent_core::say::guarded;
use fulcrum_preload::real::find;

use crate::jni::{Env, NativeMethod, Object};
use crate::{agent, parents, thread};

type Start = unsafe extern "system" fn(*mut c_void, Object);

/// The machine's own way to start a thread.
fn machines() -> Option<Start> {
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

/// Puts our `start0` before the machine's, or takes it away again. `false` when this machine has another way.
///
/// To be called by a native method that a class of the platform calls: the machine prints a warning otherwise.
pub fn observe(env: Env, on: bool) -> bool {
    let (Some(machines), Some(class)) = (machines(), env.find_class(c"java/lang/Thread")) else {
        return false;
    };
    let method = NativeMethod {
        name: c"start0".as_ptr(),
        signature: c"()V".as_ptr(),
        function: if on {
            start0 as *const c_void
        } else {
            machines as *const c_void
        },
    };
    env.register(class, &method)
}

unsafe extern "system" fn start0(env: *mut c_void, this: Object) {
    let noted = guarded(|| {
        let env = Env::from_raw(env);
        agent::get()?;
        let parent = thread::number();
        let thread = env.global(this)?;
        parents::started(thread, parent);
        Some(thread)
    });
    if let Some(start) = machines() {
        // SAFETY: what the machine itself would have called, with its own arguments.
        unsafe { start(env, this) };
    }
    let env = Env::from_raw(env);
    if let Some(thread) = noted
        && env.has_exception() != 0
    {
        // It did not start. The exception is the program's, and these calls do not mind it.
        guarded(|| parents::failed(env, thread));
    }
}
