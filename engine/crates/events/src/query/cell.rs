//! Cells of tables.

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Nothing,
    /// A text.
    Text(String),
    /// An integer.
    Whole(u64),
    /// A floating-point number.
    Real(f64),
}
