//! `fulcrum/causal/*`: causal runs and profiles. One file a request, and one for a run that goes on.

pub(crate) mod aim;
pub(crate) mod clear;
pub(crate) mod compare;
pub(crate) mod control;
pub(crate) mod live;
pub(crate) mod open;
pub(crate) mod ranking;
pub(crate) mod run;
