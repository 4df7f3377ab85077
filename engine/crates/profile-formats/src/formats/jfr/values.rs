//! Decodes numbers and texts of recordings.

use std::borrow::Cow;

use crate::decode::cursor::Cursor;
use crate::decode::fault::Fault;

/// A text, or a reference to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Text<'a> {
    Null,
    /// The constant of class `java.lang.String` with this number.
    Constant(u64),
    Is(Cow<'a, str>),
}

/// Reads a number: seven bits in each byte, lowest first; eight in the ninth.
pub(crate) fn number(cursor: &mut Cursor) -> Result<u64, Fault> {
    let mut value = 0;
    for shift in (0..=49).step_by(7) {
        let byte = u64::from(byte(cursor)?);
        value |= (byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Ok(value | u64::from(byte(cursor)?) << 56)
}

/// Reads the number of things that take at least one byte each.
pub(crate) fn count(cursor: &mut Cursor, what: &str) -> Result<usize, Fault> {
    let at = cursor.at();
    let count = number(cursor)?;
    let left = cursor.bytes().len();
    let small = usize::try_from(count).ok().filter(|&count| count <= left);
    small.ok_or_else(|| {
        let problem = format!("{count} {what} are claimed, but {left} bytes are left");
        Fault::byte(at, problem)
    })
}

/// Reads a byte.
pub(crate) fn byte(cursor: &mut Cursor) -> Result<u8, Fault> {
    Ok(cursor.take(1)?.bytes()[0])
}

/// Reads two bytes, big-endian.
pub(crate) fn be16(cursor: &mut Cursor) -> Result<u16, Fault> {
    cursor.u16().map(u16::swap_bytes)
}

/// Reads four bytes, big-endian.
pub(crate) fn be32(cursor: &mut Cursor) -> Result<u32, Fault> {
    cursor.u32().map(u32::swap_bytes)
}

/// Reads eight bytes, big-endian.
pub(crate) fn be64(cursor: &mut Cursor) -> Result<u64, Fault> {
    cursor.u64().map(u64::swap_bytes)
}

/// Reads a text in any of the encodings.
pub(crate) fn text<'a>(cursor: &mut Cursor<'a>) -> Result<Text<'a>, Fault> {
    let at = cursor.at();
    Ok(match byte(cursor)? {
        0 => Text::Null,
        1 => Text::Is("".into()),
        2 => Text::Constant(number(cursor)?),
        3 => {
            let length = count(cursor, "bytes of text")?;
            Text::Is(String::from_utf8_lossy(cursor.take(length)?.bytes()))
        }
        4 => {
            let length = count(cursor, "characters")?;
            let units: Result<Vec<u16>, Fault> =
                (0..length).map(|_| Ok(number(cursor)? as u16)).collect();
            Text::Is(String::from_utf16_lossy(&units?).into())
        }
        5 => {
            let length = count(cursor, "bytes of text")?;
            let bytes = cursor.take(length)?.bytes();
            Text::Is(match bytes.is_ascii() {
                true => String::from_utf8_lossy(bytes),
                false => bytes
                    .iter()
                    .map(|&byte| char::from(byte))
                    .collect::<String>()
                    .into(),
            })
        }
        kind => {
            let problem = format!("expected a text, got encoding {kind}");
            return Err(Fault::byte(at, problem));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_up_to_nine_bytes() {
        for (bytes, value) in [
            (&[5][..], 5),
            (&[0xc1, 0x40], 8257),
            (&[0xff; 9], u64::MAX),
            (
                &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
                1 << 56,
            ),
        ] {
            let mut cursor = Cursor::new(bytes);
            assert_eq!(number(&mut cursor), Ok(value));
            assert!(cursor.is_empty());
        }
        assert!(number(&mut Cursor::new(&[0x80])).is_err());
    }

    #[test]
    fn every_encoding_is_a_text() {
        for (bytes, expect) in [
            (&b"\0"[..], Text::Null),
            (b"\x01", Text::Is("".into())),
            (b"\x02\x07", Text::Constant(7)),
            (b"\x03\x03a\xc3\xa9", Text::Is("aé".into())),
            (b"\x04\x02a\xe9\x01", Text::Is("aé".into())),
            (b"\x05\x02a\xe9", Text::Is("aé".into())),
        ] {
            assert_eq!(text(&mut Cursor::new(bytes)), Ok(expect));
        }
        for wrong in [
            &b"\x06"[..],
            b"\x03\x09a",
            b"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert!(text(&mut Cursor::new(wrong)).is_err());
        }
    }
}
