//! Memory of large trees: where it lies, and when it is given back.

mod large_pages;
mod reuse;

pub use large_pages::in_large_pages;
pub use reuse::{Reuse, reuse_freed};
