//! How much of a message is looked at.

/// Bytes of a message that are looked at. More need not be given.
pub const LOOK: usize = 2048;
