//! What is exported says what the trace says, byte for byte as the formats want it.

mod common;

use common::{Random, create, define, now, open, random_event, start};
use fulcrum_events::export::{Format, Holds, Table, perfetto};
use fulcrum_events::query::Cell;
use fulcrum_events::{RowWhat, Scope};
use fulcrum_wire::log::{Body, kind};

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

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What pyarrow 26 read (ARROW_FILE=FILE writes it) as `{"name": ["a\"b, \t\x01ä", None], "wall": [7, None], "mean": [0.5, None]}`.
const ARROW: u64 = 0xd3e1_a43c_ca30_8f9d;

#[test]
fn an_arrow_file_is_the_one_that_pyarrow_reads() {
    let bytes = written(Format::Arrow, &rows());
    if let Some(file) = std::env::var_os("ARROW_FILE") {
        std::fs::write(file, &bytes).unwrap();
    }
    assert_eq!(
        (&bytes[..8], &bytes[bytes.len() - 6..]),
        (&b"ARROW1\0\0"[..], &b"ARROW1"[..])
    );
    assert_eq!(
        hash(&bytes),
        ARROW,
        "when the writer changes, read its files with pyarrow before this is changed: {:#x}",
        hash(&bytes)
    );
    // Batches end, and go on.
    let many: Vec<Vec<Cell>> = (0..70_000)
        .map(|n| vec![Cell::Text("x".into()), Cell::Whole(n), Cell::Nothing])
        .collect();
    let bytes = written(Format::Arrow, &many);
    let footer =
        i32::from_le_bytes(bytes[bytes.len() - 10..bytes.len() - 6].try_into().unwrap()) as usize;
    assert!(
        bytes.len() - footer > 70_000 * (8 + 4 + 1 + 8),
        "all rows are there"
    );
}

/// What pyarrow 26 and DuckDB 2.0 read (PARQUET_FILE=FILE writes it) as the same.
const PARQUET: u64 = 0xbb2a_abc6_9898_b015;
/// The same of 300,000 rows.
const LARGE: u64 = 0xf9cc_4c60_1b41_9b74;

#[test]
fn a_parquet_file_is_the_one_that_others_read() {
    let bytes = written(Format::Parquet, &rows());
    if let Some(file) = std::env::var_os("PARQUET_FILE") {
        std::fs::write(file, &bytes).unwrap();
    }
    assert_eq!(
        hash(&bytes),
        PARQUET,
        "when the writer changes, read its files with pyarrow before this is changed: {:#x}",
        hash(&bytes)
    );
    // Groups end, and go on; what is the same is written once in each.
    let text = |n: u64| Cell::Text(format!("text {}", n % 300));
    let many: Vec<Vec<Cell>> = (0..300_000)
        .map(|n| vec![text(n), Cell::Whole(n), Cell::Nothing])
        .collect();
    let bytes = written(Format::Parquet, &many);
    if let Some(file) = std::env::var_os("PARQUET_FILE_LARGE") {
        std::fs::write(file, &bytes).unwrap();
    }
    assert_eq!(
        (&bytes[..4], &bytes[bytes.len() - 4..]),
        (&b"PAR1"[..], &b"PAR1"[..])
    );
    assert_eq!(hash(&bytes), LARGE, "{:#x}", hash(&bytes));
    // Nine bits for a text, 64 for a number, one for each cell.
    let least = 300_000 * (9 + 64 + 3) / 8;
    assert!(
        (least..least + 20_000).contains(&bytes.len()),
        "{}",
        bytes.len()
    );
    let texts = bytes.windows(8).filter(|it| it == b"text 299");
    assert_eq!(texts.count(), 3);
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
    let mut random = Random(5);
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
    perfetto(&trace, &Scope::default(), &|| true, &mut bytes).unwrap();
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
    let of = fulcrum_events::Indexed::new(open(&path), &mut |_| true).unwrap();
    let spans = of.search(
        &fulcrum_events::query::Condition::parse("").unwrap(),
        &fulcrum_events::Where::default(),
        None,
        10_000,
        &|| true,
    );
    let spans = spans
        .unwrap()
        .hits
        .into_iter()
        .filter(|it| matches!(it.row.what, RowWhat::Span(_)));
    assert_eq!(spans.count() as u64, begun);
}
