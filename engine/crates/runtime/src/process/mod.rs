//! The runtime in a process: its start and end, forks and `exec`, threads, descriptors, and the control block that it shares
//! with the engine.

pub(crate) mod activity;
pub(crate) mod control;
pub(crate) mod current;
pub(crate) mod descriptors;
pub(crate) mod exec;
pub(crate) mod exits;
pub(crate) mod folder;
pub(crate) mod fork;
pub(crate) mod life;
pub(crate) mod thread;
