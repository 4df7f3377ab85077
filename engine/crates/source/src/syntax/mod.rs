//! Text and syntax trees: languages, parsing with tree-sitter, what nodes mean, and edits.

pub(crate) mod language;
pub mod text;
pub(crate) mod tree;
