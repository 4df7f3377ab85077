//! Threads: what the agent keeps for each, and which thread started which.

pub(crate) mod parents;
pub(crate) mod thread;
pub(crate) mod thread_starts;
pub(crate) mod virtual_starts;
