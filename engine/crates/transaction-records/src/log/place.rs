//! A place where a log is damaged.

use std::fmt;

use fulcrum_wire::transactions::Damage;

/// A damaged record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its offset in bytes from the start of the file.
    pub offset: u64,
    /// The damage.
    pub damage: Damage,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: ", self.offset)?;
        match self.damage {
            Damage::Length(length) => write!(f, "invalid length {length}"),
            Damage::Kind(kind) => write!(f, "unknown kind {kind}"),
            Damage::Value(value) => write!(f, "invalid value {value:#x}"),
        }
    }
}
