//! Files to profiles that can be searched: reading, names for addresses, and labels that are kept beside a workspace.
//!
//! What the command line and the server share: `ingest` and `paths` touch no files.

mod error;
mod labels;
mod quantity;
mod read;
mod session;
mod symbols;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use labels::{Kept, read_labels, write_labels};
pub use quantity::{quantity, share};
pub use read::{Read, named_rules, read};
pub use session::{Files, Session};
pub use symbols::Files as SymbolFiles;
