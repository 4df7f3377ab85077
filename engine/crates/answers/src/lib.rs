//! Converts the engine's types to those of `schema`: the command line and the server give the same answer by the same function.
//!
//! The inner crates know nothing of JSON, and `schema` knows nothing of them. What only one surface tells, such as a line of
//! an open document, it adds itself.

#![forbid(unsafe_code)]

pub mod causal;
pub mod events;
pub mod price;
pub mod quantity;
pub mod runs;
pub mod search;
pub mod section;
pub mod transactions;
pub mod what_if;
