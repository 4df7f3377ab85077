//! `<pid>-<n>.<generation>.unwind`: how to find callers, for code without frame pointers.

/// First word of [`UnwindHeader`].
pub const UNWIND_MAGIC: u64 = u64::from_le_bytes(*b"FULCUNWI");

/// Head of an unwind file; `[Unwind; row_count]` follows, sorted by start.
#[repr(C)]
pub struct UnwindHeader {
    /// [`UNWIND_MAGIC`].
    pub magic: u64,
    /// [`VERSION`](crate::VERSION).
    pub version: u32,
    /// Number of rows.
    pub row_count: u32,
}

/// How to find the caller's frame from an address on, up to the next row (x86-64; the return address is at CFA − 8).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwind {
    /// First address, as it is in the running process.
    pub start: u64,
    /// The canonical frame address less the base register.
    pub cfa_offset: i32,
    /// Where the caller's `rbp` is saved, relative to the CFA; 0 when it is still in the register.
    pub rbp_offset: i16,
    /// One of [`base`].
    pub base: u8,
    /// Keeps the layout the same everywhere.
    pub unused: u8,
}

/// What the canonical frame address is computed from.
pub mod base {
    /// There is no caller, or no rule that a row can hold.
    pub const END: u8 = 0;
    /// `rsp`.
    pub const RSP: u8 = 1;
    /// `rbp`.
    pub const RBP: u8 = 2;
    /// In a procedure linkage table: `rsp + 8`, and 8 more in the second half of an entry.
    pub const PLT: u8 = 3;
}
