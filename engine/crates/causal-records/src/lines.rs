//! Lines of a record stream: numbered, decoded, and aware that the last one may be unfinished.

use fulcrum_model::{Place, ReadError};

/// UTF-8's byte order mark.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// One non-empty line.
pub(crate) struct Line<'a> {
    /// 1-based.
    pub number: u64,
    /// Without the line end; empty when the bytes are not UTF-8 (see `broken`).
    pub text: &'a str,
    /// The bytes are not UTF-8.
    pub broken: bool,
    /// The file ends here without a newline, so the line may be cut short.
    pub unfinished: bool,
}

impl Line<'_> {
    /// An error at this line of `name`.
    pub(crate) fn error(&self, name: &str, problem: impl Into<String>) -> ReadError {
        ReadError {
            name: name.into(),
            place: Some(Place::Line(self.number)),
            problem: problem.into(),
            advice: "correct or remove that line, or record again".into(),
        }
    }
}

/// The non-empty lines of `bytes`; CRLF and a byte order mark are tolerated.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    bytes
        .split_inclusive(|&b| b == b'\n')
        .zip(1..)
        .filter(|(raw, _)| !raw.trim_ascii().is_empty())
        .map(|(raw, number)| {
            let unfinished = !raw.ends_with(b"\n");
            let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
            let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
            match std::str::from_utf8(raw) {
                Ok(text) => Line {
                    number,
                    text,
                    broken: false,
                    unfinished,
                },
                Err(_) => Line {
                    number,
                    text: "",
                    broken: true,
                    unfinished,
                },
            }
        })
}
