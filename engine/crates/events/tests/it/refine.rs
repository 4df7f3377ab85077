//! Refining from logs: those with gates, and those without.

use crate::common::{create, define, open, payload_event, start};
use fulcrum_event_log::ThreadWriter;
use fulcrum_events::refine::{Measured, units};
use fulcrum_hotspot::Rule;
use fulcrum_wire::log::{Body, PayloadBuffer, kind};

/// Writes a method's event at a time, microseconds since the log's start; the CPU runs half of the time.
fn at(stream: &mut ThreadWriter, start: u64, us: u64, kind: u8, method: u32) {
    let ticks = start + us * 2000;
    assert!(stream.write(kind, ticks, Some(us * 500 + start), 0, Body::Method(method)));
}

fn sums(measured: &Measured) -> Vec<(&str, u64, u64, f64)> {
    let of = measured.methods.iter();
    of.map(|(name, sum)| {
        (
            &*name.name,
            sum.metered,
            sum.fired,
            (sum.cost / 1000.0).round(),
        )
    })
    .collect()
}

#[test]
fn a_trace_without_gates_is_measured_by_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, 1 << 20);
    drop(define(&log, 4));
    let mut stream = log.stream(2);
    start(&mut stream, "main");
    let begin = crate::common::now().ticks;
    for (us, kind, method) in [
        (100, kind::ENTER, 0),
        (110, kind::ENTER, 1),
        (150, kind::EXIT, 1),
        (160, kind::ENTER, 1),
        (170, kind::THROWN, 1),
        (200, kind::EXIT, 0),
        (300, kind::ENTER, 0),
        (310, kind::EXIT, 0),
    ] {
        at(&mut stream, begin, us, kind, method);
    }
    drop(stream);
    crate::common::TICKS.fetch_add(1_000_000, std::sync::atomic::Ordering::Relaxed);
    log.finish();
    let trace = open(&path);
    for (rule, expect) in [
        (
            "wall >= 1us after 1",
            [("m0", 2, 2, 60.0), ("m1", 2, 2, 50.0)],
        ),
        (
            "cumulative wall >= 1us after 1",
            [("m0", 2, 2, 110.0), ("m1", 2, 2, 50.0)],
        ),
    ] {
        let mut measured = Measured::default();
        measured.add(&trace, &Rule::parse(rule).unwrap());
        assert_eq!(sums(&measured), expect, "{rule}");
    }
    let found = units(&trace, "shop.Cart.m0").expect("units");
    // Of two the second is warm.
    assert_eq!((found.count, (found.wall_ns / 1000.0).round()), (2, 10.0));
    assert_eq!(units(&trace, "shop.Cart.m3"), None);
    assert_eq!(units(&trace, "shop.Carts.m0"), None);
}

#[test]
fn the_agents_sums_count_when_they_are_by_the_same_rule() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, 1 << 20);
    let mut dictionary = define(&log, 4);
    let rule = Rule::default();
    let text = PayloadBuffer::default().text(&rule.to_string());
    payload_event(&mut dictionary, kind::RULE, &text);
    for (method, metered, passed, cost) in [(0, 9, 0, 1), (0, 1000, 70, 5_000_000), (1, 0, 0, 0)] {
        let counts = PayloadBuffer::default().number(method).number(metered);
        let counts = counts.number(passed).number(cost).number(1);
        payload_event(&mut dictionary, kind::COUNTS, &counts);
    }
    drop(dictionary);
    log.finish();
    let trace = open(&path);
    let mut measured = Measured::default();
    measured.add(&trace, &rule);
    // The last record of a method counts, and methods that were not called are there.
    assert_eq!(
        sums(&measured),
        [("m0", 1000, 1070, 5.0), ("m1", 0, 0, 0.0)]
    );
    assert!(trace.counts[&0].off);
    measured.add(&trace, &rule);
    assert_eq!(
        (measured.runs, measured.fired(), measured.classes()),
        (2, 1070, 1)
    );
    let mut other = Measured::default();
    other.add(&trace, &Rule::parse("cpu >= 1us").unwrap());
    assert_eq!(sums(&other), []);
}
