//! Locks and critical sections: who waits for whom (Whodunit §6), and what flows through shared memory (Whodunit §3, §7.2).

pub(crate) mod copies;
pub(crate) mod futex;
pub(crate) mod glibc;
pub(crate) mod locks;
pub(crate) mod pool;
pub(crate) mod sections;
pub(crate) mod watch;
