//! What is in a table is what was put into it, byte for byte as the formats want it.

use std::io::{self, Cursor, Write};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_ipc::reader::FileReader;
use fulcrum_event_tables::{Format, Table};
use fulcrum_events::query::{Cell, Holds};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};

fn written(format: Format, rows: &[Vec<Cell>]) -> Vec<u8> {
    let names = ["name", "wall", "mean"].map(str::to_owned);
    let mut out = Vec::new();
    let mut table = Table::new(
        &mut out,
        format,
        &names,
        &[Holds::Text, Holds::Whole, Holds::Real],
    )
    .unwrap();
    for row in rows {
        table.row(row).unwrap();
    }
    table.finish().unwrap();
    out
}

fn rows() -> Vec<Vec<Cell>> {
    let text = |text: &str| Cell::Text(text.into());
    vec![
        vec![text("a\"b, \t\u{1}ä"), Cell::Whole(7), Cell::Real(0.5)],
        vec![Cell::Nothing, Cell::Nothing, Cell::Nothing],
    ]
}

#[test]
fn texts_are_quoted_as_each_format_wants() {
    let text = |format| String::from_utf8(written(format, &rows())).unwrap();
    assert_eq!(
        text(Format::Csv),
        "name,wall,mean\n\"a\"\"b, \t\u{1}ä\",7,0.5\n,,\n"
    );
    assert_eq!(
        text(Format::Tsv),
        "name\twall\tmean\na\"b,   ä\t7\t0.5\n\t\t\n"
    );
    let json = "{\"name\":\"a\\\"b, \\t\\u0001ä\",\"wall\":7,\"mean\":0.5}\n{\"name\":null,\"wall\":null,\"mean\":null}\n";
    assert_eq!(text(Format::Json), json);
}

#[test]
fn a_row_of_one_empty_cell_is_a_row_for_readers_of_csv() {
    let mut out = Vec::new();
    let names = ["thread".to_owned()];
    let mut table = Table::new(&mut out, Format::Csv, &names, &[Holds::Text]).unwrap();
    for cell in [Cell::Text("main".into()), Cell::Nothing] {
        table.row(&[cell]).unwrap();
    }
    table.finish().unwrap();
    // Readers skip empty lines.
    assert_eq!(String::from_utf8(out).unwrap(), "thread\nmain\n\"\"\n");
}

#[test]
fn a_closed_pipe_keeps_its_kind() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for format in [Format::Csv, Format::Tsv, Format::Json] {
        let names = ["name".to_owned()];
        let written = Table::new(Closed, format, &names, &[Holds::Text]).and_then(|mut table| {
            // More than a buffer.
            for _ in 0..2 {
                table.row(&[Cell::Text("a".repeat(1 << 16))])?;
            }
            table.finish()
        });
        let error = written.expect_err("nothing can be written");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{format:?}");
    }
}

/// Row after row, as the readers of the formats' own libraries have them.
fn read(batches: impl Iterator<Item = RecordBatch>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for batch in batches {
        let fields = batch.schema();
        let fields: Vec<(&str, bool)> = fields
            .fields()
            .iter()
            .map(|it| (it.name().as_str(), it.is_nullable()))
            .collect();
        assert_eq!(fields, [("name", true), ("wall", true), ("mean", true)]);
        let texts = batch.column(0).as_string::<i32>();
        let whole = batch.column(1).as_primitive::<Int64Type>();
        let real = batch.column(2).as_primitive::<Float64Type>();
        let cell = |there: Option<Cell>| there.unwrap_or(Cell::Nothing);
        rows.extend(
            texts
                .iter()
                .zip(whole)
                .zip(real)
                .map(|((text, whole), real)| {
                    vec![
                        cell(text.map(|it| Cell::Text(it.into()))),
                        cell(whole.map(|it| Cell::Whole(it.try_into().unwrap()))),
                        cell(real.map(Cell::Real)),
                    ]
                }),
        );
    }
    rows
}

fn cells(row: &Row) -> Vec<Cell> {
    row.get_column_iter()
        .map(|(_, field)| match field {
            Field::Null => Cell::Nothing,
            Field::Str(text) => Cell::Text(text.as_str().into()),
            Field::Long(number) => Cell::Whole((*number).try_into().unwrap()),
            Field::Double(number) => Cell::Real(*number),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// More than a batch or a group of rows.
fn many() -> Vec<Vec<Cell>> {
    let text = |n: u64| Cell::Text(format!("text {}", n % 300));
    let row = |n| vec![text(n), Cell::Whole(n), Cell::Nothing];
    (0..300_000).map(row).collect()
}

#[test]
fn an_arrow_file_has_every_row() {
    for rows in [rows(), many(), Vec::new()] {
        let bytes = written(Format::Arrow, &rows);
        let batches = FileReader::try_new(Cursor::new(bytes), None).unwrap();
        assert!(read(batches.map(Result::unwrap)) == rows);
    }
}

#[test]
fn a_parquet_file_has_every_row_and_the_same_text_once_a_group() {
    for rows in [rows(), many(), Vec::new()] {
        let bytes = written(Format::Parquet, &rows);
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let schema = file.metadata().file_metadata().schema().get_fields();
        let fields: Vec<(&str, bool)> = schema
            .iter()
            .map(|it| (it.name(), it.is_optional()))
            .collect();
        assert_eq!(fields, [("name", true), ("wall", true), ("mean", true)]);
        let read = file.get_row_iter(None).unwrap().map(Result::unwrap);
        assert!(read.map(|row| cells(&row)).eq(rows));
    }
    let bytes = written(Format::Parquet, &many());
    // In the column's dictionary of each of three groups; the least and greatest text are told beside it.
    let texts = bytes.windows(8).filter(|it| it == b"text 150");
    assert_eq!(texts.count(), 3);
}

/// Takes a few bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_stops_the_writer_is_told_by_its_kind() {
    let rows = many();
    for format in [Format::Csv, Format::Json, Format::Arrow, Format::Parquet] {
        let names = ["name", "wall", "mean"].map(str::to_owned);
        let holds = [Holds::Text, Holds::Whole, Holds::Real];
        let mut table = Table::new(Full(4096), format, &names, &holds).unwrap();
        let stopped = rows
            .iter()
            .try_for_each(|row| table.row(row))
            .and_then(|()| table.finish());
        assert_eq!(
            stopped.unwrap_err().kind(),
            io::ErrorKind::BrokenPipe,
            "{format:?}"
        );
    }
}
