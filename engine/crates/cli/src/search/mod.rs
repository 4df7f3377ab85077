//! Bottleneck search in a terminal: `fulcrum navigate` and `fulcrum suggest`.

pub mod args;
mod command;
pub mod details;
mod json;
mod navigate;
pub mod numbers;
mod open;
mod print;
mod recursion;
mod session;
mod suggest;
pub mod waiting;

pub use navigate::{navigate, talk};
pub use suggest::suggest;
