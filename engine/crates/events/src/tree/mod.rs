//! The tree of a thread: from its events to calls and waits, and what one pass over all trees yields.

pub(crate) mod fold;
pub(crate) mod stack;
pub(crate) mod stats;
pub(crate) mod visit;
pub(crate) mod walk;
