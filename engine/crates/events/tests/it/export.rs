//! What is exported says what the trace says, byte for byte as the formats want it.

use std::io::{self, Cursor, Write};

use fulcrum_model::Progress;

use crate::common::{create, define, now, open, random_event, start};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_ipc::reader::FileReader;
use fulcrum_events::export::{Format, Holds, Table, perfetto};
use fulcrum_events::query::Cell;
use fulcrum_events::{RowWhat, Scope};
use fulcrum_stats::Random;
use fulcrum_wire::log::{Body, kind};
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

/// The fields of a protobuf message: number, and a number or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn number(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if *first < 0x80 {
                return value;
            }
            shift += 7;
        }
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes);
        let value = number(&mut bytes);
        let content = match key & 7 {
            0 => &bytes[..0],
            2 => {
                let (content, rest) = bytes.split_at(value as usize);
                bytes = rest;
                content
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, value, content));
    }
    fields
}

#[test]
fn perfettos_slices_nest_and_their_names_are_defined() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, 1 << 30);
    drop(define(&log, 5));
    let mut random = Random::new(5);
    for thread in 2..4 {
        let mut stream = log.stream(thread);
        start(&mut stream, "busy");
        for _ in 0..400 {
            random_event(&mut stream, &mut random);
        }
        stream.write(kind::ENTER, now().ticks, None, 0, Body::Method(3));
    }
    log.finish();
    let trace = open(&path);
    let mut bytes = Vec::new();
    perfetto(&trace, &Scope::default(), &Progress::default(), &mut bytes).unwrap();
    let (mut tracks, mut names, mut open_slices, mut begun) =
        (Vec::new(), Vec::new(), [0_i32; 2], 0);
    for (at, (number, _, packet)) in fields(&bytes).into_iter().enumerate() {
        assert_eq!(number, 1, "a packet");
        let packet = fields(packet);
        let get = |number: u64| packet.iter().find(|it| it.0 == number);
        assert_eq!(
            (get(10).unwrap().1, get(13).unwrap().1),
            (1, if at == 0 { 3 } else { 2 })
        );
        if let Some((_, _, track)) = get(60) {
            tracks.push(fields(track)[0].1);
            continue;
        }
        if let Some((_, _, interned)) = get(12) {
            names.extend(fields(interned).iter().map(|it| fields(it.2)[0].1));
        }
        let event = fields(get(11).unwrap().2);
        let get = |number: u64| event.iter().find(|it| it.0 == number).map(|it| it.1);
        let track = get(11).unwrap();
        assert!(tracks.contains(&track));
        let open = &mut open_slices[track as usize - 18];
        match get(9).unwrap() {
            1 => *open += 1,
            2 => *open -= 1,
            _ => {}
        }
        begun += u64::from(get(9) == Some(1));
        assert!(*open >= 0);
        assert_eq!(get(9) == Some(2), get(10).is_none());
        assert!(
            get(10).is_none_or(|name| names.contains(&name)),
            "{names:?}"
        );
    }
    assert_eq!((open_slices, tracks), ([0, 0], vec![1, 18, 19]));
    let of = fulcrum_events::Indexed::new(open(&path), &Progress::default()).unwrap();
    let spans = of.search(
        &fulcrum_events::query::Condition::parse("").unwrap(),
        &fulcrum_events::Where::default(),
        None,
        10_000,
        &Progress::default(),
    );
    let spans = spans
        .unwrap()
        .hits
        .into_iter()
        .filter(|it| matches!(it.row.what, RowWhat::Span(_)));
    assert_eq!(spans.count() as u64, begun);
}
