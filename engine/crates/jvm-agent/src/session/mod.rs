//! Sessions: the agent that observes, what it is asked to do, what the virtual machine reports to it, and the log's dictionary.

pub(crate) mod agent;
pub(crate) mod commands;
pub(crate) mod dictionary;
pub(crate) mod events;
pub(crate) mod machine;
