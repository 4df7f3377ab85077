//! The header `traceparent` of HTTP/1 (W3C Trace Context).

use super::http;
use crate::trace::TraceParent;

/// The trace context found in the first bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// The context.
    Parent(TraceParent),
    /// None, whatever bytes follow.
    Nothing,
    /// None so far.
    Unfinished,
}

pub(super) fn traced(bytes: &[u8]) -> Traced {
    let mut is_first = true;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        let line = line.trim_ascii_end();
        match std::mem::take(&mut is_first) {
            true if http::name(bytes).is_none() => return Traced::Nothing,
            true => {}
            // The body follows.
            false if line.is_empty() => return Traced::Nothing,
            false => {
                if let Some(value) = value_of(line, b"traceparent") {
                    return TraceParent::parse(value).map_or(Traced::Nothing, Traced::Parent);
                }
            }
        }
    }
    Traced::Unfinished
}

/// The value of the header with this name, if this is its line.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (found, value) = line.split_at(colon);
    found
        .eq_ignore_ascii_case(name)
        .then(|| value[1..].trim_ascii())
}
