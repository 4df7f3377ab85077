//! Identifiers of things in the profiled programs.

/// A context's number in its table: the paper's synopsis, 4 bytes that stand for a whole context (§7.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Synopsis(u32);

impl Synopsis {
    /// The context of a thread that executes no transaction.
    pub const EMPTY: Synopsis = Synopsis(0);

    /// The synopsis with this number. Only its table knows whether it exists.
    pub fn from_number(number: u32) -> Self {
        Synopsis(number)
    }

    /// The number, 0 for [`Synopsis::EMPTY`].
    pub fn number(self) -> u32 {
        self.0
    }

    /// Whether this context belongs to no transaction.
    pub fn is_empty(self) -> bool {
        self == Synopsis::EMPTY
    }
}

/// A thread of a process. Numbers are never reused, because roles are remembered by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// A lock or a condition variable: its address, or a monitor's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockId(pub u64);

/// One of a process's lists of producers and consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListId(pub(crate) u32);

impl ListId {
    /// The list's number, from 0, unique in its process.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// The address of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeAddress(pub u64);
