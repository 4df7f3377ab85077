//! Records of the event log: writing and reading them.
//!
//! By hand: agents write records into a mapped file without allocation, and readers skip the kinds that they do not know by the
//! length of their payload. `postcard`, which needs no allocation either, has no such length, so a new kind of record would
//! make a log unreadable for older versions.

use super::{MAX_PAYLOAD, kind};

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// One of [`kind`]; readers skip kinds that they do not know.
    pub kind: u8,
    /// Ticks since the record before it in the chunk, or since the chunk's base.
    pub ticks: u64,
    /// The thread's CPU time less that of the chunk's header, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Calls since the last record whose probes fired and were not logged.
    pub skipped: u64,
    /// What follows, depending on the kind.
    pub body: Body<'a>,
}

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A method's number.
    Method(u32),
    /// Numbers and texts: see [`Payload`].
    Payload(&'a [u8]),
}

impl Record<'_> {
    /// Writes the record to the beginning of `into` and gives its length. `None` when it does not fit.
    pub fn write(&self, into: &mut [u8]) -> Option<usize> {
        let mut out = Out { into, at: 1 };
        let mut first = self.kind & kind::MASK;
        out.number(self.ticks)?;
        if let Some(cpu) = self.cpu_ns {
            first |= kind::CPU;
            out.number(cpu)?;
        }
        if self.skipped > 0 {
            first |= kind::SKIPPED;
            out.number(self.skipped)?;
        }
        match self.body {
            Body::Method(method) => out.number(u64::from(method))?,
            Body::Payload(payload) => {
                out.number(payload.len() as u64)?;
                let end = out.at.checked_add(payload.len())?;
                out.into.get_mut(out.at..end)?.copy_from_slice(payload);
                out.at = end;
            }
        }
        *out.into.first_mut()? = first;
        Some(out.at)
    }
}

/// The record of a method without CPU time and skipped calls, in one word: its bytes as a little-endian number, and how many
/// they are. It is what [`Record::write`] writes, without the branches.
///
/// `None` if it is longer than a word: for 2^28 ticks or more since the last record, and method numbers from 2^21 on.
#[inline]
pub const fn short_record(kind: u8, ticks: u64, method: u32) -> Option<(u64, usize)> {
    if ticks >= 1 << 28 || method >= 1 << 21 {
        return None;
    }
    let (ticks, ticks_length) = short_number(ticks as u32);
    let (method, method_length) = short_number(method);
    let word = kind as u64 | (ticks as u64) << 8 | (method as u64) << (8 + 8 * ticks_length);
    Some((word, 1 + ticks_length + method_length))
}

/// LEB128 of a number below 2^28, and its length.
#[inline]
const fn short_number(value: u32) -> (u32, usize) {
    let length = (38 - (value | 1).leading_zeros() as usize) / 7;
    let spread =
        value & 0x7f | (value & 0x3f80) << 1 | (value & 0x1f_c000) << 2 | (value & 0xfe0_0000) << 3;
    // All bytes but the last say that another one follows.
    let more = 0x0080_8080 >> (32 - 8 * length as u32);
    (spread | more, length)
}

struct Out<'a> {
    into: &'a mut [u8],
    at: usize,
}

impl Out<'_> {
    #[inline]
    fn number(&mut self, mut value: u64) -> Option<()> {
        while value >= 0x80 {
            *self.into.get_mut(self.at)? = value as u8 | 0x80;
            self.at += 1;
            value >>= 7;
        }
        *self.into.get_mut(self.at)? = value as u8;
        self.at += 1;
        Some(())
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// They end within it.
    Short,
    /// They cannot be one.
    Bad,
}

impl<'a> Record<'a> {
    /// Reads the record at the beginning of `bytes`, and its length.
    pub fn read(bytes: &'a [u8]) -> Result<(Record<'a>, usize), Damage> {
        let mut fields = Payload(bytes);
        let [first] = *fields.bytes(1)? else {
            return Err(Damage::Short);
        };
        let kind = first & kind::MASK;
        if kind == 0 || first & 0x80 != 0 {
            return Err(Damage::Bad);
        }
        let ticks = fields.number()?;
        let cpu_ns = match first & kind::CPU {
            0 => None,
            _ => Some(fields.number()?),
        };
        let skipped = match first & kind::SKIPPED {
            0 => 0,
            _ => fields.number()?,
        };
        let body = if kind::is_method(kind) {
            Body::Method(u32::try_from(fields.number()?).map_err(|_| Damage::Bad)?)
        } else {
            let length = usize::try_from(fields.number()?).map_err(|_| Damage::Bad)?;
            if length > MAX_PAYLOAD {
                return Err(Damage::Bad);
            }
            Body::Payload(fields.bytes(length)?)
        };
        let record = Record {
            kind,
            ticks,
            cpu_ns,
            skipped,
            body,
        };
        Ok((record, bytes.len() - fields.0.len()))
    }
}

/// Reads a payload: numbers in LEB128, texts as their length and their bytes (UTF-8).
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a>(pub &'a [u8]);

impl<'a> Payload<'a> {
    /// The next number.
    pub fn number(&mut self) -> Result<u64, Damage> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.bytes(1)? else {
                return Err(Damage::Short);
            };
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Damage::Bad);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damage::Bad)
    }

    /// The next text's bytes.
    pub fn text(&mut self) -> Result<&'a [u8], Damage> {
        let length = usize::try_from(self.number()?).map_err(|_| Damage::Bad)?;
        self.bytes(length)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Damage::Short)?;
        self.0 = rest;
        Ok(taken)
    }
}

/// Writes a payload. Texts that do not fit are cut; numbers are kept.
pub struct PayloadBuffer {
    bytes: [u8; MAX_PAYLOAD],
    length: usize,
}

impl Default for PayloadBuffer {
    fn default() -> Self {
        PayloadBuffer {
            bytes: [0; MAX_PAYLOAD],
            length: 0,
        }
    }
}

impl PayloadBuffer {
    /// No text is longer than this, so that four and some numbers fit.
    pub const MAX_TEXT: usize = 950;

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, value: u64) -> Self {
        self.put_number(value);
        self
    }

    /// Adds a number.
    pub fn put_number(&mut self, value: u64) {
        let mut out = Out {
            into: &mut self.bytes,
            at: self.length,
        };
        if out.number(value).is_some() {
            self.length = out.at;
        }
    }

    /// Adds a text, cut to [`Self::MAX_TEXT`] bytes between two characters.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let text = &text[..text.floor_char_boundary_at(Self::MAX_TEXT)];
        self.put_text(text.as_bytes());
        self
    }

    /// Adds what another payload has.
    #[must_use]
    pub fn payload(mut self, other: &PayloadBuffer) -> Self {
        self.append(other.as_bytes());
        self
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    pub(super) fn put_text(&mut self, bytes: &[u8]) {
        self.put_number(bytes.len() as u64);
        self.append(bytes);
    }

    fn append(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
            self.length = end;
        }
    }

    /// What was added.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

trait Boundary {
    fn floor_char_boundary_at(&self, at: usize) -> usize;
}

impl Boundary for str {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        let mut at = at.min(self.len());
        while !self.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{CHUNK_HEADER, MIN_CHUNK};

    fn check(record: &Record<'_>, length: usize) {
        let mut bytes = [0; 128];
        assert_eq!(record.write(&mut bytes), Some(length), "{record:?}");
        assert_eq!(Record::read(&bytes), Ok((*record, length)));
        for cut in 0..length {
            assert_eq!(
                Record::read(&bytes[..cut]),
                Err(Damage::Short),
                "{record:?}"
            );
            assert_eq!(record.write(&mut bytes[..cut]), None, "{record:?}");
        }
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let plain = Record {
            kind: kind::ENTER,
            ticks: 100,
            cpu_ns: None,
            skipped: 0,
            body: Body::Method(7),
        };
        check(&plain, 3);
        let most = Record {
            kind: kind::THROWN,
            ticks: u64::MAX,
            cpu_ns: Some(u64::MAX),
            skipped: u64::MAX,
            body: Body::Method(u32::MAX),
        };
        check(&most, 36);
        let payload = PayloadBuffer::default().number(300).text("mañana");
        let texts = Record {
            kind: kind::NOTE,
            body: Body::Payload(payload.as_bytes()),
            ..plain
        };
        check(&texts, 13);
        let mut fields = Payload(payload.as_bytes());
        assert_eq!(fields.number(), Ok(300));
        assert_eq!(fields.text(), Ok("mañana".as_bytes()));
        assert_eq!(fields.number(), Err(Damage::Short));
    }

    #[test]
    fn short_records_are_those_of_the_long_way() {
        let edges =
            |bits: u32| (0..bits).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for ticks in edges(29) {
            for method in edges(22) {
                let record = Record {
                    kind: kind::EXIT,
                    ticks,
                    cpu_ns: None,
                    skipped: 0,
                    body: Body::Method(method as u32),
                };
                let mut bytes = [0; 16];
                let length = record.write(&mut bytes).unwrap();
                let short = short_record(kind::EXIT, ticks, method as u32);
                let fits = ticks < 1 << 28 && method < 1 << 21;
                let word = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                assert_eq!(short, fits.then_some((word, length)), "{ticks} {method}");
            }
        }
    }

    #[test]
    fn what_cannot_be_a_record_is_none() {
        for bytes in [
            &[0, 0, 0][..],
            &[0x81, 0, 0],
            &[
                1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0,
            ],
            &[1, 0, 0xff, 0xff, 0xff, 0xff, 0x1f],
            &[4, 0, 0xff, 0x7f],
        ] {
            assert_eq!(Record::read(bytes), Err(Damage::Bad), "{bytes:?}");
        }
    }

    #[test]
    fn the_largest_payload_fits_into_the_smallest_chunk() {
        let long = "ä".repeat(3000);
        let mut payload = PayloadBuffer::default();
        for _ in 0..4 {
            payload = payload.text(&long);
        }
        for _ in 0..8 {
            payload = payload.number(u64::MAX);
        }
        assert_eq!(payload.as_bytes().len(), 4 * 952 + 80);
        let record = Record {
            kind: kind::DEFINE_METHOD,
            ticks: u64::MAX,
            cpu_ns: Some(u64::MAX),
            skipped: u64::MAX,
            body: Body::Payload(&[7; MAX_PAYLOAD]),
        };
        let mut room = [0; MIN_CHUNK as usize - CHUNK_HEADER];
        assert!(record.write(&mut room).is_some());
    }
}
