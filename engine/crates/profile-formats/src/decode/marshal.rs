//! Python's marshal format, as far as profiles use it: numbers, texts, tuples, dictionaries and references.
//!
//! Libraries: `marshal-parser` reads what CPython 3.6 to 3.13 write, `py27-marshal` what Python 2.7 writes. Profiles come from
//! both and from newer versions, and need these few types only, with the byte where something is wrong.

use std::rc::Rc;

use crate::decode::fault::Fault;

/// Statistics nest four levels deep.
const DEPTH: usize = 16;

/// A Python value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Text(Rc<str>),
    Tuple(Rc<[Value]>),
    Dict(Rc<[Entry]>),
    /// `None`, `True` and the like.
    Other,
}

/// A key of a dictionary and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Offset of the key in the file.
    pub(crate) at: usize,
    pub(crate) key: Value,
    pub(crate) value: Value,
}

/// Whether this is a marshalled dictionary whose first key is a tuple. In JSON, a quote follows the brace.
pub(crate) fn is_dictionary(bytes: &[u8]) -> bool {
    matches!(bytes, [b'{' | 0xfb, b'(' | b')' | 0xa8 | 0xa9, ..])
}

/// Reads the one value of `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, Fault> {
    let mut reader = Reader {
        bytes,
        at: 0,
        references: Vec::new(),
        interned: Vec::new(),
    };
    reader.value(0)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Values by the numbers that later references use. `None` while a value is being read.
    references: Vec<Option<Value>>,
    /// The interned texts of Python 2, by number.
    interned: Vec<Value>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..length) else {
            let left = rest.len();
            let problem = format!("expected {length} bytes, but {left} are left");
            return Err(Fault::byte(self.at, problem));
        };
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("take returns that many bytes"))
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.array::<1>()?[0])
    }

    fn size(&mut self) -> Result<usize, Fault> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        let at = self.at;
        let kind = self.byte()?;
        self.value_of(kind, at, depth)
    }

    fn value_of(&mut self, kind: u8, at: usize, depth: usize) -> Result<Value, Fault> {
        if depth > DEPTH {
            return Err(Fault::byte(at, "the values nest too deep for statistics"));
        }
        // A value gets its number before its parts get theirs.
        let number = (kind & 0x80 != 0).then(|| {
            self.references.push(None);
            self.references.len() - 1
        });
        let value = match kind & 0x7f {
            b'{' => self.dict(depth)?,
            b'(' => {
                let length = self.size()?;
                self.tuple(length, depth)?
            }
            b')' => {
                let length = self.byte()?;
                self.tuple(length.into(), depth)?
            }
            b'i' => Value::Number(i32::from_le_bytes(self.array()?).into()),
            b'I' => Value::Number(i64::from_le_bytes(self.array()?) as f64),
            b'l' => self.long()?,
            b'g' => Value::Number(f64::from_le_bytes(self.array()?)),
            b'f' => {
                let length = self.byte()?;
                let text = String::from_utf8_lossy(self.take(length.into())?);
                let number = text.parse().ok();
                Value::Number(number.ok_or_else(|| Fault::byte(at, "expected a number"))?)
            }
            b's' | b'u' | b'a' | b'A' => {
                let length = self.size()?;
                self.text(length)?
            }
            b't' => {
                let length = self.size()?;
                let text = self.text(length)?;
                self.interned.push(text.clone());
                text
            }
            b'z' | b'Z' => {
                let length = self.byte()?;
                self.text(length.into())?
            }
            b'r' => self.reference(at)?,
            b'R' => self.interned_text(at)?,
            b'N' | b'T' | b'F' | b'S' | b'.' => Value::Other,
            other => {
                let problem = format!("expected a value of statistics, got type {other}");
                return Err(Fault::byte(at, problem));
            }
        };
        if let Some(number) = number {
            self.references[number] = Some(value.clone());
        }
        Ok(value)
    }

    fn reference(&mut self, at: usize) -> Result<Value, Fault> {
        let index = self.size()?;
        let value = self.references.get(index).cloned().flatten();
        value.ok_or_else(|| {
            let problem = format!("expected an earlier value, got reference {index}");
            Fault::byte(at, problem)
        })
    }

    fn interned_text(&mut self, at: usize) -> Result<Value, Fault> {
        let index = self.size()?;
        let text = self.interned.get(index).cloned();
        text.ok_or_else(|| {
            let problem = format!("expected an earlier text, got reference {index}");
            Fault::byte(at, problem)
        })
    }

    fn text(&mut self, length: usize) -> Result<Value, Fault> {
        Ok(Value::Text(
            String::from_utf8_lossy(self.take(length)?).into(),
        ))
    }

    fn tuple(&mut self, length: usize, depth: usize) -> Result<Value, Fault> {
        // Each value takes at least one byte, so the claim can be checked before memory is reserved.
        let left = self.bytes.len() - self.at;
        if length > left {
            let problem = format!("a tuple claims {length} values, but {left} bytes are left");
            return Err(Fault::byte(self.at, problem));
        }
        let values = (0..length).map(|_| self.value(depth + 1));
        Ok(Value::Tuple(values.collect::<Result<_, _>>()?))
    }

    fn dict(&mut self, depth: usize) -> Result<Value, Fault> {
        let mut entries = Vec::new();
        loop {
            let at = self.at;
            match self.byte()? {
                b'0' => return Ok(Value::Dict(entries.into())),
                kind => {
                    let key = self.value_of(kind, at, depth + 1)?;
                    let value = self.value(depth + 1)?;
                    entries.push(Entry { at, key, value });
                }
            }
        }
    }

    /// Digits of 15 bits in two bytes each. The sign of the count is the sign of the number.
    fn long(&mut self) -> Result<Value, Fault> {
        let count = i32::from_le_bytes(self.array()?);
        let digits = self.take(2 * count.unsigned_abs() as usize)?;
        let (digits, _) = digits.as_chunks::<2>();
        let digits = digits
            .iter()
            .rev()
            .map(|&it| f64::from(u16::from_le_bytes(it)));
        let value = digits.fold(0.0, |value, digit| value * 32768.0 + digit);
        Ok(Value::Number(if count < 0 { -value } else { value }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_references() {
        let text = |text: &str| Value::Text(text.into());
        for (bytes, expect) in [
            (&b"i\xff\xff\xff\xff"[..], Value::Number(-1.0)),
            (b"l\x02\0\0\0\x01\0\x01\0", Value::Number(32769.0)),
            (b"l\xff\xff\xff\xff\x05\0", Value::Number(-5.0)),
            (b"g\0\0\0\0\0\0\xf8\x3f", Value::Number(1.5)),
            (b"f\x031.5", Value::Number(1.5)),
            (
                b"\xa9\x03\xfa\x01ar\x01\0\0\0N",
                Value::Tuple([text("a"), text("a"), Value::Other].into()),
            ),
            (
                b"(\x02\0\0\0t\x01\0\0\0aR\0\0\0\0",
                Value::Tuple([text("a"), text("a")].into()),
            ),
            (
                b"{z\x01ai\x07\0\0\x000",
                Value::Dict(
                    [Entry {
                        at: 1,
                        key: text("a"),
                        value: Value::Number(7.0),
                    }]
                    .into(),
                ),
            ),
        ] {
            assert_eq!(read(bytes), Ok(expect), "{bytes:?}");
        }
    }

    #[test]
    fn damaged_values_are_errors_with_their_byte() {
        for (bytes, expect) in [
            (&b"i\0\0"[..], "expected 4 bytes, but 2 are left"),
            (
                b"(\xff\xff\xff\xffN",
                "a tuple claims 4294967295 values, but 1 bytes are left",
            ),
            (b"r\0\0\0\0", "expected an earlier value, got reference 0"),
            (
                b"\xa9\x01r\0\0\0\0",
                "expected an earlier value, got reference 0",
            ),
            (b"l\0\0\0\x80", "expected 4294967296 bytes, but 0 are left"),
            (b"c", "expected a value of statistics, got type 99"),
            (
                &[b')', 1].repeat(40),
                "the values nest too deep for statistics",
            ),
        ] {
            assert_eq!(read(bytes).expect_err(expect).problem, expect);
        }
    }
}
