//! The two ends of a path.

/// An end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The outermost name: extensions are callers.
    Top,
    /// The innermost name: extensions are callees.
    Bottom,
}
