//! What the source text says: where a progress point goes (tree-sitter; C, C++, Rust), where a recorded line is now, and where
//! functions are defined.
//!
//! Everything here is text in, edits or line numbers out; no files are touched.

#![forbid(unsafe_code)]

mod definitions;
pub mod drift;
#[cfg(test)]
mod every_position;
mod include;
mod insert;
mod insertion_point;
mod kind;
mod language;
mod line_mapping;
mod names;
mod progress;
mod qualified;
mod remove;
mod rust;
mod syntax;
pub mod text;

pub use definitions::{Definition, definitions, has_definitions};
pub use drift::{Anchor, Anchors, State};
pub use kind::{ProgressPointKind, Refused};
pub use language::Language;
pub use line_mapping::{LineMapping, RecordedFile};
pub use progress::SourceFile;
pub use qualified::Qualified;
pub use text::{Edit, apply};
