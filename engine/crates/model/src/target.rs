//! What an experiment speeds up: a line, a function, a call sequence, or the time spent in a blocked call.

use std::fmt;
use std::str::FromStr;

use crate::Location;

/// The kinds of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// One line of source, as in COZ.
    Line,
    /// A function's own code, inlined or not.
    Function,
    /// A function with everything that it calls.
    Inclusive,
    /// A sequence of calls.
    Path,
    /// The time that a call spends waiting.
    Blocked,
}

/// What an experiment speeds up.
///
/// Its text is the key of samples and the `selected` of experiments: `FILE:LINE` for a line, and
/// `function:NAME@FILE:LINE`, `inclusive:…`, `path:A > B > C@FILE:LINE`, `blocked:CALL@FILE:LINE`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId {
    /// Which kind it is.
    pub kind: TargetKind,
    /// Empty for a line; the function; `A > B > C` for a path, outermost first; the call (`read`, `nanosleep`…) for
    /// blocked time. Never holds `@`.
    pub name: String,
    /// The line; the function's declaration; that of a path's last function; the place of a blocked call.
    pub location: Location,
}

/// Why a text is not a [`TargetId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotATarget(String);

impl TargetKind {
    /// Every kind.
    pub const ALL: [TargetKind; 5] = [
        TargetKind::Line,
        TargetKind::Function,
        TargetKind::Inclusive,
        TargetKind::Path,
        TargetKind::Blocked,
    ];

    /// As in a target's text and on the command line: `line`, `function`, `inclusive`, `path`, `blocked`.
    pub fn word(self) -> &'static str {
        match self {
            TargetKind::Line => "line",
            TargetKind::Function => "function",
            TargetKind::Inclusive => "inclusive",
            TargetKind::Path => "path",
            TargetKind::Blocked => "blocked",
        }
    }

    /// The kind with this [`word`](TargetKind::word).
    pub fn of_word(word: &str) -> Option<Self> {
        TargetKind::ALL.into_iter().find(|it| it.word() == word)
    }

    /// The kind that a text begins with, and what follows the colon.
    fn prefix(text: &str) -> Option<(TargetKind, &str)> {
        let (word, rest) = text.split_once(':')?;
        Some((TargetKind::of_word(word)?, rest))
    }
}

impl TargetId {
    /// The line at `location`.
    pub fn line(location: Location) -> Self {
        TargetId {
            kind: TargetKind::Line,
            name: String::new(),
            location,
        }
    }

    /// What a person calls it, `place` being how its location is shown: `a.c:12`, `f (a.c:7)`, `f with its callees
    /// (a.c:7)`, `main > f (a.c:7)`, `read at a.c:12`.
    pub fn label(&self, place: &str) -> String {
        let name = &self.name;
        match self.kind {
            TargetKind::Line => place.to_owned(),
            TargetKind::Function | TargetKind::Path => format!("{name} ({place})"),
            TargetKind::Inclusive => format!("{name} with its callees ({place})"),
            TargetKind::Blocked => format!("{name} at {place}"),
        }
    }

    /// [`TargetId::label`] with the file's name without its folders.
    pub fn short_label(&self) -> String {
        let Location { file, line } = &self.location;
        let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
        self.label(&format!("{base}:{line}"))
    }
}

impl From<Location> for TargetId {
    fn from(location: Location) -> Self {
        TargetId::line(location)
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TargetId {
            kind,
            name,
            location,
        } = self;
        match kind {
            // A file whose name begins like a kind says that it is a line.
            TargetKind::Line if TargetKind::prefix(&location.file).is_some() => {
                write!(f, "line:{location}")
            }
            TargetKind::Line => location.fmt(f),
            kind => write!(f, "{}:{name}@{location}", kind.word()),
        }
    }
}

impl FromStr for TargetId {
    type Err = NotATarget;

    fn from_str(text: &str) -> Result<Self, NotATarget> {
        let wrong = || NotATarget(text.into());
        let (kind, rest) = TargetKind::prefix(text).unwrap_or((TargetKind::Line, text));
        // `line:12` is a file called `line`.
        let plain = || text.parse().map(TargetId::line).map_err(|_| wrong());
        if kind == TargetKind::Line {
            return rest.parse().map(TargetId::line).or_else(|_| plain());
        }
        // Files may hold `@`, names do not.
        let Some((name, location)) = rest.split_once('@') else {
            return plain();
        };
        if name.is_empty() {
            return Err(wrong());
        }
        Ok(TargetId {
            kind,
            name: name.into(),
            location: location.parse().map_err(|_| wrong())?,
        })
    }
}

impl fmt::Display for NotATarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = match TargetKind::prefix(&self.0) {
            None | Some((TargetKind::Line, _)) => "FILE:LINE".to_owned(),
            Some((kind, _)) => format!("{}:NAME@FILE:LINE", kind.word()),
        };
        write!(f, "expected {expected}, got {:?}", self.0)
    }
}

impl std::error::Error for NotATarget {}

#[cfg(test)]
mod tests {
    use super::*;
    use TargetKind::{Blocked, Function, Inclusive, Line, Path};
    use fulcrum_stats::Random;

    #[test]
    fn every_kind_has_a_text() {
        for (text, kind, name, file, line) in [
            ("/w/a b.cpp:12", Line, "", "/w/a b.cpp", 12),
            ("a@b.cpp:1", Line, "", "a@b.cpp", 1),
            ("C:/x.cpp:3", Line, "", "C:/x.cpp", 3),
            (
                "function:ns::f(int)@/w/a.cpp:7",
                Function,
                "ns::f(int)",
                "/w/a.cpp",
                7,
            ),
            (
                "function:<a::T as b::U>::f@/w/x@1.2/a.rs:7",
                Function,
                "<a::T as b::U>::f",
                "/w/x@1.2/a.rs",
                7,
            ),
            ("inclusive:main@/w/a.c:1", Inclusive, "main", "/w/a.c", 1),
            (
                "path:main > a::b > c@/w/a.c:9",
                Path,
                "main > a::b > c",
                "/w/a.c",
                9,
            ),
            (
                "blocked:nanosleep@/w/a.c:9",
                Blocked,
                "nanosleep",
                "/w/a.c",
                9,
            ),
            ("line:12", Line, "", "line", 12),
            ("path:12", Line, "", "path", 12),
            (
                "line:function:odd@name.c:3",
                Line,
                "",
                "function:odd@name.c",
                3,
            ),
        ] {
            let id: TargetId = text.parse().expect(text);
            let found = (
                id.kind,
                id.name.as_str(),
                id.location.file.as_str(),
                id.location.line,
            );
            assert_eq!(found, (kind, name, file, line), "{text}");
            assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn every_kind_has_a_label() {
        for (text, label) in [
            ("/w/a.c:12", "a.c:12"),
            ("function:f(int)@/w/a.c:7", "f(int) (a.c:7)"),
            ("inclusive:f@/w/a.c:7", "f with its callees (a.c:7)"),
            ("path:main > f@/w/a.c:7", "main > f (a.c:7)"),
            ("blocked:read@/w/a.c:12", "read at a.c:12"),
        ] {
            let id: TargetId = text.parse().expect(text);
            assert_eq!(id.short_label(), label);
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for (text, expected) in [
            ("", "FILE:LINE"),
            ("x.c", "FILE:LINE"),
            ("function:f@x.c", "function:NAME@FILE:LINE"),
            ("function:@x.c:1", "function:NAME@FILE:LINE"),
            ("path:a > b", "path:NAME@FILE:LINE"),
            ("blocked:read@:1", "blocked:NAME@FILE:LINE"),
        ] {
            let error = text.parse::<TargetId>().expect_err(text).to_string();
            assert_eq!(error, format!("expected {expected}, got {text:?}"));
        }
    }

    #[test]
    fn every_target_reads_back() {
        let parts = [
            "a",
            "/",
            ":",
            "@",
            " > ",
            "line",
            "function:",
            "path:",
            "1",
            " ",
            ".c",
            "é",
        ];
        let mut random = Random::new(11);
        let mut next = |n| random.index(n);
        for _ in 0..20_000 {
            let mut text = |no_at: bool| -> String {
                let count = 1 + next(5);
                let text: String = (0..count).map(|_| parts[next(parts.len())]).collect();
                if no_at { text.replace('@', "+") } else { text }
            };
            let (name, file) = (text(true), text(false));
            let kind = TargetKind::ALL[next(5)];
            let id = TargetId {
                kind,
                name: if kind == Line { String::new() } else { name },
                location: Location {
                    file,
                    line: next(1000) as u32,
                },
            };
            let written = id.to_string();
            assert_eq!(written.parse::<TargetId>().as_ref(), Ok(&id), "{written}");
        }
    }
}
