//! `fulcrum/trace/*`: recording event traces. What is recorded is opened by `fulcrum/events/open`.

pub(crate) mod start;
