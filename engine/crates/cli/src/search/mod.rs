//! Bottleneck search in a terminal: `fulcrum navigate` and `fulcrum suggest`.

pub mod args;
mod command;
mod details;
mod json;
mod navigate;
mod numbers;
mod open;
mod print;
mod session;
mod suggest;
mod waiting;

pub use navigate::navigate;
pub use suggest::suggest;
