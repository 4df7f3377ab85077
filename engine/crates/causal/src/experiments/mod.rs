//! Which experiments count, and how much each of them does.

pub(crate) mod disturbance;
pub(crate) mod steady;
pub(crate) mod weights;
