//! The program's threads: their state, how they start and end, and the OpenTelemetry context that an SDK publishes for them.

pub(crate) mod ending;
pub(crate) mod entering;
pub(crate) mod lock_wait;
pub(crate) mod process_context;
pub(crate) mod spawn;
pub(crate) mod thread;
pub(crate) mod thread_context;
pub(crate) mod work;
