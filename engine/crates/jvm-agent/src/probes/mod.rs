//! Probes: the native methods that rewritten methods call.

pub(crate) mod identity;
pub(crate) mod natives;
pub(crate) mod pending_values;
pub(crate) mod values;
