//! What the index answers is what reading everything gives, wherever its checkpoints are.

use std::path::Path;

use fulcrum_model::{Cancelled, Progress};

use crate::common::{create, define, now, open, random_event, start};
use fulcrum_events::{Cost, Hit, Index, Indexed, Outcome, Row, RowWhat, Stack};
use fulcrum_stats::Random;
use fulcrum_wire::log::{Body, PayloadBuffer, kind};

/// Three threads: one that calls deeply, one whose events make little sense, one with few long calls.
fn write(path: &Path) {
    let log = create(path, 1 << 30);
    drop(define(&log, 5));
    let mut random = Random::new(77);
    let mut deep = log.stream(2);
    start(&mut deep, "deep");
    let mut stack = Vec::new();
    for _ in 0..500 {
        let up = stack.len() < 40 && random.below(100) < 52;
        if up || stack.is_empty() {
            let method = random.below(5) as u32;
            stack.push(method);
            deep.write(kind::ENTER, now().ticks, None, 0, Body::Method(method));
        } else if random.below(10) == 0 {
            let payload = PayloadBuffer::default().number(7).number(1).number(0);
            for kind in [kind::WAIT, kind::WAITED] {
                deep.write(
                    kind,
                    now().ticks,
                    None,
                    0,
                    Body::Payload(payload.as_bytes()),
                );
            }
        } else {
            let method = stack.pop().unwrap();
            deep.write(kind::EXIT, now().ticks, None, 1, Body::Method(method));
        }
    }
    let mut wild = log.stream(3);
    start(&mut wild, "wild");
    for _ in 0..200 {
        random_event(&mut wild, &mut random);
    }
    let mut calm = log.stream(4);
    start(&mut calm, "calm");
    calm.write(kind::ENTER, now().ticks, None, 0, Body::Method(0));
    for _ in 0..100 {
        calm.write(kind::ENTER, now().ticks, None, 0, Body::Method(1));
        calm.write(kind::EXIT, now().ticks, None, 0, Body::Method(1));
    }
    calm.write(kind::EXIT, now().ticks, None, 0, Body::Method(0));
    drop((deep, wild, calm));
    log.set_costs(200, 300, 100);
    log.finish();
}

fn indexed(path: &Path, interval: u64) -> Indexed {
    let trace = open(path);
    let index = Index::with_interval(&trace, interval, &Progress::default()).unwrap();
    Indexed { trace, index }
}

/// All rows of a thread, parents first, read by pages of three.
fn rows(of: &Indexed, thread: u32, node: Option<u64>, into: &mut Vec<Row>) {
    let total = of
        .count(thread, node, &Progress::default())
        .unwrap()
        .unwrap();
    let mut from = 0;
    while from < total {
        let page = of
            .children(thread, node, from, 3, &Progress::default())
            .unwrap()
            .unwrap();
        assert_eq!(
            page.len() as u64,
            (total - from).min(3),
            "{thread} {node:?} {from}"
        );
        for row in page {
            assert_eq!(row.position, from);
            from += 1;
            let below = (row.children > 0).then_some(row.node);
            into.push(row);
            if below.is_some() {
                rows(of, thread, below, into);
            }
        }
    }
}

fn all(of: &Indexed) -> Vec<Row> {
    let mut rows = Vec::new();
    for thread in &of.trace.threads {
        self::rows(of, thread.id, None, &mut rows);
    }
    rows
}

#[test]
fn rows_are_the_same_wherever_checkpoints_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    write(&path);
    let whole = all(&indexed(&path, u64::MAX));
    assert!(whole.iter().any(|row| row.depth > 15 && row.probes_ns > 0));
    // Every call and wait is there, with the times that the stack gives it.
    let trace = open(&path);
    for thread in &trace.threads {
        let mut expect: Vec<Outcome> = Vec::new();
        let mut stack = Stack::new(trace.costs);
        for event in trace.thread_events(thread.id) {
            stack.event(&event, |it| expect.push(it));
        }
        stack.finish(|it| expect.push(it));
        expect.sort_by_key(|it| it.serial);
        let seen: Vec<_> = whole
            .iter()
            .filter(|it| it.thread == thread.id)
            .filter_map(|row| match row.what {
                RowWhat::Span(node) => Some((node, row.depth, row.times, row.closing)),
                RowWhat::Point(_) => None,
            })
            .collect();
        let expect: Vec<_> = expect
            .iter()
            .map(|it| (it.node, it.depth as u32, it.times, it.closing))
            .collect();
        assert_eq!(seen, expect, "thread {}", thread.id);
    }
    for interval in [1, 2, 7, 64, 500] {
        let of = indexed(&path, interval);
        assert!(all(&of) == whole, "every {interval}");
    }
}

#[test]
fn a_row_is_found_by_its_node_and_knows_what_it_is_inside_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    write(&path);
    let of = indexed(&path, 16);
    for row in all(&of) {
        let Hit { row: found, above } = of
            .row(row.thread, row.node, &Progress::default())
            .unwrap()
            .unwrap();
        assert_eq!(found, row);
        assert_eq!(above.len() as u32, row.depth);
        let mut node = None;
        for (next, position) in above {
            let one = of
                .children(row.thread, node, position, 1, &Progress::default())
                .unwrap()
                .unwrap();
            assert_eq!(one[0].node, next);
            node = Some(next);
        }
        let own = of
            .children(row.thread, node, row.position, 1, &Progress::default())
            .unwrap()
            .unwrap();
        assert_eq!(own[0], row);
    }
    assert_eq!(of.row(2, 1 << 40, &Progress::default()).unwrap(), None);
    assert_eq!(
        of.children(9, None, 0, 1, &Progress::default()).unwrap(),
        None
    );
    // The first event of thread 3 that ends something is no row.
    assert_eq!(
        of.children(3, Some(1 << 40), 0, 1, &Progress::default())
            .unwrap(),
        None
    );
}

#[test]
fn siblings_by_cost_are_all_siblings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    write(&path);
    let of = indexed(&path, 16);
    let by_time = of
        .children(4, Some(1), 0, 1000, &Progress::default())
        .unwrap()
        .unwrap();
    let mut dear = of
        .dearest(4, Some(1), Cost::Wall, &Progress::default())
        .unwrap()
        .unwrap();
    assert_eq!(dear.len(), 100);
    assert!(dear.is_sorted_by_key(|row| std::cmp::Reverse(row.times.wall_ns)));
    dear.sort_by_key(|row| row.position);
    assert_eq!(dear, by_time);
}

#[test]
fn pages_are_read_from_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, 1 << 30);
    drop(define(&log, 1));
    let mut stream = log.stream(2);
    for _ in 0..100_000 {
        stream.write(kind::ENTER, now().ticks, None, 0, Body::Method(0));
        stream.write(kind::EXIT, now().ticks, None, 0, Body::Method(0));
    }
    drop(stream);
    log.finish();
    let trace = open(&path);
    let of = Indexed::new(trace, &Progress::default()).unwrap();
    let cancelled = Progress::default();
    cancelled.cancel();
    assert_eq!(of.dearest(2, None, Cost::Wall, &cancelled), Err(Cancelled));
    // The last page is there before anybody looks: it needs no more than the events behind the last checkpoint.
    let page = of.children(2, None, 99_990, 100, &cancelled);
    assert_eq!(page.unwrap().unwrap().len(), 10);
}
