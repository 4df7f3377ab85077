//! Fixed-size numbers in binary data. A cursor knows its offset in the file, for errors.

use crate::decode::fault::Fault;

/// A part of a file, read from front to back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    start: usize,
}

impl<'a> Cursor<'a> {
    /// The whole file.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, start: 0 }
    }

    /// `size` bytes at `offset` of the file `bytes`. Errors call them `what`.
    pub(crate) fn part(bytes: &'a [u8], offset: u64, size: u64, what: &str) -> Result<Self, Fault> {
        let from = usize::try_from(offset)
            .ok()
            .filter(|&from| from <= bytes.len());
        let rest = from.map_or(&[][..], |from| &bytes[from..]);
        let part = usize::try_from(size).ok().and_then(|size| rest.get(..size));
        match (from, part) {
            (Some(start), Some(bytes)) => Ok(Cursor { bytes, start }),
            _ => Err(Fault::byte(
                bytes.len(),
                format!(
                    "{what} is said to be {size} bytes at byte {offset}, but the file has {} bytes",
                    bytes.len()
                ),
            )),
        }
    }

    /// The offset in the file of the bytes that are left.
    pub(crate) fn at(&self) -> usize {
        self.start
    }

    /// The bytes that are left.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether no bytes are left.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes the next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Result<Cursor<'a>, Fault> {
        let Some((taken, rest)) = self.bytes.split_at_checked(length) else {
            let left = self.bytes.len();
            let problem = format!("expected {length} more bytes, but {left} are left");
            return Err(Fault::byte(self.start, problem));
        };
        let cursor = Cursor {
            bytes: taken,
            start: self.start,
        };
        self.bytes = rest;
        self.start += length;
        Ok(cursor)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let taken = self.take(N)?.bytes;
        Ok(taken.try_into().expect("take returns that many bytes"))
    }

    /// Takes two bytes, little-endian.
    pub(crate) fn u16(&mut self) -> Result<u16, Fault> {
        self.array().map(u16::from_le_bytes)
    }

    /// Takes four bytes, little-endian.
    pub(crate) fn u32(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    /// Takes eight bytes, little-endian.
    pub(crate) fn u64(&mut self) -> Result<u64, Fault> {
        self.array().map(u64::from_le_bytes)
    }

    /// The text up to a zero byte or the end. Takes nothing.
    pub(crate) fn text(&self) -> String {
        let end = self.bytes.iter().position(|&byte| byte == 0);
        String::from_utf8_lossy(&self.bytes[..end.unwrap_or(self.bytes.len())]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_one_another_until_the_end() {
        let mut cursor = Cursor::new(b"\x01\x02\x03\0\0\0\x04\0\0\0\0\0\0\0ab\0c");
        assert_eq!(cursor.u16(), Ok(0x201));
        assert_eq!(cursor.u32(), Ok(3));
        assert_eq!(cursor.u64(), Ok(4));
        assert_eq!((cursor.at(), cursor.text()), (14, "ab".to_owned()));
        let fault = cursor.u64().expect_err("four are left");
        assert_eq!(
            fault,
            Fault::byte(14, "expected 8 more bytes, but 4 are left")
        );
    }

    #[test]
    fn parts_are_inside_the_file() {
        let part = Cursor::part(b"abcdef", 2, 3, "x").expect("inside");
        assert_eq!((part.at(), part.bytes()), (2, &b"cde"[..]));
        for (offset, size) in [(2, 5), (7, 0), (u64::MAX, 1), (0, u64::MAX)] {
            assert!(
                Cursor::part(b"abcdef", offset, size, "x").is_err(),
                "{offset} {size}"
            );
        }
    }
}
