//! `fulcrum/navigator/*`: bottleneck search. One file a request; what they do is in [`crate::navigator`].

mod automatic;
mod close;
mod command;
mod flame;
mod flame_search;
mod frame;
mod lines;
mod names;
mod open;
mod report;
mod rows;

pub(crate) use automatic::automatic;
pub(crate) use close::Close;
pub(crate) use command::Command;
pub(crate) use flame::Flame;
pub(crate) use flame_search::FlameSearch;
pub(crate) use frame::Frame;
pub(crate) use lines::Lines;
pub(crate) use names::Names;
pub(crate) use open::{open, opened, serve};
pub(crate) use report::Report;
pub(crate) use rows::Rows;
