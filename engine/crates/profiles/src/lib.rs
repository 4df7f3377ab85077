//! From files to profiles that can be searched: reading, names for addresses, and labels that a workspace keeps.
//!
//! The command line and the server share this crate; `profile-formats` and `paths` touch no files.

#![forbid(unsafe_code)]

mod error;
mod labels;
mod large_text;
mod lines;
mod open_search;
mod read;
mod symbols;
#[cfg(test)]
mod tests;
pub mod transactions;

pub use error::Error;
pub use fulcrum_profile_formats::Limits;
pub use fulcrum_profile_formats::names::{self, Rule};
pub use labels::{Kept, read_labels, write_labels};
pub use lines::{LineCost, Lines, lines};
pub use open_search::{Files, OpenSearch};
pub use read::{Read, named_rules, profile, read};
pub use symbols::Files as SymbolFiles;
