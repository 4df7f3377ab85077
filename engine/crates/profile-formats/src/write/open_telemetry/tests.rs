//! Reads back what was written.

use fulcrum_model::call_tree::{Frame, ValueType};

use super::*;
use crate::decode::wire::{Field, Message as Read};
use crate::testing::check;

const TRACE: [u8; 16] = [7; 16];
const SPAN: [u8; 8] = [9; 8];
const TAKEN: Period = Period {
    from_ns: 1_700_000_000_000_000_000,
    to_ns: 1_700_000_001_000_000_000,
};

fn types() -> [ValueType; 2] {
    [ValueType::new("cpu", "ns"), ValueType::new("samples", "")]
}

#[test]
fn profiles_are_read_again_with_their_spans() {
    let mut profiles = LinkedProfiles::new(&types(), TAKEN);
    let web = profiles.resource(&[
        ("service.name", Value::Text("web")),
        ("process.pid", Value::Number(12)),
    ]);
    let database = profiles.resource(&[("service.name", Value::Text("db"))]);
    let main = profiles.location(&Frame::function("main"));
    let line = |line| Frame {
        file: Some("buy.c".into()),
        line: Some(line),
        ..Frame::function("buy")
    };
    let lines = [7, 8].map(|it| profiles.location(&line(it)));
    let stacks = lines.map(|it| profiles.stack(&[main, it]));
    assert_eq!(profiles.stack(&[main, lines[0]]), stacks[0]);
    let link = profiles.link(&TRACE, &SPAN);
    let named = profiles.attribute(("span.name", Value::Text("GET /buy")));
    let thread = profiles.attribute(("thread.name", Value::Text("worker")));
    let of = |stack, link, attributes: &[u32]| Identity {
        stack,
        link,
        attributes: attributes.to_vec(),
    };
    for (resource, identity, values) in [
        (web, of(stacks[0], link, &[named, thread]), [10, 1]),
        (web, of(stacks[0], link, &[named, thread]), [20, 1]),
        (web, of(stacks[1], link, &[named, thread]), [5, 1]),
        (web, of(stacks[1], 0, &[named, thread]), [3, 1]),
        (database, of(0, 0, &[]), [1, 0]),
    ] {
        profiles.add(resource, identity, &values);
    }
    let mut written = Vec::new();
    profiles.write(&mut written).expect("into memory");
    check(
        written,
        "cpu ns* 39
         samples 4
         {GET /buy} 0 0
         {GET /buy};{web worker (12/?)} 0 0
         {GET /buy};{web worker (12/?)};main 0 0
         {GET /buy};{web worker (12/?)};main;buy 38 4
         {no span} 0 0
         {no span};{db} 0 0
         {no span};{db};[no stack] 1 0",
    );
}

/// The fields of a message in order: number, value, and nested fields.
fn fields(bytes: &[u8]) -> Vec<(u64, Option<u64>, Vec<u8>)> {
    let mut message = Read::new(bytes);
    let mut found = Vec::new();
    while let Some((number, field)) = message.field().expect("is whole") {
        found.push(match field {
            Field::Varint(value) => (number, Some(value), Vec::new()),
            Field::Bytes(inner) => (number, None, inner.bytes().to_vec()),
            Field::Fixed => (number, None, Vec::new()),
        });
    }
    found
}

fn only(bytes: &[u8], wanted: u64) -> Vec<u8> {
    let mut found = fields(bytes).into_iter().filter(|it| it.0 == wanted);
    let (.., inner) = found.next().expect("it is there");
    assert!(found.next().is_none(), "it is there once");
    inner
}

#[test]
fn spans_have_the_fields_of_the_protocol() {
    let mut spans = Spans::default();
    let attributes = [("service.name", Value::Text("web"))];
    let web = spans.resource(&attributes);
    assert_eq!(spans.resource(&attributes), web);
    spans.add(
        web,
        &Span {
            trace: &TRACE,
            id: &SPAN,
            parent: Some(&[3; 8]),
            flags: 1,
            name: "GET /buy",
            kind: SpanKind::Server,
            time: TAKEN,
            attributes: &[
                ("replied", Value::Flag(false)),
                ("thread.id", Value::Number(0)),
            ],
        },
    );
    let mut written = Vec::new();
    spans.write(&mut written).expect("into memory");
    let of_resource = only(&written, 1);
    let attribute = only(&only(&of_resource, 1), 1);
    assert_eq!(only(&attribute, 1), b"service.name");
    let span = only(&only(&of_resource, 2), 2);
    assert_eq!(only(&span, 1), TRACE);
    assert_eq!(only(&span, 2), SPAN);
    assert_eq!(only(&span, 4), [3; 8]);
    assert_eq!(only(&span, 5), b"GET /buy");
    let found = fields(&span);
    assert!(found.contains(&(6, Some(2), Vec::new())), "{found:?}");
    let numbers: Vec<u64> = found.iter().map(|it| it.0).collect();
    assert_eq!(numbers, [1, 2, 4, 5, 6, 7, 8, 9, 9, 16]);
    // A flag and a number are there even when they are none.
    let values = found.iter().filter(|it| it.0 == 9);
    let values: Vec<_> = values.map(|it| fields(&only(&it.2, 2))).collect();
    let zero = |field| vec![(field, Some(0), Vec::new())];
    assert_eq!(values, [zero(2), zero(3)]);
    assert_eq!(spans.count(), 1);
}
