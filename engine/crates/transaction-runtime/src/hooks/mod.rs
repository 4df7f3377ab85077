//! Hidden functions of libc: how a hook is made, and the calls that move bytes, change descriptors or wait.
//!
//! Hooks of locks, threads and processes are in [`locking`](crate::locking), [`threads`](crate::threads) and
//! [`process`](crate::process), with what they record.

pub(crate) mod descriptor_calls;
pub(crate) mod epoll;
pub(crate) mod frame;
pub(crate) mod idle;
pub(crate) mod stream_calls;
pub(crate) mod syscalls;
