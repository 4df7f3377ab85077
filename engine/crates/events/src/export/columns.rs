//! Rows gathered into columns, for Arrow and Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::Holds;
use crate::query::Cell;

/// Rows of a batch, and of a group in Parquet.
const ROWS: usize = 1 << 17;

/// Bytes of a column's texts that end a batch early: offsets have 31 bits.
const TEXTS: usize = 32 << 20;

/// A file that is being written.
pub struct Writer<W: Write + Send> {
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
    file: File<W>,
}

enum File<W: Write + Send> {
    Arrow(FileWriter<W>),
    Parquet(ArrowWriter<W>),
}

/// A column of the batch that is being filled.
enum Column {
    Text(StringBuilder),
    Whole(Int64Builder),
    Real(Float64Builder),
}

impl<W: Write + Send> Writer<W> {
    /// An Arrow IPC file.
    pub fn arrow(out: W, names: &[String], holds: &[Holds]) -> io::Result<Writer<W>> {
        let schema = schema(names, holds);
        let file = FileWriter::try_new(out, &schema).map_err(of_arrow)?;
        Ok(Writer::new(schema, holds, File::Arrow(file)))
    }

    /// A Parquet file, not compressed: its dictionaries have each text once a group.
    pub fn parquet(out: W, names: &[String], holds: &[Holds]) -> io::Result<Writer<W>> {
        let schema = schema(names, holds);
        let properties = WriterProperties::builder()
            .set_created_by(concat!("fulcrum ", env!("CARGO_PKG_VERSION")).into())
            .set_max_row_group_row_count(Some(ROWS))
            .build();
        let file = ArrowWriter::try_new(out, schema.clone(), Some(properties));
        let file = File::Parquet(file.map_err(of_parquet)?);
        Ok(Writer::new(schema, holds, file))
    }

    fn new(schema: SchemaRef, holds: &[Holds], file: File<W>) -> Writer<W> {
        Writer {
            schema,
            columns: holds.iter().copied().map(Column::new).collect(),
            rows: 0,
            file,
        }
    }

    pub fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        let mut texts = 0;
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            texts = texts.max(column.add(cell));
        }
        self.rows += 1;
        match self.rows == ROWS || texts > TEXTS {
            true => self.batch(),
            false => Ok(()),
        }
    }

    fn batch(&mut self) -> io::Result<()> {
        self.rows = 0;
        let columns = self.columns.iter_mut().map(Column::take).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(of_arrow)?;
        match &mut self.file {
            File::Arrow(file) => file.write(&batch).map_err(of_arrow),
            File::Parquet(file) => file.write(&batch).map_err(of_parquet),
        }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.batch()?;
        }
        match self.file {
            File::Arrow(mut file) => {
                file.finish().map_err(of_arrow)?;
                file.get_mut().flush()
            }
            File::Parquet(mut file) => {
                file.finish().map_err(of_parquet)?;
                file.inner_mut().flush()
            }
        }
    }
}

fn schema(names: &[String], holds: &[Holds]) -> SchemaRef {
    let field = |(name, holds): (&String, &Holds)| {
        let kind = match holds {
            Holds::Text => DataType::Utf8,
            Holds::Whole => DataType::Int64,
            Holds::Real => DataType::Float64,
        };
        Field::new(name, kind, true)
    };
    let fields: Vec<Field> = names.iter().zip(holds).map(field).collect();
    Arc::new(Schema::new(fields))
}

impl Column {
    fn new(holds: Holds) -> Column {
        match holds {
            Holds::Text => Column::Text(StringBuilder::new()),
            Holds::Whole => Column::Whole(Int64Builder::new()),
            Holds::Real => Column::Real(Float64Builder::new()),
        }
    }

    /// Adds a cell, nothing where it does not fit. Gives the bytes of texts so far.
    fn add(&mut self, cell: &Cell) -> usize {
        match (self, cell) {
            (Column::Text(texts), Cell::Text(text)) => {
                texts.append_value(text);
                texts.values_slice().len()
            }
            (Column::Text(texts), _) => {
                texts.append_null();
                0
            }
            (Column::Whole(numbers), Cell::Whole(number)) => {
                numbers.append_value(i64::try_from(*number).unwrap_or(i64::MAX));
                0
            }
            (Column::Whole(numbers), _) => {
                numbers.append_null();
                0
            }
            (Column::Real(numbers), Cell::Real(number)) => {
                numbers.append_value(*number);
                0
            }
            (Column::Real(numbers), Cell::Whole(number)) => {
                numbers.append_value(*number as f64);
                0
            }
            (Column::Real(numbers), _) => {
                numbers.append_null();
                0
            }
        }
    }

    /// What is in it, and leaves it empty.
    fn take(&mut self) -> ArrayRef {
        match self {
            Column::Text(texts) => Arc::new(texts.finish()),
            Column::Whole(numbers) => Arc::new(numbers.finish()),
            Column::Real(numbers) => Arc::new(numbers.finish()),
        }
    }
}

/// Callers look at the kind: a pipe that nobody reads is no failure.
fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}

fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
