//! `fulcrum/refine/*`: the refine loop, the table of one that is over, and where its hotspots are. One file a request.

pub(crate) mod frame;
pub(crate) mod open;
pub(crate) mod start;
