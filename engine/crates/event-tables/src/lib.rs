//! Writes tables of events for other tools: CSV, TSV, JSON lines, Arrow and Parquet. They are written row by row, so memory does not grow
//! with their number.
//!
//! Each format is written by its library, except for the frame of a JSON object: serde_json writes names and texts, but a row is no
//! Rust type that it could serialise, and numbers have the same digits in all three text formats.

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
    Separated(Box<Separated<W>>),
    Objects(Objects<W>),
    Columns(Box<columns::Writer<W>>),
}

/// Cells with separators, one row for each line.
struct Separated<W: Write> {
    out: csv::Writer<W>,
    cell: String,
    text: fn(&mut String, &str),
}

/// One JSON object for each line.
struct Objects<W> {
    out: W,
    names: Vec<String>,
    line: String,
}

impl<W: Write + Send> Table<W> {
    /// Begins a table with these columns.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn new(out: W, format: Format, names: &[String], holds: &[Holds]) -> io::Result<Table<W>> {
        let columns = |writer| Form::Columns(Box::new(writer));
        Ok(Table(match format {
            Format::Csv => Form::Separated(Box::new(Separated::commas(out, names)?)),
            Format::Tsv => Form::Separated(Box::new(Separated::tabs(out, names)?)),
            Format::Json => Form::Objects(Objects::new(out, names)),
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
            Form::Separated(lines) => lines.row(cells),
            Form::Objects(lines) => lines.row(cells),
            Form::Columns(columns) => columns.row(cells),
        }
    }

    /// Writes the remaining rows.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Form::Separated(mut lines) => lines.out.flush(),
            Form::Objects(mut lines) => lines.out.flush(),
            Form::Columns(columns) => columns.finish(),
        }
    }
}

impl<W: Write> Separated<W> {
    fn commas(out: W, names: &[String]) -> io::Result<Separated<W>> {
        let out = csv::Writer::from_writer(out);
        Self::begin(out, String::push_str, names)
    }

    fn tabs(out: W, names: &[String]) -> io::Result<Separated<W>> {
        let mut format = csv::WriterBuilder::new();
        let format = format.delimiter(b'\t').quote_style(csv::QuoteStyle::Never);
        let plain = |out: &mut String, text: &str| {
            out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
        };
        Self::begin(format.from_writer(out), plain, names)
    }

    fn begin(
        out: csv::Writer<W>,
        text: fn(&mut String, &str),
        names: &[String],
    ) -> io::Result<Separated<W>> {
        let cell = String::new();
        let mut lines = Separated { out, cell, text };
        let names: Vec<Cell> = names.iter().cloned().map(Cell::Text).collect();
        lines.row(&names)?;
        Ok(lines)
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        for cell in cells {
            self.cell.clear();
            match cell {
                Cell::Text(it) => (self.text)(&mut self.cell, it),
                cell => number(&mut self.cell, cell),
            }
            self.out.write_field(&self.cell).map_err(io_error)?;
        }
        self.out.write_record(None::<&[u8]>).map_err(io_error)
    }
}

/// The error of the file below. csv's own conversion would hide its kind, such as that of a closed pipe.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

impl<W: Write> Objects<W> {
    fn new(out: W, names: &[String]) -> Objects<W> {
        Objects {
            out,
            names: names.to_vec(),
            line: String::new(),
        }
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        self.line.clear();
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
        self.line.push_str("}\n");
        self.out.write_all(self.line.as_bytes())
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
