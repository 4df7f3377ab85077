//! Bottleneck search in a terminal: `fulcrum navigate` and `fulcrum suggest`.

pub(crate) mod args;
mod command;
pub(crate) mod details;
mod json;
mod navigate;
pub(crate) mod numbers;
mod open;
mod print;
mod recursion;
mod session;
mod suggest;
pub(crate) mod waiting;

pub(crate) use navigate::{interact, navigate};
pub(crate) use suggest::suggest;
