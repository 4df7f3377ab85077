//! Cells of tables.

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The row has no such thing.
    Nothing,
    /// A text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
}
