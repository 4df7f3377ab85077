//! Frames as Valgrind's tools write them, for DHAT and Massif: `0x1091C9: leaf(int) (h.cpp:4)`.

use crate::collect::stacks::{FrameId, Stacks};
use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// Valgrind's name for code without a name.
const UNNAMED: &str = "???";

/// Parses a frame. Lines are those that ran.
pub(crate) fn frame(text: &str, input: &Input, stacks: &mut Stacks) -> Result<FrameId, Fault> {
    let (address, text) = match text.split_once(": ") {
        Some((address, rest)) if address.starts_with("0x") => (address, rest),
        _ => ("", text),
    };
    let (name, place) = match text.rfind(" (") {
        Some(at) if text.ends_with(')') => (&text[..at], &text[at + 2..text.len() - 1]),
        _ => (text, ""),
    };
    if let Some(object) = place.strip_prefix("in ") {
        return match name {
            UNNAMED => stacks.frame_in(&unnamed(address, object), "", 0, object),
            _ => stacks.frame_in(name, "", 0, object),
        };
    }
    let (file, line) = source(place);
    match (file, name) {
        // The bracket is a part of the name: `operator()(int)`.
        ("", UNNAMED) => stacks.frame(&unnamed(address, ""), "", 0),
        ("", _) => stacks.frame(text, "", 0),
        _ if input.lines() => stacks.frame(name, file, line),
        _ => stacks.frame(name, file, 0),
    }
}

/// The name of code without a name, the same as in callgrind's files.
fn unnamed(address: &str, object: &str) -> String {
    let digits = address.trim_start_matches("0x").trim_start_matches('0');
    match (digits, object.rsplit('/').next().unwrap_or(object)) {
        ("", base) => crate::collect::symbols::bracketed(base),
        (digits, "") => format!("0x{digits}"),
        (digits, base) => format!("0x{digits} ({base})"),
    }
}

/// Parses `h.cpp:4`, or `src/main.rs:4:21` with a column. Anything else has no file.
fn source(place: &str) -> (&str, u32) {
    let number = |text: &str| text.parse::<u32>().ok();
    let Some((rest, last)) = place.rsplit_once(':') else {
        return ("", 0);
    };
    let Some(last) = number(last) else {
        return ("", 0);
    };
    match rest
        .rsplit_once(':')
        .and_then(|(file, line)| Some((file, number(line)?)))
    {
        Some((file, line)) => (file, line),
        None => (rest, last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_files_and_lines() {
        for (text, expect) in [
            ("h.cpp:4", ("h.cpp", 4)),
            ("C:\\a\\h.cpp:4", ("C:\\a\\h.cpp", 4)),
            ("src/main.rs:4:21", ("src/main.rs", 4)),
            ("int", ("", 0)),
            ("a::b", ("", 0)),
        ] {
            assert_eq!(source(text), expect, "{text}");
        }
        assert_eq!(unnamed("0x48F87B9", "/lib/libc.so"), "0x48F87B9 (libc.so)");
        assert_eq!(unnamed("", "/lib/libc.so"), "[libc.so]");
        assert_eq!(unnamed("0x12", ""), "0x12");
    }
}
