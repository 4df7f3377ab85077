//! Writes tables of events for other tools: CSV, TSV, JSON lines, Arrow and Parquet. They are written row by row, so memory does not grow
//! with their number.

#![forbid(unsafe_code)]

mod columns;

use std::io::{self, Write};

use fulcrum_events::query::{Cell, Holds};

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Cells separated by commas, texts in quotes where necessary (RFC 4180). The first line has the names.
    Csv,
    /// Cells separated by tabs. gnuplot reads it with `set datafile separator tab` and `columnheader`. Tabs and line breaks in texts become
    /// spaces.
    Tsv,
    /// One object for each line.
    Json,
    /// An Arrow IPC file: 64-bit integers, doubles, UTF-8, all nullable.
    Arrow,
    /// A Parquet file with the same columns.
    Parquet,
}

/// A table that is being written. Finish it with [`Table::finish`].
pub struct Table<W: Write + Send>(Form<W>);

enum Form<W: Write + Send> {
    Lines(Lines<W>),
    Columns(Box<columns::Writer<W>>),
}

/// One line for each row.
struct Lines<W> {
    out: W,
    format: LineFormat,
    names: Vec<String>,
    line: String,
}

#[derive(Clone, Copy)]
enum LineFormat {
    Csv,
    Tsv,
    Json,
}

impl<W: Write + Send> Table<W> {
    /// Begins a table with these columns.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn new(out: W, format: Format, names: &[String], holds: &[Holds]) -> io::Result<Table<W>> {
        let lines = |out, format| Lines::new(out, format, names).map(Form::Lines);
        let columns = |writer| Form::Columns(Box::new(writer));
        Ok(Table(match format {
            Format::Csv => lines(out, LineFormat::Csv)?,
            Format::Tsv => lines(out, LineFormat::Tsv)?,
            Format::Json => lines(out, LineFormat::Json)?,
            Format::Arrow => columns(columns::Writer::arrow(out, names, holds)?),
            Format::Parquet => columns(columns::Writer::parquet(out, names, holds)?),
        }))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        match &mut self.0 {
            Form::Lines(lines) => lines.row(cells),
            Form::Columns(columns) => columns.row(cells),
        }
    }

    /// Writes the remaining rows.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Form::Lines(mut lines) => lines.out.flush(),
            Form::Columns(columns) => columns.finish(),
        }
    }
}

impl<W: Write> Lines<W> {
    fn new(out: W, format: LineFormat, names: &[String]) -> io::Result<Lines<W>> {
        let mut lines = Lines {
            out,
            format,
            names: names.to_vec(),
            line: String::new(),
        };
        if !matches!(format, LineFormat::Json) {
            let names: Vec<Cell> = names.iter().cloned().map(Cell::Text).collect();
            lines.row(&names)?;
        }
        Ok(lines)
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        self.line.clear();
        match self.format {
            LineFormat::Csv => separated(&mut self.line, cells, ',', csv_text),
            LineFormat::Tsv => separated(&mut self.line, cells, '\t', |out, text| {
                out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
            }),
            LineFormat::Json => {
                self.line.push('{');
                for (name, cell) in self.names.iter().zip(cells) {
                    if self.line.len() > 1 {
                        self.line.push(',');
                    }
                    json_text(&mut self.line, name);
                    self.line.push(':');
                    match cell {
                        Cell::Text(text) => json_text(&mut self.line, text),
                        Cell::Nothing => self.line.push_str("null"),
                        cell => number(&mut self.line, cell),
                    }
                }
                self.line.push('}');
            }
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())
    }
}

fn separated(out: &mut String, cells: &[Cell], separator: char, text: impl Fn(&mut String, &str)) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(separator);
        }
        match cell {
            Cell::Text(it) => text(out, it),
            cell => number(out, cell),
        }
    }
}

fn csv_text(out: &mut String, text: &str) {
    if text.contains([',', '"', '\n', '\r']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

fn number(out: &mut String, cell: &Cell) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = match cell {
        Cell::Whole(number) => write!(out, "{number}"),
        Cell::Real(number) => write!(out, "{number}"),
        Cell::Nothing | Cell::Text(_) => Ok(()),
    };
}

/// Writes a text as JSON.
fn json_text(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).expect("a text is JSON"));
}
