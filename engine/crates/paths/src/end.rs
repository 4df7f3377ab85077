//! The two ends of a path.

/// At which end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Callers.
    Top,
    /// Callees.
    Bottom,
}
