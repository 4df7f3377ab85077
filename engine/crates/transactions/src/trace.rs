//! OpenTelemetry's identifiers of traces and spans, and the header by which a request names its trace (W3C Trace Context,
//! §3.2).
//!
//! The header is parsed by hand: it has a fixed layout of 55 characters, and the OpenTelemetry crates read it as part of
//! an SDK's propagator, from a map of headers.

use std::fmt;

use fulcrum_stats::Random;

/// A trace ID. Not all of its bytes are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceId([u8; 16]);

/// A span ID. Not all of its bytes are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpanId([u8; 8]);

/// The content of a request's `traceparent` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceParent {
    /// The trace that the request belongs to.
    pub trace: TraceId,
    /// The span that sent the request.
    pub parent: SpanId,
    /// Bit 0: the sender may have recorded the trace.
    pub flags: u8,
}

/// The length of a version 0 header, in characters.
const LENGTH: usize = 55;

impl TraceId {
    /// The trace with this ID, or `None` if it is all zeros, which is invalid.
    pub fn new(bytes: [u8; 16]) -> Option<Self> {
        (bytes != [0; 16]).then_some(TraceId(bytes))
    }

    /// An ID derived from these bytes alone.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut random = Random::of(parts);
        let [high, low] = [random.bits(), random.bits()].map(u64::to_be_bytes);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&high);
        bytes[8..].copy_from_slice(&low);
        TraceId::new(bytes).unwrap_or(TraceId([1; 16]))
    }

    /// The bytes, in the order in which they are written.
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl SpanId {
    /// The span with this ID, or `None` if it is all zeros, which is invalid.
    pub fn new(bytes: [u8; 8]) -> Option<Self> {
        (bytes != [0; 8]).then_some(SpanId(bytes))
    }

    /// An ID derived from these bytes alone.
    pub fn of(parts: &[&[u8]]) -> Self {
        let bytes = Random::of(parts).bits().to_be_bytes();
        SpanId::new(bytes).unwrap_or(SpanId([1; 8]))
    }

    /// The bytes, in the order in which they are written.
    pub fn bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

impl TraceParent {
    /// Parses the header's value. From later versions, reads the parts known from version 0, as the standard requires.
    /// Returns `None` if the value is invalid, and then ignores the header.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (known, more) = value.split_at_checked(LENGTH)?;
        let [version] = hexadecimal(known.get(..2)?)?;
        let is_whole = match version {
            0 => more.is_empty(),
            0xff => false,
            _ => more.is_empty() || more.starts_with(b"-"),
        };
        let is_divided = [2, 35, 52].iter().all(|&at| known[at] == b'-');
        if !is_whole || !is_divided {
            return None;
        }
        let [flags] = hexadecimal(&known[53..])?;
        Some(TraceParent {
            trace: TraceId::new(hexadecimal(&known[3..35])?)?,
            parent: SpanId::new(hexadecimal(&known[36..52])?)?,
            flags,
        })
    }
}

/// Parses bytes written as two lower-case hexadecimal digits each.
fn hexadecimal<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn write_hexadecimal(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hexadecimal(f, &self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hexadecimal(f, &self.0)
    }
}

impl fmt::Display for TraceParent {
    /// In the format of version 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace, self.parent, self.flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn the_header_is_read_as_it_is_written() {
        let read = TraceParent::parse(GOOD.as_bytes()).unwrap();
        assert_eq!(read.to_string(), GOOD);
        assert_eq!(read.trace.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(
            read.parent.bytes(),
            &[0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]
        );
        assert_eq!(read.flags, 1);
    }

    #[test]
    fn later_versions_are_read_as_far_as_they_are_known() {
        for later in [
            GOOD.replacen("00", "cc", 1),
            GOOD.replacen("00", "cc", 1) + "-more",
        ] {
            let read = TraceParent::parse(later.as_bytes()).unwrap();
            assert_eq!(read.to_string(), GOOD, "{later}");
        }
    }

    #[test]
    fn what_is_not_as_it_should_be_says_nothing() {
        let wrong = [
            GOOD[..54].to_owned(),
            format!("{GOOD}0"),
            format!("{GOOD}-more"),
            GOOD.to_uppercase(),
            GOOD.replacen("00", "ff", 1),
            GOOD.replacen("00", "0g", 1),
            GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            GOOD.replace('-', "_"),
            GOOD.replacen("00", "cc", 1) + "more",
            String::new(),
        ];
        for it in wrong {
            assert_eq!(TraceParent::parse(it.as_bytes()), None, "{it}");
        }
    }

    #[test]
    fn numbers_follow_from_what_they_are_made_of() {
        let of = |parts: &[&[u8]]| (TraceId::of(parts), SpanId::of(parts));
        assert_eq!(of(&[b"a", b"b"]), of(&[b"a", b"b"]));
        let (trace, span) = of(&[b"a", b"b"]);
        let (other_trace, other_span) = of(&[b"a", b"c"]);
        assert!(trace != other_trace && span != other_span);
        assert_eq!((TraceId::new([0; 16]), SpanId::new([0; 8])), (None, None));
    }
}
