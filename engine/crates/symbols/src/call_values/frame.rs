//! Frames, and places in them.

use crate::elf::file::Reader;

pub(crate) type Unit<'r> = gimli::Unit<Reader<'r>>;
pub(crate) type Entry<'r> = gimli::DebuggingInformationEntry<Reader<'r>>;

/// DWARF's number of the stack pointer.
pub(crate) const RSP: u16 = 7;
/// DWARF's number of the frame pointer.
pub(crate) const RBP: u16 = 6;

/// Where a value is during a call. Registers have DWARF's numbers: `rbx` is 3, `rbp` 6, `rsp` 7, then `r12` to `r15`. `rsp` is the value
/// before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a register.
    Register(u16),
    /// In memory, at a register's value plus this offset.
    Memory(u16, i64),
    /// A constant.
    Constant(i64),
}

/// Whether calls preserve a register, so that a probe finds the function's value in it.
pub(crate) fn is_preserved(register: u16) -> bool {
    matches!(register, 3 | RBP | RSP | 12..=15)
}

/// The addresses to which places in a frame are relative.
pub(crate) struct Frame {
    /// The canonical frame address, as a register plus an offset.
    pub(crate) cfa: Option<(u16, i64)>,
    /// The register that is the frame base.
    pub(crate) base: Option<u16>,
    /// Whether the frame base is the canonical frame address.
    pub(crate) by_cfa: bool,
}

impl Frame {
    /// A place relative to the frame base.
    pub(crate) fn at(&self, offset: i64) -> Option<Place> {
        let (register, more) = match (self.by_cfa, self.base) {
            (true, _) => self.cfa?,
            (false, base) => (base?, 0),
        };
        Some(Place::Memory(register, more.checked_add(offset)?))
    }
}
