//! `fulcrum/events/*`: event traces. One file a request; what they read is in [`crate::events`].

mod children;
mod close;
mod compare;
mod filter;
mod frame;
mod open;
mod page;
mod query;
mod queues;
mod search;
mod timeline;
mod tree;

pub(crate) use children::Children;
pub(crate) use close::Close;
pub(crate) use compare::compare;
pub(crate) use filter::Filter;
pub(crate) use frame::{Frame, place_of};
pub(crate) use open::{open, opened};
pub(crate) use query::Table;
pub(crate) use queues::Queues;
pub(crate) use search::Search;
pub(crate) use timeline::Timeline;
pub(crate) use tree::tree;
