//! `fulcrum/events/*`: event traces. One file a request, and one for the size of answers; what they read is in
//! [`crate::events`].

pub(crate) mod children;
pub(crate) mod close;
pub(crate) mod compare;
pub(crate) mod filter;
pub(crate) mod frame;
pub(crate) mod open;
mod page;
pub(crate) mod query;
pub(crate) mod queues;
pub(crate) mod search;
pub(crate) mod timeline;
pub(crate) mod tree;
