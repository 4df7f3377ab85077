//! Where threads spend their time: perf events and timers, call stacks, breakpoints.

pub(crate) mod breakpoints;
pub(crate) mod perf;
pub(crate) mod resting;
pub(crate) mod sampler;
pub(crate) mod stack;
pub(crate) mod walk;
