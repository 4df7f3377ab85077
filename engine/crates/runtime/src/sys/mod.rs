//! System calls: `syscall(2)`, which of them filters allow, and what the kernel tells about the machine.

pub(crate) mod allowed;
pub(crate) mod machine;
pub(crate) mod seccomp;
pub(crate) mod syscall;
