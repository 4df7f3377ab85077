//! Protocol Buffers' wire format: the fields of a message, each with its offset in the file.
//!
//! Libraries: prost decodes a whole message into owned structs, which means allocations for every sample, line and label,
//! and its errors do not give the byte. Profiles have hundreds of megabytes, and a reader keeps a few fields.

use crate::decode::fault::Fault;

/// A message, or the rest of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    start: usize,
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 2: text, a message, or packed numbers.
    Bytes(Message<'a>),
    /// Wire types 1 and 5. No reader needs their values.
    Fixed,
}

impl<'a> Message<'a> {
    /// A file that is one message.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Message { bytes, start: 0 }
    }

    /// A message that is a part of a file, with its offset there.
    pub(crate) fn part(bytes: &'a [u8], start: usize) -> Self {
        Message { bytes, start }
    }

    /// The offset in the file of the bytes that are left.
    pub(crate) fn at(&self) -> usize {
        self.start
    }

    /// The bytes that are left.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The rest as text. Bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes).into_owned()
    }

    /// Takes the next field, with its number. Returns `None` after the last one.
    #[inline(always)]
    pub(crate) fn field(&mut self) -> Result<Option<(u64, Field<'a>)>, Fault> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let at = self.start;
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => self.skip(8)?,
            2 => Field::Bytes(self.nested(at)?),
            5 => self.skip(4)?,
            kind => {
                let problem = format!("expected a protobuf field, got wire type {kind}");
                return Err(Fault::byte(at, problem));
            }
        };
        Ok(Some((tag >> 3, value)))
    }

    /// The wanted fields, which are numbers.
    pub(crate) fn numbers<const N: usize>(mut self, wanted: [u64; N]) -> Result<[u64; N], Fault> {
        let mut found = [0; N];
        while let Some((number, field)) = self.field()? {
            if let Some(place) = wanted.iter().position(|&it| it == number) {
                found[place] = field.number();
            }
        }
        Ok(found)
    }

    /// Takes the next number of a packed field. Returns `None` after the last one.
    pub(crate) fn packed(&mut self) -> Result<Option<u64>, Fault> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        self.varint().map(Some)
    }

    /// Appends all numbers of a packed field. Nearly all have at most three bytes.
    fn all(self, into: &mut Vec<u64>) -> Result<(), Fault> {
        let end = self.start + self.bytes.len();
        let mut bytes = self.bytes;
        loop {
            let number = match *bytes {
                [low, ref rest @ ..] if low < 0x80 => {
                    bytes = rest;
                    u32::from(low)
                }
                [low, high, ref rest @ ..] if high < 0x80 => {
                    bytes = rest;
                    u32::from(low & 0x7f) | u32::from(high) << 7
                }
                [low, middle, high, ref rest @ ..] if high < 0x80 => {
                    bytes = rest;
                    let low = u32::from(low & 0x7f) | u32::from(middle & 0x7f) << 7;
                    low | u32::from(high) << 14
                }
                _ => {
                    let mut rest = Message::part(bytes, end - bytes.len());
                    let Some(number) = rest.packed()? else {
                        return Ok(());
                    };
                    into.push(number);
                    bytes = rest.bytes;
                    continue;
                }
            };
            into.push(number.into());
        }
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Fault> {
        // Nearly all have one or two bytes.
        match *self.bytes {
            [low, ..] if low < 0x80 => {
                self.advance(1);
                return Ok(low.into());
            }
            [low, high, ..] if high < 0x80 => {
                self.advance(2);
                return Ok(u64::from(low & 0x7f) | u64::from(high) << 7);
            }
            _ => {}
        }
        self.long_varint()
    }

    #[cold]
    fn long_varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0_u64;
        for (n, &byte) in self.bytes.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * n);
            if byte < 0x80 {
                self.advance(n + 1);
                return Ok(value);
            }
        }
        let problem = if self.bytes.len() < 10 {
            "the data ends in the middle of a number"
        } else {
            "expected a number of at most ten bytes"
        };
        Err(Fault::byte(self.start, problem))
    }

    fn nested(&mut self, at: usize) -> Result<Message<'a>, Fault> {
        let length = self.varint()?;
        let rest = self.bytes;
        let inner = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(..length))
            .ok_or_else(|| {
                let left = rest.len();
                let problem = format!("a field claims {length} bytes, but {left} are left");
                Fault::byte(at, problem)
            })?;
        let nested = Message {
            bytes: inner,
            start: self.start,
        };
        self.advance(inner.len());
        Ok(nested)
    }

    fn skip(&mut self, length: usize) -> Result<Field<'a>, Fault> {
        if self.bytes.len() < length {
            return Err(Fault::byte(
                self.start,
                "the data ends in the middle of a number",
            ));
        }
        self.advance(length);
        Ok(Field::Fixed)
    }

    fn advance(&mut self, length: usize) {
        self.bytes = &self.bytes[length..];
        self.start += length;
    }
}

impl<'a> Field<'a> {
    /// The number; 0 for anything else, because writers omit zeros.
    pub(crate) fn number(self) -> u64 {
        match self {
            Field::Varint(value) => value,
            Field::Bytes(_) | Field::Fixed => 0,
        }
    }

    /// The nested message; `None` for anything else.
    pub(crate) fn message(self) -> Option<Message<'a>> {
        match self {
            Field::Bytes(message) => Some(message),
            Field::Varint(_) | Field::Fixed => None,
        }
    }

    /// Appends the numbers of a repeated field, packed or not.
    pub(crate) fn numbers(self, into: &mut Vec<u64>) -> Result<(), Fault> {
        match self {
            Field::Varint(value) => into.push(value),
            Field::Bytes(packed) => packed.all(into)?,
            Field::Fixed => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u64, u64)>, Fault> {
        let mut message = Message::new(bytes);
        let mut found = Vec::new();
        while let Some((number, field)) = message.field()? {
            found.push((number, field.number()));
        }
        Ok(found)
    }

    #[test]
    fn fields_are_numbers_and_bytes() {
        // The examples of the encoding's documentation.
        assert_eq!(fields(b"\x08\x96\x01"), Ok(vec![(1, 150)]));
        assert_eq!(fields(b"\x12\x07testing\x08\x01"), Ok(vec![(2, 0), (1, 1)]));
        let mut numbers = Vec::new();
        let mut message = Message::new(b"\x32\x06\x03\x8e\x02\x9e\xa7\x05");
        let (_, field) = message.field().expect("whole").expect("one");
        field.numbers(&mut numbers).expect("packed");
        assert_eq!(numbers, [3, 270, 86942]);
    }

    #[test]
    fn packed_numbers_of_any_length_follow_one_another() {
        let packed =
            b"\x05\x96\x01\x9e\xa7\x05\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\x00\x07";
        let mut numbers = Vec::new();
        let field = Field::Bytes(Message::part(packed, 100));
        field.numbers(&mut numbers).expect("whole");
        assert_eq!(numbers, [5, 150, 86942, 127, u64::MAX, 0, 7]);
        for cut in [packed.len() - 2, 2, 5] {
            let field = Field::Bytes(Message::part(&packed[..cut], 100));
            let fault = field.numbers(&mut Vec::new()).expect_err("cut");
            assert_eq!(fault.problem, "the data ends in the middle of a number");
            let begins = packed[..cut].iter().rposition(|byte| *byte < 0x80);
            let at = 100 + begins.map_or(0, |at| at + 1);
            assert_eq!(fault, Fault::byte(at, fault.problem.clone()));
        }
    }

    #[test]
    fn a_damaged_message_is_an_error_with_its_byte() {
        for (bytes, expect) in [
            (&b"\x08"[..], "the data ends in the middle of a number"),
            (b"\x08\x96", "the data ends in the middle of a number"),
            (
                b"\x0a\xff\xff\xff\xff\x0f",
                "a field claims 4294967295 bytes, but 0 are left",
            ),
            (b"\x0b", "expected a protobuf field, got wire type 3"),
            (b"\x09\0\0", "the data ends in the middle of a number"),
            (&[0xff; 12], "expected a number of at most ten bytes"),
        ] {
            let fault = fields(bytes).expect_err(expect);
            assert_eq!(fault.problem, expect);
            assert!(fault.place.is_some());
        }
    }
}
