//! Arguments and results of calls in records: a type, then what the type needs.

use super::record::{Damage, Payload, PayloadBuffer};

/// The most values of one call that a record has.
pub const MOST_VALUES: usize = 16;
/// The longest text of a value, bytes.
pub const LONGEST_TEXT: usize = 200;

/// An argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// It is not known.
    Unknown,
    /// A signed number.
    Integer(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// True or false.
    Boolean(bool),
    /// A character: a unit of UTF-16, or a character's code.
    Character(u32),
    /// The bits of a number of 32 bits with a fraction (IEEE 754).
    Single(u32),
    /// The bits of a number of 64 bits with a fraction.
    Double(u64),
    /// A text, which need not be valid UTF-8.
    Text {
        /// Its beginning, or all of it.
        bytes: &'a [u8],
        /// More follows.
        cut: bool,
    },
    /// No object, or a pointer to nothing.
    Null,
    /// An object of a class.
    Object(u32),
    /// An address.
    Address(u64),
    /// A number that has a name: one of an enumeration.
    Named {
        /// The number.
        value: i64,
        /// Its name.
        name: &'a [u8],
    },
}

mod value_type {
    pub(crate) const UNKNOWN: u64 = 0;
    pub(crate) const INTEGER: u64 = 1;
    pub(crate) const UNSIGNED: u64 = 2;
    pub(crate) const BOOLEAN: u64 = 3;
    pub(crate) const CHARACTER: u64 = 4;
    pub(crate) const SINGLE: u64 = 5;
    pub(crate) const DOUBLE: u64 = 6;
    pub(crate) const TEXT: u64 = 7;
    pub(crate) const NULL: u64 = 8;
    pub(crate) const OBJECT: u64 = 9;
    pub(crate) const ADDRESS: u64 = 10;
    pub(crate) const NAMED: u64 = 11;
}

/// A signed number as an unsigned one that is small when the number is near 0.
const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

impl PayloadBuffer {
    /// Adds a value. Texts are cut to [`LONGEST_TEXT`] bytes.
    pub fn put(&mut self, value: &Value<'_>) {
        use value_type::*;
        match *value {
            Value::Unknown => self.put_number(UNKNOWN),
            Value::Integer(value) => self.pair(INTEGER, zigzag(value)),
            Value::Unsigned(value) => self.pair(UNSIGNED, value),
            Value::Boolean(value) => self.pair(BOOLEAN, u64::from(value)),
            Value::Character(value) => self.pair(CHARACTER, u64::from(value)),
            Value::Single(bits) => self.pair(SINGLE, u64::from(bits)),
            Value::Double(bits) => self.pair(DOUBLE, bits),
            Value::Text { bytes, cut } => {
                let longer = bytes.len() > LONGEST_TEXT;
                self.pair(TEXT, u64::from(cut || longer));
                self.put_text(&bytes[..bytes.len().min(LONGEST_TEXT)]);
            }
            Value::Null => self.put_number(NULL),
            Value::Object(class) => self.pair(OBJECT, u64::from(class)),
            Value::Address(value) => self.pair(ADDRESS, value),
            Value::Named { value, name } => {
                self.pair(NAMED, zigzag(value));
                self.put_text(&name[..name.len().min(LONGEST_TEXT)]);
            }
        }
    }

    fn pair(&mut self, first: u64, second: u64) {
        self.put_number(first);
        self.put_number(second);
    }
}

impl<'a> Payload<'a> {
    /// The next value. `None` for a type that this version does not know: nothing after it can be read.
    pub fn value(&mut self) -> Result<Option<Value<'a>>, Damage> {
        use value_type::*;
        let small = |number: u64| u32::try_from(number).map_err(|_| Damage::Bad);
        Ok(Some(match self.number()? {
            UNKNOWN => Value::Unknown,
            INTEGER => Value::Integer(unzigzag(self.number()?)),
            UNSIGNED => Value::Unsigned(self.number()?),
            BOOLEAN => Value::Boolean(self.number()? != 0),
            CHARACTER => Value::Character(small(self.number()?)?),
            SINGLE => Value::Single(small(self.number()?)?),
            DOUBLE => Value::Double(self.number()?),
            TEXT => {
                let cut = self.number()? != 0;
                let bytes = self.text()?;
                Value::Text { bytes, cut }
            }
            NULL => Value::Null,
            OBJECT => Value::Object(small(self.number()?)?),
            ADDRESS => Value::Address(self.number()?),
            NAMED => {
                let value = unzigzag(self.number()?);
                let name = self.text()?;
                Value::Named { value, name }
            }
            _ => return Ok(None),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Value<'_>; 20] = [
        Value::Unknown,
        Value::Integer(0),
        Value::Integer(-1),
        Value::Integer(i64::MIN),
        Value::Integer(i64::MAX),
        Value::Unsigned(u64::MAX),
        Value::Boolean(true),
        Value::Boolean(false),
        Value::Character(0xd800),
        Value::Single(0x7fc0_0001),
        Value::Double(u64::MAX),
        Value::Double(0),
        Value::Text {
            bytes: b"",
            cut: false,
        },
        Value::Text {
            bytes: b"\xff\0a",
            cut: true,
        },
        Value::Null,
        Value::Object(u32::MAX),
        Value::Address(u64::MAX),
        Value::Named {
            value: -7,
            name: b"Red",
        },
        Value::Named {
            value: i64::MAX,
            name: b"",
        },
        Value::Unknown,
    ];

    #[test]
    fn values_are_read_as_they_were_written() {
        for value in ALL {
            let mut payload = PayloadBuffer::default();
            payload.put(&value);
            let bytes = payload.as_bytes();
            let mut fields = Payload(bytes);
            assert_eq!(fields.value(), Ok(Some(value)));
            assert_eq!(fields.0, b"", "{value:?}");
            for cut in 0..bytes.len() {
                let read = Payload(&bytes[..cut]).value();
                assert_eq!(read, Err(Damage::Short), "{value:?}");
            }
        }
        assert_eq!(Payload(&[99]).value(), Ok(None));
        let far = PayloadBuffer::default().number(9).number(1 << 32);
        assert_eq!(Payload(far.as_bytes()).value(), Err(Damage::Bad));
    }

    #[test]
    fn the_longest_values_of_a_call_fit_into_a_record() {
        let long = [b'x'; 10_000];
        let value = Value::Text {
            bytes: &long,
            cut: false,
        };
        let mut payload = PayloadBuffer::default().number(u64::MAX).number(255);
        for _ in 0..MOST_VALUES {
            payload.put(&value);
        }
        let mut fields = Payload(payload.as_bytes());
        let head = (fields.number(), fields.number());
        assert_eq!(head, (Ok(u64::MAX), Ok(255)));
        for _ in 0..MOST_VALUES {
            let bytes = &long[..LONGEST_TEXT];
            let kept = Value::Text { bytes, cut: true };
            assert_eq!(fields.value(), Ok(Some(kept)));
        }
        assert_eq!(fields.0, b"");
    }
}
