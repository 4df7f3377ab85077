//! A line of source code, as a profile names it.

use std::fmt;
use std::str::FromStr;

/// `FILE:LINE`. The file is kept as the profile spells it: absolute, relative, or a bare name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file's path as recorded.
    pub file: String,
    /// 1-based line.
    pub line: u32,
}

/// Why a text is not a [`Location`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotALocation(String);

impl fmt::Display for NotALocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected FILE:LINE, got {:?}", self.0)
    }
}

impl std::error::Error for NotALocation {}

impl FromStr for Location {
    type Err = NotALocation;

    fn from_str(text: &str) -> Result<Self, NotALocation> {
        let (file, line) = text
            .rsplit_once(':')
            .ok_or_else(|| NotALocation(text.into()))?;
        let line = line.parse().map_err(|_| NotALocation(text.into()))?;
        if file.is_empty() {
            return Err(NotALocation(text.into()));
        }
        Ok(Location {
            file: file.into(),
            line,
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::Location;

    #[test]
    fn the_last_colon_separates_the_line() {
        let at: Location = "C:/a b/x.cpp:12".parse().unwrap();
        assert_eq!((at.file.as_str(), at.line), ("C:/a b/x.cpp", 12));
        assert_eq!(at.to_string(), "C:/a b/x.cpp:12");
    }

    #[test]
    fn a_text_without_file_or_line_is_refused() {
        for text in ["", "x.cpp", "x.cpp:", "x.cpp:one", ":12", "x.cpp:-1"] {
            assert!(text.parse::<Location>().is_err(), "{text:?}");
        }
    }
}
