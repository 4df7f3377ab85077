//! Recognises causal profiles, and says what other files are instead.

use std::borrow::Cow;

use fulcrum_model::text::shorten;

use fulcrum_model::{Place, ReadError};

const ADVICE: &str = "open a .coz file, a causal-*.jsonl or a run folder, or record one with `fulcrum run -- PROGRAM`";
const EXPECTED: &str = "expected a causal profile";

/// The first line that holds anything, decoded; or a sentence on what the file is instead of text.
pub(crate) fn first_line<'a>(bytes: &'a [u8], name: &str) -> Result<Cow<'a, str>, ReadError> {
    const BINARY: [(&[u8], &str); 6] = [
        (b"\x7fELF", "this is a program or library (ELF)"),
        (
            b"\x1f\x8b",
            "this is gzip-compressed data, such as a pprof profile",
        ),
        (b"\xff\xfe", "this is UTF-16 text"),
        (b"\xfe\xff", "this is UTF-16 text"),
        (b"FLR\0", "this is a Java flight recording"),
        (b"PK\x03\x04", "this is a zip archive"),
    ];
    if let Some((_, what)) = BINARY.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        let advice = match *what {
            "this is UTF-16 text" => "convert it to UTF-8 first",
            "this is a program or library (ELF)" => "profile it with `fulcrum run -- PROGRAM`",
            _ => ADVICE,
        };
        return Err(error(
            name,
            Some(Place::Byte(0)),
            format!("{what}, {EXPECTED}"),
            advice,
        ));
    }
    let bytes = bytes.strip_prefix(crate::lines::BOM).unwrap_or(bytes);
    let Some(line) = bytes
        .split(|&b| b == b'\n')
        .find(|line| !line.trim_ascii().is_empty())
    else {
        return Err(error(
            name,
            None,
            format!("the file is empty, {EXPECTED}"),
            "check that the profiled program ran to its end, or record again with `fulcrum run -- PROGRAM`",
        ));
    };
    if let Some(at) = line.iter().position(|&b| b == 0) {
        let offset = line.as_ptr() as usize - bytes.as_ptr() as usize + at;
        let problem = format!("this is binary data, {EXPECTED}");
        return Err(error(
            name,
            Some(Place::Byte(offset as u64)),
            problem,
            ADVICE,
        ));
    }
    Ok(String::from_utf8_lossy(line.trim_ascii()))
}

/// The error for text that no reader knows.
pub(crate) fn foreign(first: &str, name: &str) -> ReadError {
    let what = if first.starts_with('{') || first.starts_with('[') {
        "this is JSON but not the records of a causal profile".to_owned()
    } else if is_folded(first) {
        "these are folded stacks, which say where time went but hold no experiments".to_owned()
    } else {
        format!("the first record is {:?}", shorten(first))
    };
    error(
        name,
        Some(Place::Line(1)),
        format!("{what}, {EXPECTED}"),
        ADVICE,
    )
}

fn error(name: &str, place: Option<Place>, problem: String, advice: &str) -> ReadError {
    ReadError {
        name: name.into(),
        place,
        problem,
        advice: advice.into(),
    }
}

fn is_folded(line: &str) -> bool {
    line.rsplit_once(' ')
        .is_some_and(|(stack, count)| stack.contains(';') && count.parse::<f64>().is_ok())
}
