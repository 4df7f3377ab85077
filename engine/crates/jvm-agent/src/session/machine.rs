//! The interfaces of the virtual machine that the agent is in.

use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::jni::{self, Env, JavaVm};
use crate::jvmti::{self, Jvmti};

static VM: AtomicPtr<JavaVm> = AtomicPtr::new(null_mut());

/// Our tool interface, the same in all sessions.
///
/// # Safety
/// `vm` is the machine's own.
pub(crate) unsafe fn connect(vm: *mut JavaVm) -> Result<Jvmti, String> {
    static JVMTI: OnceLock<Jvmti> = OnceLock::new();
    VM.store(vm, Ordering::Release);
    if let Some(jvmti) = JVMTI.get() {
        return Ok(*jvmti);
    }
    // SAFETY: the caller's promise.
    let environment = unsafe { (*vm).interface(jvmti::VERSION) };
    let environment =
        environment.ok_or("this virtual machine has no tool interface (JVMTI 1.2)")?;
    // SAFETY: of that version, and the machine lives as long as the process.
    Ok(*JVMTI.get_or_init(|| unsafe { Jvmti::from_raw(environment) }))
}

/// JNI for the calling thread. `None` when it is not attached to the machine.
pub(crate) fn env() -> Option<Env> {
    // SAFETY: null, or the machine's own.
    let vm = unsafe { VM.load(Ordering::Acquire).as_mut() }?;
    // SAFETY: as above.
    let env = unsafe { vm.interface(jni::VERSION) }?;
    // SAFETY: JNI's, for the calling thread.
    Some(unsafe { Env::from_raw(env) })
}
