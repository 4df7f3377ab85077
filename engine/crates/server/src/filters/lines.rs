//! A filter's text, line by line: one bad line says nothing about the others.

use fulcrum_filter::{Filter, FilterError};
use gen_lsp_types::{Position, Range};

use crate::protocol::DocumentPosition;
use crate::protocol::position::{Encoding, position};

/// A word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    /// Byte offset in the text.
    pub start: usize,
    pub text: &'t str,
}

impl Word<'_> {
    /// Byte offset past its end.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A line that is not empty.
#[derive(Clone, Debug)]
pub(crate) struct Line<'t> {
    /// From 1, as in [`fulcrum_filter::Rule::line`].
    pub number: usize,
    /// Its words before any comment; at least one.
    pub words: Vec<Word<'t>>,
    /// What is wrong with it.
    pub error: Option<FilterError>,
}

impl Line<'_> {
    /// From its first to its last word.
    pub(crate) fn range(&self, text: &str, encoding: Encoding) -> Range {
        let end = self.words.last().map_or(0, Word::end);
        range(text, self.words[0].start, end, encoding)
    }
}

/// The lines that say something.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    let mut lines = Vec::new();
    for (n, line) in text.split('\n').enumerate() {
        let words = words(line, at);
        at += line.len() + 1;
        if words.is_empty() {
            continue;
        }
        lines.push(Line {
            number: n + 1,
            words,
            error: Filter::parse(line).err(),
        });
    }
    lines
}

/// The words of a line before its comment. `at` is where the line begins.
pub(crate) fn words(line: &str, at: usize) -> Vec<Word<'_>> {
    let said = line.split('#').next().unwrap_or("");
    said.split_whitespace()
        .map(|text| Word {
            start: at + (text.as_ptr() as usize - line.as_ptr() as usize),
            text,
        })
        .collect()
}

/// The filter of all lines that are right.
pub(crate) fn filter(text: &str, lines: &[Line<'_>]) -> Filter {
    let bad = |number| {
        lines
            .iter()
            .any(|line| line.number == number && line.error.is_some())
    };
    let good: Vec<&str> = text
        .split('\n')
        .enumerate()
        .map(|(n, line)| if bad(n + 1) { "" } else { line })
        .collect();
    Filter::parse(&good.join("\n")).expect("each of its lines was read alone")
}

/// The positions of byte offsets.
pub(crate) fn range(text: &str, start: usize, end: usize, encoding: Encoding) -> Range {
    let at = |offset| {
        let DocumentPosition { line, character } = position(text, offset, encoding);
        Position { line, character }
    };
    Range {
        start: at(start),
        end: at(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_where_they_stand() {
        let text = "# nothing\n\n  includemethod ä.B  *  # why\r\nwrong\n";
        let lines = lines(text);
        let found: Vec<_> = lines
            .iter()
            .map(|line| (line.number, line.words.len(), line.error.is_some()))
            .collect();
        assert_eq!(found, [(3, 3, false), (4, 1, true)]);
        for word in lines.iter().flat_map(|line| &line.words) {
            assert_eq!(&text[word.start..word.end()], word.text);
        }
        let range = lines[0].range(text, Encoding::Utf16);
        assert_eq!((range.start.line, range.start.character), (2, 2));
        assert_eq!(range.end.character, 22);
        assert_eq!(filter(text, &lines).rules[0].line, 3);
    }
}
