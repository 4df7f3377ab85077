//! Big-endian bytes, as class files have them.

use std::fmt;

/// A class file that breaks its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The offset in the bytes that were read.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: expected {}", self.at, self.expected)
    }
}

impl std::error::Error for Malformed {}

/// Reads big-endian numbers from front to back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    pub(crate) fn error(&self, expected: &'static str) -> Malformed {
        Malformed {
            at: self.at,
            expected,
        }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.error("more bytes"))?;
        self.at += count;
        Ok(taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        self.u32().map(u32::cast_signed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// Appends big-endian numbers.
pub(crate) trait Write {
    fn put16(&mut self, value: u16);
    fn put32(&mut self, value: u32);
}

impl Write for Vec<u8> {
    fn put16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }
}
