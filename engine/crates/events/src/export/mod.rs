//! Traces for other tools: tables, and timelines that browsers open. All are written while the trace is read; memory does
//! not grow with the number of events.

mod arrow;
mod chrome;
mod edges;
mod flat;
mod parquet;
mod perfetto;
mod thrift;

use std::io::{self, Write};

pub use chrome::chrome;
pub use edges::ExportError;
pub use perfetto::perfetto;

use crate::query::Cell;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Cells in commas, texts in quotes where they need them (RFC 4180). The first line has the names.
    Csv,
    /// Cells between tabs: gnuplot reads it with `set datafile separator tab` and `columnheader`. Tabs and ends of lines in
    /// texts become spaces.
    Tsv,
    /// An object a line.
    Json,
    /// An Arrow IPC file: 64-bit integers, doubles, UTF-8, all nullable.
    Arrow,
    /// A Parquet file with the same columns.
    Parquet,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Texts.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Real,
}

/// A table that is being written. Finish it with [`Table::finish`].
pub struct Table<W: Write> {
    out: W,
    names: Vec<String>,
    form: Form,
    line: String,
}

enum Form {
    Csv,
    Tsv,
    Json,
    Arrow(Box<arrow::Writer>),
    Parquet(Box<parquet::Writer>),
}

impl<W: Write> Table<W> {
    /// Begins a table with these columns.
    ///
    /// # Errors
    /// When `out` takes no more.
    pub fn new(
        mut out: W,
        format: Format,
        names: &[String],
        holds: &[Holds],
    ) -> io::Result<Table<W>> {
        let form = match format {
            Format::Csv => Form::Csv,
            Format::Tsv => Form::Tsv,
            Format::Json => Form::Json,
            Format::Arrow => Form::Arrow(Box::new(arrow::Writer::new(&mut out, names, holds)?)),
            Format::Parquet => {
                Form::Parquet(Box::new(parquet::Writer::new(&mut out, names, holds)?))
            }
        };
        let mut table = Table {
            out,
            names: names.to_vec(),
            form,
            line: String::new(),
        };
        if matches!(table.form, Form::Csv | Form::Tsv) {
            let names: Vec<Cell> = names.iter().cloned().map(Cell::Text).collect();
            table.row(&names)?;
        }
        Ok(table)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When `out` takes no more.
    pub fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        self.line.clear();
        match &mut self.form {
            Form::Arrow(writer) => return writer.row(&mut self.out, cells),
            Form::Parquet(writer) => return writer.row(&mut self.out, cells),
            Form::Csv => separated(&mut self.line, cells, ',', csv_text),
            Form::Tsv => separated(&mut self.line, cells, '\t', |out, text| {
                out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
            }),
            Form::Json => {
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

    /// Writes what is left.
    ///
    /// # Errors
    /// When `out` takes no more.
    pub fn finish(mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Arrow(writer) => writer.finish(&mut self.out)?,
            Form::Parquet(writer) => writer.finish(&mut self.out)?,
            Form::Csv | Form::Tsv | Form::Json => {}
        }
        self.out.flush()
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

/// A number as a column of numbers has it, in 64 bits.
fn number_bytes(holds: Holds, cell: &Cell) -> Option<[u8; 8]> {
    match (holds, cell) {
        (Holds::Whole, Cell::Whole(number)) => {
            Some(i64::try_from(*number).unwrap_or(i64::MAX).to_le_bytes())
        }
        (Holds::Real, Cell::Real(number)) => Some(number.to_le_bytes()),
        (Holds::Real, Cell::Whole(number)) => Some((*number as f64).to_le_bytes()),
        _ => None,
    }
}

/// A text as JSON.
pub(crate) fn json_text(out: &mut String, text: &str) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
