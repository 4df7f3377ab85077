//! From experiments to the curve and slope of each target, with their intervals.

pub(crate) mod baseline;
pub(crate) mod bootstrap;
pub(crate) mod combine;
pub(crate) mod intervals;
pub(crate) mod latency;
pub(crate) mod linear;
pub(crate) mod phase;
pub(crate) mod placebo;
pub(crate) mod point;
pub(crate) mod slope;
