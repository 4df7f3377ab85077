//! The virtual machine that the agent is in: its interfaces.

use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::jni::{self, Env, JavaVm};
use crate::jvmti::{self, Jvmti};

static VM: AtomicPtr<JavaVm> = AtomicPtr::new(null_mut());

/// The one tool interface that we have, in all sessions.
///
/// # Safety
/// `vm` is the machine's own.
pub unsafe fn connect(vm: *mut JavaVm) -> Result<Jvmti, String> {
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

/// JNI for the calling thread. `None` when that is not Java's.
pub fn env() -> Option<Env> {
    // SAFETY: null, or the machine's own.
    let vm = unsafe { VM.load(Ordering::Acquire).as_mut() }?;
    // SAFETY: as above.
    let env = unsafe { vm.interface(jni::VERSION) }?;
    Some(Env::from_raw(env))
}
