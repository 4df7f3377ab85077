//! Arguments and results of calls, wherever rows are read.

use std::ops::ControlFlow;

use fulcrum_events::query::{Cell, Condition, Query};
use fulcrum_events::{CallValues, Index, Indexed, Row, Trace, TraceRange, Where};
use fulcrum_model::Progress;
use fulcrum_wire::log::{PayloadBuffer, Value, kind};

use crate::common::shop::{self, Writer};

const TEXT: Value<'_> = Value::Text {
    bytes: b"figs\xff",
    cut: true,
};

/// `outer(7)` with a thousand calls `add(n, "figs…", …)` inside, every tenth left by an exception; it returns a class.
fn trace() -> Trace {
    shop::trace(|log| {
        shop::name_methods(
            log,
            &[
                (1, "shop.Cart", "outer"),
                (2, "shop.Cart", "add"),
                (3, "shop.Cart", "plain"),
            ],
        );
        let mut stream = Writer::new(log, 2, "main");
        stream.enter_with(1, 1, 1, &[Value::Integer(-7)]);
        for n in 0..1000_u64 {
            let at = 10 + 10 * n;
            stream.enter_with(at, 2, 3, &[Value::Unsigned(n), TEXT]);
            stream.call(at + 1, at + 2, 3);
            match n % 10 {
                9 => stream.throws(at + 5, 2),
                _ => stream.exit_with(at + 5, 2, &Value::Double((n as f64 / 4.0).to_bits())),
            }
        }
        stream.exit_with(20_000, 1, &Value::Object(3));
    })
}

fn indexed(interval: u64) -> Indexed {
    let trace = trace();
    let index = Index::with_interval(&trace, interval, &Progress::default()).unwrap();
    Indexed { trace, index }
}

fn shown(indexed: &Indexed, row: &Row) -> String {
    let values = indexed.values_of(row);
    values.map_or_else(String::new, |it| it.shown(&indexed.trace))
}

#[test]
fn rows_have_their_values_wherever_checkpoints_are() {
    for interval in [1, 2, 3, 5, 7, 64, 100_000] {
        let indexed = indexed(interval);
        let progress = Progress::default();
        let top = indexed
            .children(2, None, 0, 10, &progress)
            .unwrap()
            .unwrap();
        let outer = top.iter().find(|row| row.method().is_some()).unwrap();
        assert_eq!(shown(&indexed, outer), "(-7) → shop.Lock", "{interval}");
        let calls = indexed.children(2, Some(outer.node), 0, 5000, &progress);
        let calls = calls.unwrap().unwrap();
        assert_eq!(calls.len(), 1000, "{interval}");
        for (n, row) in calls.iter().enumerate() {
            let given = format!("({n}, \"figs\u{fffd}\"…, …)");
            let expect = match n % 10 {
                9 => given,
                _ => format!("{given} → {:?}", n as f64 / 4.0),
            };
            assert_eq!(shown(&indexed, row), expect, "{interval}");
            let inside = indexed.children(2, Some(row.node), 0, 9, &progress);
            let inside = inside.unwrap().unwrap();
            assert_eq!(
                (inside.len(), shown(&indexed, &inside[0])),
                (1, String::new())
            );
        }
    }
}

#[test]
fn searches_and_queries_know_values() {
    for interval in [1, 50, 100_000] {
        let indexed = indexed(interval);
        let find = |condition: &str| {
            let condition = Condition::parse(condition).unwrap();
            let part = Where::default();
            let found = indexed.search(&condition, &part, None, 5000, &Progress::default());
            found.unwrap().hits.len()
        };
        assert_eq!(find("returned = \"2.5\""), 1, "{interval}");
        assert_eq!(find("returned = shop.Lock"), 1, "{interval}");
        assert_eq!(find("arguments ~ \"^99[0-9],\""), 10, "{interval}");
        assert_eq!(
            find("arguments ~ figs and not returned ~ \".\""),
            100,
            "{interval}"
        );
    }
    let trace = trace();
    let answers = |query: &str| {
        let query = Query::parse(query).unwrap();
        let mut rows = Vec::new();
        let scope = TraceRange::default();
        let mut show = |cells: &[Cell]| {
            rows.push(cells.to_vec());
            ControlFlow::Continue(())
        };
        query
            .run(&trace, &scope, &Progress::default(), &mut show)
            .unwrap();
        rows
    };
    let text = |text: &str| Cell::Text(text.to_owned());
    assert_eq!(
        answers("method ~ outer select name, arguments, returned"),
        [[text("outer"), text("-7"), text("shop.Lock")]]
    );
    // Nothing is a group of its own.
    let groups = answers(
        "name in (add, plain) and depth < 3 group by returned select count order by count desc limit 2",
    );
    assert_eq!(
        groups,
        [
            [Cell::Nothing, Cell::Whole(1100)],
            [text("0.0"), Cell::Whole(1)]
        ]
    );
}

#[test]
fn a_value_of_an_unknown_type_and_damage_are_left_out() {
    let trace = shop::trace(|log| {
        shop::name_methods(log, &[(1, "shop.Cart", "add")]);
        let mut stream = Writer::new(log, 2, "main");
        stream.enter(1, 1);
        // A later version's type.
        let later = PayloadBuffer::default()
            .number(1)
            .number(1)
            .number(1)
            .number(77);
        stream.event(kind::ARGUMENTS, 1, &later);
        stream.exit_with(2, 1, &Value::Null);
        // What is told without a call, or behind another event, is nobody's.
        stream.exit_with(3, 1, &Value::Null);
        stream.enter(4, 1);
        stream.call(5, 6, 1);
        let late = PayloadBuffer::default().number(1).number(0).number(0);
        stream.event(kind::ARGUMENTS, 7, &late);
        stream.exit(8, 1);
    });
    let index = Index::build(&trace, &Progress::default()).unwrap();
    let indexed = Indexed { trace, index };
    let top = indexed
        .children(2, None, 0, 10, &Progress::default())
        .unwrap()
        .unwrap();
    let calls: Vec<_> = top.iter().filter(|it| it.method().is_some()).collect();
    let texts: Vec<_> = calls.iter().map(|row| shown(&indexed, row)).collect();
    assert_eq!(texts, [" → null", ""]);
    assert_eq!(CallValues::default().shown(&indexed.trace), "");
}
