//! Classes: which methods get probes, the classes that probes call, gates and metering.

pub(crate) mod costs;
pub(crate) mod gates;
pub(crate) mod metered;
pub(crate) mod metering;
pub(crate) mod probe_class;
pub(crate) mod rewriting;
