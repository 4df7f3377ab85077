//! Output for people and scripts: colours, tables, and streams whose readers may be gone.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write as _};

use serde::Serialize;

use crate::outcome::Failure;

/// Writes to standard output. A reader that has closed the pipe (`| head`) is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::BadInput(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Writes an answer for scripts to standard output: JSON, indented.
pub(crate) fn answer(answer: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(answer).expect("answers have texts as keys");
    print(&(text + "\n"))
}

/// Writes one of many answers for scripts to standard output: JSON, on one line.
pub(crate) fn line(answer: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(answer).expect("answers have texts as keys");
    print(&(text + "\n"))
}

/// Writes a line to standard error. Failures do not matter.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Text from a file, made safe for a terminal: control sequences are escaped.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return text.into();
    }
    let mut out = String::new();
    for c in text.chars() {
        match is_control(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out.into()
}

/// Whether a character controls the terminal or the direction of the text around it.
fn is_control(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    turns || c.is_control()
}

/// How to write for one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Colours: a terminal, and neither `NO_COLOR` nor `TERM=dumb`.
    pub colour: bool,
    /// Characters beyond ASCII, by the locale.
    pub unicode: bool,
    /// A person reads it: long names may be shortened.
    pub terminal: bool,
}

/// The colours in use, by meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Colour {
    Good,
    Bad,
    Dim,
    Strong,
}

impl Style {
    pub(crate) fn stdout() -> Style {
        Style::of(io::stdout().is_terminal())
    }

    pub(crate) fn stderr() -> Style {
        Style::of(io::stderr().is_terminal())
    }

    fn of(terminal: bool) -> Style {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let dumb = set("TERM").as_deref() == Some("dumb");
        let locale = set("LC_ALL")
            .or_else(|| set("LC_CTYPE"))
            .or_else(|| set("LANG"));
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        Style {
            colour: terminal && set("NO_COLOR").is_none() && !dumb,
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
            terminal,
        }
    }

    /// Wraps text in a colour. Escape codes have no width: pad before.
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Good => 32,
            Colour::Bad => 31,
            Colour::Dim => 2,
            Colour::Strong => 1,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// `+4.4 %`, with a real minus sign where it can be shown.
    pub(crate) fn percent(self, fraction: f64) -> String {
        format!("{} %", self.signed(fraction * 100.0, 1))
    }

    /// A number with its sign and this many decimals.
    pub(crate) fn signed(self, number: f64, decimals: usize) -> String {
        if !number.is_finite() {
            return "?".into();
        }
        let text = format!("{:.*}", decimals, number.abs());
        let zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        match (number.is_sign_negative() && !zero, self.unicode) {
            (false, _) => format!("+{text}"),
            (true, true) => format!("\u{2212}{text}"),
            (true, false) => format!("-{text}"),
        }
    }

    /// A dimmed line.
    pub(crate) fn aside(self, text: &str) -> String {
        self.paint(Colour::Dim, text) + "\n"
    }

    /// Notes, one on each line.
    pub(crate) fn notes(self, notes: &[String]) -> String {
        notes
            .iter()
            .map(|note| self.aside(&format!("note: {note}")))
            .collect()
    }

    /// A line that says how many of `all` rows are not shown, if any.
    pub(crate) fn more(self, all: usize, shown: usize) -> String {
        match all.saturating_sub(shown) {
            0 => String::new(),
            hidden => self.aside(&format!("{hidden} more: --top 0 shows all")),
        }
    }

    /// `1.23 ms`, `4.50 MB`, `−12,345`: a cost as [`fulcrum_answers::quantity::quantity`] writes it.
    pub(crate) fn quantity(self, value: i64, unit: &str) -> String {
        self.plain(fulcrum_answers::quantity::quantity(value, unit))
    }

    /// The same for a time in nanoseconds.
    pub(crate) fn nanoseconds(self, ns: u64) -> String {
        self.quantity(i64::try_from(ns).unwrap_or(i64::MAX), "ns")
    }

    /// A text with numbers, in ASCII where nothing else can be shown.
    pub(crate) fn plain(self, number: String) -> String {
        match self.unicode {
            true => number,
            false => number.replace('\u{2212}', "-").replace('µ', "u"),
        }
    }

    /// The separator of facts in a line.
    pub(crate) fn dot(self) -> &'static str {
        if self.unicode { " · " } else { ", " }
    }
}

/// A table whose cells are padded to their columns' widths.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

/// One cell: its text, its colour, and its alignment.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub text: String,
    pub colour: Option<Colour>,
    pub right: bool,
}

impl Cell {
    pub(crate) fn left(text: impl Into<String>) -> Cell {
        let text: String = text.into();
        Cell {
            text: shown(&text).into_owned(),
            colour: None,
            right: false,
        }
    }

    pub(crate) fn right(text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            colour: None,
            right: true,
        }
    }

    pub(crate) fn colour(self, colour: Option<Colour>) -> Cell {
        Cell { colour, ..self }
    }
}

impl Table {
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Lines with two spaces between columns and none at the end.
    pub(crate) fn render(&self, style: Style) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |cell: &Cell| cell.text.chars().count();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(width)
                    .max()
            })
            .map(|width| width.unwrap_or(0))
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            let last = row.iter().rposition(|cell| !cell.text.is_empty());
            let shown = last.map_or(0, |last| last + 1);
            for (column, cell) in row.iter().take(shown).enumerate() {
                if column > 0 {
                    out.push_str("  ");
                }
                let padding = " ".repeat(widths[column] - width(cell));
                let text = cell
                    .colour
                    .map_or(cell.text.clone(), |c| style.paint(c, &cell.text));
                if cell.right {
                    out.push_str(&padding);
                }
                out.push_str(&text);
                if !cell.right && column + 1 < shown {
                    out.push_str(&padding);
                }
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_neither_control_the_terminal_nor_turn_its_lines() {
        assert_eq!(shown("plain; Größe 名前"), "plain; Größe 名前");
        assert_eq!(shown("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(shown("a\u{202e}cba\u{2069}"), "a\\u{202e}cba\\u{2069}");
    }

    #[test]
    fn columns_line_up_without_trailing_space() {
        let mut table = Table::default();
        table.row(vec![Cell::left("name"), Cell::right("n"), Cell::left("")]);
        table.row(vec![
            Cell::left("a−b"),
            Cell::right("100"),
            Cell::left("why"),
        ]);
        let style = Style {
            colour: false,
            unicode: true,
            terminal: false,
        };
        assert_eq!(table.render(style), "name    n\na−b   100  why\n");
    }

    #[test]
    fn numbers_carry_their_sign() {
        let unicode = Style {
            colour: false,
            unicode: true,
            terminal: false,
        };
        let ascii = Style {
            colour: false,
            unicode: false,
            terminal: false,
        };
        for (number, in_unicode, in_ascii) in [
            (0.044, "+4.4 %", "+4.4 %"),
            (-0.044, "\u{2212}4.4 %", "-4.4 %"),
            (-0.0001, "+0.0 %", "+0.0 %"),
            (f64::NAN, "? %", "? %"),
        ] {
            assert_eq!(unicode.percent(number), in_unicode);
            assert_eq!(ascii.percent(number), in_ascii);
        }
        assert_eq!(unicode.quantity(-1_500, "ns"), "\u{2212}1.50 µs");
        assert_eq!(ascii.quantity(-1_500, "ns"), "-1.50 us");
        assert_eq!(ascii.nanoseconds(u64::MAX), "9,223,372,037 s");
    }
}
