//! What is exported says what the trace says, byte for byte as the formats want it.

use fulcrum_model::Progress;

use crate::common::shop::{self, Writer};
use crate::common::{create, define, now, open, random_event, start};
use fulcrum_events::export::{chrome, perfetto};
use fulcrum_events::{RowWhat, Trace, TraceRange};
use fulcrum_stats::Random;
use fulcrum_wire::log::{Body, Value, kind};

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
        if key & 7 == 1 {
            let (double, rest) = bytes.split_first_chunk().unwrap();
            bytes = rest;
            fields.push((key >> 3, u64::from_le_bytes(*double), &bytes[..0]));
            continue;
        }
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
    perfetto(
        &trace,
        &TraceRange::default(),
        &Progress::default(),
        &mut bytes,
    )
    .unwrap();
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

/// `outer()` calls `add` with and without values, and is not over.
fn valued() -> Trace {
    shop::trace(|log| {
        shop::name_methods(log, &[(1, "shop.Cart", "outer"), (2, "shop.Cart", "add")]);
        let mut stream = Writer::new(log, 2, "main");
        stream.enter(1, 1);
        let text = Value::Text {
            bytes: b"a \"fig\"",
            cut: true,
        };
        let given = [Value::Integer(-7), Value::Integer(1 << 60), text];
        stream.enter_with(2, 2, 3, &given);
        stream.exit_with(3, 2, &Value::Double(0.25_f64.to_bits()));
        stream.enter_with(4, 2, 2, &[Value::Boolean(true), Value::Null]);
        stream.exit_with(5, 2, &Value::Double(f64::INFINITY.to_bits()));
        stream.call(6, 7, 2);
    })
}

#[test]
fn chromes_calls_have_their_values() {
    let mut bytes = Vec::new();
    let scope = TraceRange::default();
    chrome(&valued(), &scope, &Progress::default(), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let ends = text.lines().filter(|it| it.contains("\"ph\":\"E\""));
    let args = ends.map(|line| line.split_once("\"args\":").map(|it| it.1));
    let expect = [
        Some(
            r#"{"argument 1":-7,"argument 2":"1152921504606846976","argument 3":"a \"fig\"…","returned":0.25}}"#,
        ),
        Some(r#"{"argument 1":true,"argument 2":null,"returned":"Infinity"}}"#),
        None,
        None,
    ];
    let found: Vec<_> = args
        .map(|it| it.map(|it| it.trim_end_matches(',')))
        .collect();
    assert_eq!(found, expect);
}

#[test]
fn perfettos_slices_have_their_values() {
    let mut bytes = Vec::new();
    let scope = TraceRange::default();
    perfetto(&valued(), &scope, &Progress::default(), &mut bytes).unwrap();
    let mut ends = Vec::new();
    for (_, _, packet) in fields(&bytes) {
        let packet = fields(packet);
        let Some((_, _, event)) = packet.iter().find(|it| it.0 == 11) else {
            continue;
        };
        let event = fields(event);
        if event.contains(&(9, 2, &[])) {
            let annotations = event.iter().filter(|it| it.0 == 4);
            let annotation = |it: &(u64, u64, &[u8])| {
                let found = fields(it.2);
                assert_eq!((found.len(), found[0].0), (2, 10));
                let name = String::from_utf8(found[0].2.to_vec()).unwrap();
                let (kind, number, text) = found[1];
                match kind {
                    6 => format!("{name}: {}", String::from_utf8(text.to_vec()).unwrap()),
                    4 => format!("{name}: {}", number.cast_signed()),
                    5 => format!("{name}: {:?}", f64::from_bits(number)),
                    kind => format!("{name}: {kind} {number}"),
                }
            };
            ends.push(annotations.map(annotation).collect::<Vec<_>>().join(", "));
        }
    }
    let first =
        "argument 1: -7, argument 2: 1152921504606846976, argument 3: a \"fig\"…, returned: 0.25";
    let second = "argument 1: 2 1, argument 2: null, returned: inf";
    assert_eq!(ends, [first, second, "", ""]);
}
