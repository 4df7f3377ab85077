//! Source code: where a progress point goes (tree-sitter; C, C++, Rust), where a recorded line is now, and where functions are
//! defined.
//!
//! Input is text; output is edits or line numbers. This crate accesses no files.

#![forbid(unsafe_code)]

mod definitions;
pub mod drift;
mod progress_points;
mod syntax;

pub use definitions::qualified::Qualified;
pub use definitions::{Definition, definitions, has_definitions};
pub use drift::line_mapping::{LineMapping, RecordedFile};
pub use drift::{Anchor, Anchors, State};
pub use progress_points::SourceFile;
pub use progress_points::kind::{ProgressPointKind, Refused};
pub use syntax::language::Language;
pub use syntax::text;
pub use syntax::text::{Edit, apply};
