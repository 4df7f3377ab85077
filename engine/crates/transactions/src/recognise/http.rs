//! The request line of HTTP/1.
//!
//! Parsed by hand: `httparse` reports a target only if its end was received, while here a request whose first line is cut
//! off still gets a name.

use super::limits::EXAMINED;
use super::route::route;

const METHODS: [&str; 9] = [
    "GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE",
];

/// `GET /buy` of `GET /buy?item=7 HTTP/1.1`.
pub(super) fn name(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    // If the line is longer than what is examined, the start of the target is enough.
    let is_cut = end.is_none() && bytes.len() >= EXAMINED;
    let line = match end {
        Some(end) => bytes[..end].trim_ascii_end(),
        None if is_cut => bytes,
        None => return None,
    };
    let mut words = line.split(|&byte| byte == b' ');
    let method = words.next()?;
    let method = METHODS.iter().find(|it| it.as_bytes() == method)?;
    let target = words
        .next()
        .filter(|it| it.iter().all(u8::is_ascii_graphic))?;
    let version = words.next();
    if !is_cut && !version.is_some_and(|it| it.starts_with(b"HTTP/1.")) {
        return None;
    }
    let target = str::from_utf8(target).ok()?;
    match *method {
        // Its target is a host.
        "CONNECT" => Some((*method).into()),
        _ => Some(format!("{method} {}", route(target))),
    }
}
