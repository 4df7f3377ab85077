//! Collects rows into columns, for Arrow and Parquet.
//!
//! The columns are our own, and Parquet's column writer takes them. Its bridge to Arrow would bring in Arrow's compute kernels, which take
//! longer to compile than the whole engine.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType as Stored, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use fulcrum_events::query::{Cell, Holds};

/// The number of rows in a batch (Arrow) or group (Parquet).
const ROWS: usize = 1 << 17;

/// The size of a column's texts that ends a batch early, in bytes: Arrow's offsets have 31 bits.
const TEXTS: usize = 32 << 20;

/// A file that is being written.
pub(crate) struct Writer<W: Write + Send> {
    columns: Vec<Column>,
    rows: usize,
    file: File<W>,
}

enum File<W: Write + Send> {
    Arrow(SchemaRef, FileWriter<W>),
    Parquet(SerializedFileWriter<W>),
}

/// A column of the batch that is being filled.
enum Column {
    Text(Texts),
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
}

/// The texts, one after the other, and where each ends.
#[derive(Default)]
struct Texts {
    bytes: String,
    /// The end of each row's text. `None` for rows without text.
    ends: Vec<Option<usize>>,
}

impl<W: Write + Send> Writer<W> {
    /// An Arrow IPC file.
    pub(crate) fn arrow(out: W, names: &[String], holds: &[Holds]) -> io::Result<Writer<W>> {
        let schema = arrow_schema(names, holds);
        let file = FileWriter::try_new(out, &schema).map_err(of_arrow)?;
        Ok(Writer::new(holds, File::Arrow(schema, file)))
    }

    /// A Parquet file. Uncompressed, because its dictionaries contain each text once a group.
    pub(crate) fn parquet(out: W, names: &[String], holds: &[Holds]) -> io::Result<Writer<W>> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("fulcrum ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let file = parquet_schema(names, holds)
            .and_then(|schema| SerializedFileWriter::new(out, schema, Arc::new(properties)))
            .map_err(of_parquet)?;
        Ok(Writer::new(holds, File::Parquet(file)))
    }

    fn new(holds: &[Holds], file: File<W>) -> Writer<W> {
        Writer {
            columns: holds.iter().copied().map(Column::new).collect(),
            rows: 0,
            file,
        }
    }

    pub(crate) fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
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
        match &mut self.file {
            File::Arrow(schema, file) => {
                let columns = self.columns.iter().map(Column::arrow).collect();
                let batch = RecordBatch::try_new(schema.clone(), columns).map_err(of_arrow)?;
                file.write(&batch).map_err(of_arrow)?;
            }
            File::Parquet(file) => write_group(file, &self.columns).map_err(of_parquet)?,
        }
        self.columns.iter_mut().for_each(Column::clear);
        self.rows = 0;
        Ok(())
    }

    /// Writes the remaining rows.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.batch()?;
        }
        match self.file {
            File::Arrow(_, mut file) => {
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

fn arrow_schema(names: &[String], holds: &[Holds]) -> SchemaRef {
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

fn parquet_schema(names: &[String], holds: &[Holds]) -> Result<TypePtr, ParquetError> {
    let field = |(name, holds): (&String, &Holds)| {
        let (kind, logical) = match holds {
            Holds::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Holds::Whole => (Physical::INT64, None),
            Holds::Real => (Physical::DOUBLE, None),
        };
        let field = Type::primitive_type_builder(name, kind)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields: Result<Vec<TypePtr>, _> = names.iter().zip(holds).map(field).collect();
    let schema = Type::group_type_builder("schema").with_fields(fields?);
    schema.build().map(Arc::new)
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    columns: &[Column],
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for column in columns {
        let Some(mut out) = group.next_column()? else {
            return Err(ParquetError::General(
                "more columns than the schema has".into(),
            ));
        };
        match column {
            Column::Text(texts) => {
                // Slices of one copy.
                let all = Bytes::copy_from_slice(texts.bytes.as_bytes());
                let slice = |range: Range<usize>| ByteArray::from(all.slice(range));
                write_column::<ByteArrayType>(&mut out, texts.ranges().map(|it| it.map(slice)))?;
            }
            Column::Whole(numbers) => {
                write_column::<Int64Type>(&mut out, numbers.iter().copied())?;
            }
            Column::Real(numbers) => {
                write_column::<DoubleType>(&mut out, numbers.iter().copied())?;
            }
        }
        out.close()?;
    }
    group.close()?;
    Ok(())
}

/// Parquet stores the existing values, and for each row how many there are (a definition level, 0 or 1).
fn write_column<T: Stored>(
    out: &mut SerializedColumnWriter<'_>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut levels = Vec::with_capacity(ROWS);
    let mut values = Vec::new();
    for row in rows {
        levels.push(i16::from(row.is_some()));
        values.extend(row);
    }
    out.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

impl Texts {
    fn push(&mut self, text: Option<&str>) {
        self.bytes.push_str(text.unwrap_or_default());
        self.ends.push(text.map(|_| self.bytes.len()));
    }

    /// The range of each row's text.
    fn ranges(&self) -> impl Iterator<Item = Option<Range<usize>>> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |end| end.map(|end| std::mem::replace(&mut start, end)..end))
    }
}

impl Column {
    fn new(holds: Holds) -> Column {
        match holds {
            Holds::Text => Column::Text(Texts::default()),
            Holds::Whole => Column::Whole(Vec::new()),
            Holds::Real => Column::Real(Vec::new()),
        }
    }

    /// Adds a cell, or nothing if it has the wrong type. Returns the size of the texts so far, in bytes.
    fn add(&mut self, cell: &Cell) -> usize {
        match self {
            Column::Text(texts) => {
                texts.push(match cell {
                    Cell::Text(text) => Some(text),
                    _ => None,
                });
                return texts.bytes.len();
            }
            Column::Whole(numbers) => numbers.push(match cell {
                Cell::Whole(number) => Some(i64::try_from(*number).unwrap_or(i64::MAX)),
                _ => None,
            }),
            Column::Real(numbers) => numbers.push(match cell {
                Cell::Real(number) => Some(*number),
                Cell::Whole(number) => Some(*number as f64),
                _ => None,
            }),
        }
        0
    }

    fn arrow(&self) -> ArrayRef {
        match self {
            Column::Text(texts) => {
                let rows = texts.ranges().map(|it| it.map(|it| &texts.bytes[it]));
                Arc::new(rows.collect::<StringArray>())
            }
            Column::Whole(numbers) => Arc::new(numbers.iter().collect::<Int64Array>()),
            Column::Real(numbers) => Arc::new(numbers.iter().collect::<Float64Array>()),
        }
    }

    /// Clears the column, but keeps its memory.
    fn clear(&mut self) {
        match self {
            Column::Text(texts) => {
                texts.bytes.clear();
                texts.ends.clear();
            }
            Column::Whole(numbers) => numbers.clear(),
            Column::Real(numbers) => numbers.clear(),
        }
    }
}

/// Keeps the kind, because callers do not treat a closed pipe as a failure.
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
