//! Fixed-size numbers in binary data. A cursor knows its offset in the file, for errors.

use crate::decode::fault::Fault;
use crate::decode::wire::Message;

/// The order of a number's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Little,
    Big,
}

/// A part of a file, read from front to back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    start: usize,
    order: Order,
}

impl<'a> Cursor<'a> {
    /// The whole file, little-endian.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor {
            bytes,
            start: 0,
            order: Order::Little,
        }
    }

    /// The same bytes with numbers in this order. What is taken from it has the same order.
    pub(crate) fn in_order(self, order: Order) -> Self {
        Cursor { order, ..self }
    }

    /// `size` bytes at `offset` of the file `bytes`. Errors call them `what`.
    pub(crate) fn part(bytes: &'a [u8], offset: u64, size: u64, what: &str) -> Result<Self, Fault> {
        let from = usize::try_from(offset)
            .ok()
            .filter(|&from| from <= bytes.len());
        let rest = from.map_or(&[][..], |from| &bytes[from..]);
        let part = usize::try_from(size).ok().and_then(|size| rest.get(..size));
        match (from, part) {
            (Some(start), Some(bytes)) => Ok(Cursor {
                start,
                ..Cursor::new(bytes)
            }),
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
            ..*self
        };
        self.bytes = rest;
        self.start += length;
        Ok(cursor)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let taken = self.take(N)?.bytes;
        Ok(taken.try_into().expect("take returns that many bytes"))
    }

    /// Takes a number of which each byte has seven bits, the lowest first.
    pub(crate) fn varint(&mut self) -> Result<u64, Fault> {
        let mut rest = Message::part(self.bytes, self.start);
        let number = rest.packed()?.ok_or_else(|| {
            let problem = "the data ends in the middle of a number";
            Fault::byte(self.start, problem)
        })?;
        (self.bytes, self.start) = (rest.bytes(), rest.at());
        Ok(number)
    }

    /// Takes a byte.
    pub(crate) fn u8(&mut self) -> Result<u8, Fault> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Takes two bytes as a number.
    pub(crate) fn u16(&mut self) -> Result<u16, Fault> {
        let bytes = self.array()?;
        Ok(match self.order {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        })
    }

    /// Takes four bytes as a number.
    pub(crate) fn u32(&mut self) -> Result<u32, Fault> {
        let bytes = self.array()?;
        Ok(match self.order {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Takes eight bytes as a number.
    pub(crate) fn u64(&mut self) -> Result<u64, Fault> {
        let bytes = self.array()?;
        Ok(match self.order {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        })
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
    fn numbers_may_be_big_endian() {
        let all = b"\x01\x02\0\0\0\x03\0\0\0\0\0\0\0\x04";
        let mut cursor = Cursor::new(all).in_order(Order::Big);
        let mut first = cursor.take(6).expect("there are more");
        assert_eq!((first.u16(), first.u32()), (Ok(0x102), Ok(3)));
        assert_eq!((cursor.at(), cursor.u64()), (6, Ok(4)));
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
