//! LSP positions and byte offsets.

use crate::protocol::DocumentPosition;

/// What a position's `character` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client knows.
    #[default]
    Utf16,
}

impl Encoding {
    fn len(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
        }
    }
}

/// The byte offset of a position; past the end of a line or the text means the end.
pub(crate) fn offset(text: &str, at: DocumentPosition, encoding: Encoding) -> usize {
    let Some(start) = line_start(text, at.line) else {
        return text.len();
    };
    let line = line_text(&text[start..]);
    let mut units = 0;
    for (index, c) in line.char_indices() {
        if units >= at.character as usize {
            return start + index;
        }
        units += encoding.len(c);
    }
    start + line.len()
}

/// The position of a byte offset.
pub(crate) fn position(text: &str, offset: usize, encoding: Encoding) -> DocumentPosition {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    DocumentPosition {
        line: before.matches('\n').count() as u32,
        character: before[start..]
            .chars()
            .map(|c| encoding.len(c))
            .sum::<usize>() as u32,
    }
}

/// The positions of a line's first character that is not white space and of its end. A line past the end is empty.
pub(crate) fn line_range(
    text: &str,
    line: u32,
    encoding: Encoding,
) -> (DocumentPosition, DocumentPosition) {
    let content = line_start(text, line).map_or("", |start| line_text(&text[start..]));
    let width = |part: &str| part.chars().map(|c| encoding.len(c)).sum::<usize>() as u32;
    let blank = &content[..content.len() - content.trim_start().len()];
    let end = width(content.trim_end()).max(width(blank));
    (
        DocumentPosition {
            line,
            character: width(blank),
        },
        DocumentPosition {
            line,
            character: end,
        },
    )
}

fn line_start(text: &str, line: u32) -> Option<usize> {
    match line {
        0 => Some(0),
        _ => text
            .match_indices('\n')
            .nth(line as usize - 1)
            .map(|(n, _)| n + 1),
    }
}

fn line_text(rest: &str) -> &str {
    let line = rest.split('\n').next().unwrap_or("");
    line.strip_suffix('\r').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_positions_agree() {
        let text = "aü😀b\r\n\n  x";
        for (line, utf16, utf8, at) in [
            (0, 0, 0, 0),
            (0, 2, 3, 3),
            (0, 4, 7, 7),
            (0, 5, 8, 8),
            (1, 0, 0, 10),
            (2, 3, 3, 14),
        ] {
            for (encoding, character) in [(Encoding::Utf16, utf16), (Encoding::Utf8, utf8)] {
                let place = DocumentPosition { line, character };
                assert_eq!(offset(text, place, encoding), at, "{place:?}");
                assert_eq!(position(text, at, encoding), place, "{at}");
            }
        }
        for (line, character, at) in [(0, 99, 8), (1, 9, 10), (9, 0, 14)] {
            assert_eq!(
                offset(text, DocumentPosition { line, character }, Encoding::Utf16),
                at
            );
        }
    }

    #[test]
    fn a_line_is_underlined_without_its_indentation() {
        let range = |line| {
            let (a, b) = line_range("  ab  \n\n\tüc\r\n", line, Encoding::Utf16);
            (a.character, b.character)
        };
        assert_eq!(
            [range(0), range(1), range(2), range(7)],
            [(2, 4), (0, 0), (1, 3), (0, 0)]
        );
    }
}
