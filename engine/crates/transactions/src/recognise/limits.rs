//! How much of a message is examined.

/// The most bytes of a message that are examined.
pub const EXAMINED: usize = 2048;
