//! `file:` URIs and paths.
//!
//! Written by hand because both sides must spell a file alike: the `url` crate escapes fewer characters than VS Code, which
//! writes `+` as `%2B`.

use std::path::{Path, PathBuf};

/// The path of a `file:` URI; `None` for any other.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.as_bytes();
    while let [first, rest @ ..] = left {
        match (first, rest) {
            (b'%', [a, b, tail @ ..]) if hex(*a).is_some() && hex(*b).is_some() => {
                bytes.push(hex(*a)? << 4 | hex(*b)?);
                left = tail;
            }
            _ => {
                bytes.push(*first);
                left = rest;
            }
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The URI of an absolute path, escaped as VS Code does it, so that both sides spell it the same.
pub(crate) fn from_path(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_its_uri() {
        for (path, uri) in [
            ("/a/b.cpp", "file:///a/b.cpp"),
            ("/a b/c++.cpp", "file:///a%20b/c%2B%2B.cpp"),
            ("/ü/%20.c", "file:///%C3%BC/%2520.c"),
        ] {
            assert_eq!(from_path(Path::new(path)), uri);
            assert_eq!(to_path(uri), Some(PathBuf::from(path)));
        }
    }

    #[test]
    fn other_spellings_are_read_and_other_schemes_are_not() {
        assert_eq!(to_path("file:///a+b/c%zz"), Some("/a+b/c%zz".into()));
        assert_eq!(to_path("file://host/share"), Some("/share".into()));
        for uri in [
            "untitled:Untitled-1",
            "git:/a.c",
            "",
            "file:",
            "file:///%ff",
        ] {
            assert_eq!(to_path(uri), None, "{uri}");
        }
    }
}
