//! The same profiles in both encodings.

use crate::testing::{check, check_fault};

/// Two profiles with one dictionary: `main` calls `f`, into which `g` is inlined. The library has no names.
const JSON: &str = r#"{"resourceProfiles":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
"scopeProfiles":[{"scope":{"name":"x"},"profiles":[
{"sampleType":{"typeStrindex":1,"unitStrindex":2},"timeUnixNano":"1","samples":[
{"stackIndex":1,"attributeIndices":[1],"timestampsUnixNano":["5","6","7"]},
{"stackIndex":2,"attributeIndices":[2],"values":["4"]},
{"values":[2]}]},
{"sampleType":{"typeStrindex":3,"unitStrindex":4},"samples":[
{"stackIndex":1,"attributeIndices":[1],"values":["10","20"],"timestampsUnixNano":["5","6"]}]}]}]}],
"dictionary":{"mappingTable":[{},{"memoryStart":"4096","filenameStrindex":9}],
"locationTable":[{},{"lines":[{"functionIndex":1,"line":"3"}]},
{"mappingIndex":1,"lines":[{"functionIndex":3},{"functionIndex":2}]},
{"mappingIndex":1,"address":"77"}],
"functionTable":[{},{"nameStrindex":5},{"nameStrindex":6,"filenameStrindex":8,"startLine":"12"},{"systemNameStrindex":7}],
"stringTable":["","samples","count","cpu","nanoseconds","main","f","g","f.c","/lib/libx.so","thread.id","thread.name"],
"attributeTable":[{},{"keyStrindex":10,"value":{"intValue":"7"}},{"keyStrindex":11,"value":{"stringValueStrindex":5}}],
"stackTable":[{},{"locationIndices":[2,1]},{"locationIndices":[3,1]}]}}
"#;

const EXPECT: &str = "samples* 9
     cpu ns 30
     {shop (?/7)} 0 0
     {shop (?/7)};main 0 0
     {shop (?/7)};main;f 0 0
     {shop (?/7)};main;f;g 3 30
     {shop main} 0 0
     {shop main};main 0 0
     {shop main};main;[libx.so] 4 0
     {shop} 0 0
     {shop};[no stack] 2 0";

#[test]
fn json_is_read() {
    check(JSON, EXPECT);
}

#[test]
fn several_texts_are_added() {
    let expect = EXPECT
        .lines()
        .map(|line| {
            line.split(' ')
                .map(|word| match word.parse::<i64>() {
                    Ok(number) => (2 * number).to_string(),
                    Err(_) => word.to_owned(),
                })
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect::<Vec<_>>();
    check(JSON.repeat(2), &expect.join("\n"));
}

/// A field: bytes, or a number.
fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    assert!(length < 1 << 14);
    let length = match length {
        0..128 => vec![length as u8],
        _ => vec![length as u8 | 0x80, (length >> 7) as u8],
    };
    [vec![number << 3 | 2], length, content.to_vec()].concat()
}

fn number(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

fn message(number: u8, fields: &[Vec<u8>]) -> Vec<u8> {
    bytes(number, &fields.concat())
}

/// The same as [`JSON`] as protobuf.
fn proto() -> Vec<u8> {
    let time = [0x29, 1, 0, 0, 0, 0, 0, 0, 0];
    let counted = message(
        2,
        &[
            message(1, &[number(1, 1), number(2, 2)]),
            message(
                2,
                &[
                    number(1, 1),
                    number(2, 1),
                    bytes(5, &[0; 16]),
                    time.to_vec(),
                ],
            ),
            message(2, &[number(1, 2), bytes(2, &[2]), number(4, 4)]),
            message(2, &[number(4, 2)]),
        ],
    );
    let timed = message(
        2,
        &[
            message(1, &[number(1, 3), number(2, 4)]),
            message(2, &[number(1, 1), bytes(2, &[1]), bytes(4, &[10, 20])]),
        ],
    );
    let resource = message(
        1,
        &[message(
            1,
            &[bytes(1, b"service.name"), message(2, &[bytes(1, b"shop")])],
        )],
    );
    let resources = message(1, &[resource, message(2, &[counted, timed])]);
    let mut dictionary = vec![
        bytes(1, b""),
        message(1, &[number(4, 9)]),
        bytes(2, b""),
        message(2, &[message(3, &[number(1, 1), number(2, 3)])]),
        message(
            2,
            &[
                number(1, 1),
                message(3, &[number(1, 3)]),
                message(3, &[number(1, 2)]),
            ],
        ),
        message(2, &[number(1, 1), number(2, 77)]),
        bytes(3, b""),
        message(3, &[number(1, 5)]),
        message(3, &[number(1, 6), number(3, 8), number(4, 12)]),
        message(3, &[number(2, 7)]),
        bytes(6, b""),
        message(6, &[number(1, 10), message(2, &[number(3, 7)])]),
        message(6, &[number(1, 11), message(2, &[number(8, 5)])]),
        bytes(7, b""),
        message(7, &[bytes(1, &[2, 1])]),
        message(7, &[number(1, 3), number(1, 1)]),
    ];
    for text in [
        "",
        "samples",
        "count",
        "cpu",
        "nanoseconds",
        "main",
        "f",
        "g",
        "f.c",
        "/lib/libx.so",
        "thread.id",
        "thread.name",
    ] {
        dictionary.push(bytes(5, text.as_bytes()));
    }
    [resources, message(2, &dictionary)].concat()
}

#[test]
fn protobuf_is_read() {
    check(proto(), EXPECT);
}

#[test]
fn what_is_wrong_in_json_is_said_with_its_line() {
    for (from, to, line, expect) in [
        (
            "\"stackIndex\":2",
            "\"stackIndex\":5",
            5,
            "a sample names stack 5, which the file does not have",
        ),
        (
            "[3,1]",
            "[-3,1]",
            16,
            "a stack names location -3, which the file does not have",
        ),
        (
            "{\"functionIndex\":2}",
            "{\"functionIndex\":9}",
            16,
            "a location names function 9, which the file does not have",
        ),
        (
            "[\"4\"]",
            "[\"4\",1,2],\"timestampsUnixNano\":[1]",
            5,
            "a sample has 3 values at 1 times",
        ),
        (
            "[\"4\"]",
            "[\"NaN\"]",
            5,
            "the JSON is wrong at column 54: expected a text that is a whole number",
        ),
        (
            "\"attributeIndices\":[2]",
            "\"attributeIndices\":[8]",
            5,
            "a sample names attribute 8, which the file does not have",
        ),
    ] {
        check_fault(JSON.replace(from, to), line, expect);
        let second = format!("{JSON}{}", JSON.replace(from, to));
        let lines = JSON.lines().count() as u64;
        check_fault(second, line + lines, expect);
    }
}

#[test]
fn what_is_wrong_in_protobuf_is_said_with_its_byte() {
    let good = proto();
    let wrong = |from: &[u8], to: &[u8]| {
        let at = good
            .windows(from.len())
            .position(|it| it == from)
            .expect("is there");
        [&good[..at], to, &good[at + from.len()..]].concat()
    };
    for (bytes, expect) in [
        (
            wrong(&[8, 1, 16, 1, 42], &[8, 9, 16, 1, 42]),
            "a sample names stack 9, which the file does not have",
        ),
        (
            wrong(&[10, 2, 2, 1], &[10, 2, 7, 1]),
            "a stack names location 7, which the file does not have",
        ),
        (
            good[..good.len() - 1].to_vec(),
            "a field claims 175 bytes, but 174 are left",
        ),
    ] {
        let error = crate::read(&bytes, "x").expect_err(expect);
        assert_eq!(error.problem, expect);
        assert!(
            matches!(error.place, Some(fulcrum_model::Place::Byte(1..))),
            "{error}"
        );
    }
}

/// Three samples of `main`, with links to a span with a known name, to one without a name, and to none.
const LINKED: &str = r#"{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":{"typeStrindex":1},"samples":[
{"stackIndex":1,"linkIndex":1,"values":[1]},
{"stackIndex":1,"linkIndex":2,"values":[20]},
{"stackIndex":1,"linkIndex":3,"values":[300]},
{"stackIndex":1,"attributeIndices":[1],"values":[4000]},
{"stackIndex":1,"attributeIndices":[1],"linkIndex":2,"values":[50000]}]}]}]}],
"dictionary":{"locationTable":[{},{"lines":[{"functionIndex":1}]}],"functionTable":[{},{"nameStrindex":2}],
"linkTable":[{"traceId":"00000000000000000000000000000000","spanId":"0000000000000000"},
{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7"},
{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b8"},
{"traceId":"00000000000000000000000000000000","spanId":"0000000000000000"}],
"stringTable":["","samples","main","span.name","GET /buy"],
"attributeTable":[{},{"keyStrindex":3,"value":{"stringValue":"GET /buy"}}],
"stackTable":[{},{"locationIndices":[1]}]}}
"#;

const SPANS: &str = r#"{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[
{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","name":"GET /list","kind":2},
{"traceId":"4bf92f3577b34da6a3ce929d0e0e4737","spanId":"00f067aa0ba902b8","name":"another trace's"}]}]}]}
"#;

#[test]
fn samples_stand_under_the_names_of_their_spans() {
    let expect = |known: &str| {
        format!(
            "samples* 54321
             {{GET /buy}} 0
             {{GET /buy}};main 54000
             {{{known}}} 0
             {{{known}}};main 1
             {{no span}} 0
             {{no span}};main 300
             {{span 00f067aa0ba902b8}} 0
             {{span 00f067aa0ba902b8}};main 20"
        )
    };
    // In the order of a text that is sorted.
    let nameless = "samples* 54321
         {GET /buy} 0
         {GET /buy};main 54000
         {no span} 0
         {no span};main 300
         {span 00f067aa0ba902b7} 0
         {span 00f067aa0ba902b7};main 1
         {span 00f067aa0ba902b8} 0
         {span 00f067aa0ba902b8};main 20";
    check(LINKED, nameless);
    check(format!("{LINKED}{SPANS}"), &expect("GET /list"));
    check(format!("{SPANS}{LINKED}"), &expect("GET /list"));
    check_fault(SPANS, 0, "the file has no samples");
}

#[test]
fn many_spans_without_names_stand_together() {
    let spans = 65;
    let links: String = (0..spans)
        .map(|it| {
            format!(
                ",{{\"traceId\":\"{:032x}\",\"spanId\":\"{:016x}\"}}",
                1,
                it + 1
            )
        })
        .collect();
    let samples: Vec<String> = (1..=spans)
        .map(|it| format!("{{\"linkIndex\":{it},\"values\":[1]}}"))
        .collect();
    let json = format!(
        "{{\"resourceProfiles\":[{{\"scopeProfiles\":[{{\"profiles\":[{{\"samples\":[{}]}}]}}]}}],\"dictionary\":{{\"linkTable\":[{{}}{links}]}}}}",
        samples.join(",")
    );
    let profile = crate::read(json.as_bytes(), "x").expect("is whole");
    let text = crate::testing::text(&profile);
    assert!(
        text.contains("{spans without names};[no stack] 65\n"),
        "{text}"
    );
    assert_eq!(
        profile.notes,
        ["Samples link to 65 spans whose names are not in the file: they are shown together."]
    );
}

#[test]
fn links_of_protobuf_are_read_and_what_is_wrong_with_them_is_said() {
    let linked = |trace: &[u8], index: u8| {
        let sample = message(2, &[number(3, index), number(4, 7)]);
        let profiles = message(2, &[message(2, &[message(1, &[]), sample])]);
        let link = message(4, &[bytes(1, trace), bytes(2, &[1; 8])]);
        let dictionary = message(2, &[bytes(4, b""), link]);
        [message(1, &[bytes(1, b""), profiles]), dictionary].concat()
    };
    let profile = crate::read(&linked(&[2; 16], 1), "x").expect("is whole");
    let text = crate::testing::text(&profile);
    assert!(
        text.contains("{span 0101010101010101};[no stack] 7\n"),
        "{text}"
    );
    for (bytes, expect) in [
        (
            linked(&[2; 16], 2),
            "a sample names link 2, which the file does not have",
        ),
        (
            linked(&[2; 5], 1),
            "a link has an id of 5 bytes, expected 16",
        ),
    ] {
        let error = crate::read(&bytes, "x").expect_err(expect);
        assert_eq!(error.problem, expect);
        assert!(
            matches!(error.place, Some(fulcrum_model::Place::Byte(1..))),
            "{error}"
        );
    }
}
