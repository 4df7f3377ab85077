//! `fulcrum/navigator/*`: bottleneck search. One file a request, and one for what opens navigators; what they do is in
//! [`crate::navigator`].

pub(crate) mod automatic;
pub(crate) mod close;
pub(crate) mod command;
pub(crate) mod flame;
pub(crate) mod flame_search;
pub(crate) mod frame;
pub(crate) mod lines;
pub(crate) mod names;
pub(crate) mod open;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod serve;
