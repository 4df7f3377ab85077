//! The tool interface of the virtual machine in this process.

use std::sync::OnceLock;

use fulcrum_jvm_interface::jvmti::Jvmti;

static JVMTI: OnceLock<Jvmti> = OnceLock::new();

/// The interface, once the machine is prepared.
#[inline]
pub(crate) fn jvmti() -> Option<Jvmti> {
    JVMTI.get().copied()
}

/// Sets the interface once the machine is prepared. There is one machine in a process, so later calls change nothing.
pub(crate) fn set(jvmti: Jvmti) {
    let _ = JVMTI.set(jvmti);
}
