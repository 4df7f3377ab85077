//! `fulcrum/runs/*`: the runs recorded in a workspace. One file a request.

pub(crate) mod list;
pub(crate) mod remove;
