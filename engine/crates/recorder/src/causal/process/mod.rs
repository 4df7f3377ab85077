//! One process of a causal run: its announcement, the map and the progress points that answer it, and its end.

pub(super) mod breakpoints;
pub(super) mod map;
pub(super) mod plan;
mod run_queue;
mod watched;

pub(super) use watched::{Answer, Shared, Watched};
