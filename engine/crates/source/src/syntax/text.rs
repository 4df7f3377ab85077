//! Plain text: edits, lines, indentation.

use std::collections::BTreeMap;

/// Replaces the bytes `start..end` of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edit {
    /// The first byte that is replaced.
    pub start: usize,
    /// The first byte after it. Equal to `start` for an insertion.
    pub end: usize,
    /// The new text.
    pub new_text: String,
}

impl Edit {
    pub(crate) fn insert(at: usize, new_text: impl Into<String>) -> Edit {
        Edit {
            start: at,
            end: at,
            new_text: new_text.into(),
        }
    }
}

/// Applies edits, which must be on character boundaries, ascending and without overlap.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.start]);
        out.push_str(&edit.new_text);
        at = edit.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The first byte of the line that contains `at`.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

/// The end of the line that contains `at`, before its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    if end > at && text.as_bytes()[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

/// The indentation of the line that contains `at`.
pub(crate) fn indent(text: &str, at: usize) -> &str {
    let start = line_start(text, at);
    let rest = &text[start..];
    let len = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    &text[start..start + len]
}

/// Whether there is only white space before `at` on its line.
pub(crate) fn is_first_on_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// The line break that most lines use.
pub(crate) fn newline(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    let crlf = text.matches("\r\n").count();
    if crlf * 2 > all { "\r\n" } else { "\n" }
}

/// The file's indentation step: a tab, or the most common number of spaces, by default four.
pub(crate) fn indent_unit(text: &str) -> String {
    let mut tabs = 0;
    let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
    let mut last = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with('\t') {
            tabs += 1;
            continue;
        }
        let width = line.len() - line.trim_start_matches(' ').len();
        // A step of one space is the body of a block comment.
        if width > last + 1 && width - last <= 8 {
            *steps.entry(width - last).or_default() += 1;
        }
        last = width;
    }
    if tabs > steps.values().sum::<usize>() {
        return "\t".into();
    }
    let commonest = steps
        .iter()
        .max_by_key(|&(&step, &n)| (n, std::cmp::Reverse(step)));
    " ".repeat(commonest.map_or(4, |(&step, _)| step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_is_read_off_the_file() {
        for (text, unit) in [
            ("int a;\n", "    "),
            ("void f() {\n  a();\n}\n", "  "),
            ("void f() {\n   a();\n   if (x)\n      b();\n}\n", "   "),
            ("void f() {\n\ta();\n\tb();\n}\n", "\t"),
            (
                "/*\n * doc\n * doc\n * doc\n */\nvoid f() {\n    a();\n}\n",
                "    ",
            ),
            // A continuation line is aligned, not indented.
            (
                "void f() {\n  a(x,\n    y);\n  if (b) {\n    c();\n  }\n}\n",
                "  ",
            ),
        ] {
            assert_eq!(indent_unit(text), unit, "{text:?}");
        }
    }

    #[test]
    fn edits_apply_in_order() {
        let edits = [
            Edit::insert(0, "<"),
            Edit {
                start: 1,
                end: 2,
                new_text: "BB".into(),
            },
            Edit::insert(3, ">"),
        ];
        assert_eq!(apply("abc", &edits), "<aBBc>");
    }

    #[test]
    fn a_line_ends_before_its_line_break() {
        let text = "ab\r\ncd\nef";
        assert_eq!((line_start(text, 5), line_end(text, 5)), (4, 6));
        assert_eq!((line_start(text, 1), line_end(text, 1)), (0, 2));
        assert_eq!((line_start(text, 8), line_end(text, 8)), (7, 9));
        assert_eq!(newline("a\r\nb\r\nc\n"), "\r\n");
    }
}
