//! Queries, search, timelines, folding, queues and comparison, on small logs whose answers are known.

mod common;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use common::{Random, define, open, start};
use fulcrum_event_log::{Log, Moment, Options, Stream};
use fulcrum_events::compare::{Change, compare};
use fulcrum_events::query::{Cell, Condition, Query};
use fulcrum_events::queues::{QueueError, queue};
use fulcrum_events::{Indexed, Scope, State, Trace, View, Where, fold};
use fulcrum_wire::log::{Body, DICTIONARY, PayloadBuffer, cpu_clock, kind};

const YES: &dyn Fn() -> bool = &|| true;

/// A log whose ticks are nanoseconds, and start at 0.
fn create(path: &Path) -> Arc<Log> {
    fn zero() -> Moment {
        Moment::default()
    }
    let options = Options {
        limit: 1 << 30,
        pid: 1,
        unix_ns: 0,
        cpu_clock: cpu_clock::RUNS,
        now: zero,
    };
    Log::create(path, &options).unwrap()
}

struct Writer(Stream);

impl Writer {
    fn new(log: &Arc<Log>, thread: u32, name: &str) -> Writer {
        let mut stream = log.stream(thread);
        let payload = PayloadBuffer::default()
            .number(0)
            .number(0)
            .text(name)
            .text("main");
        stream.write(
            kind::THREAD_START,
            0,
            None,
            0,
            Body::Payload(payload.as_bytes()),
        );
        Writer(stream)
    }

    fn enter(&mut self, at: u64, method: u32) {
        assert!(self.0.write(kind::ENTER, at, None, 0, Body::Method(method)));
    }

    fn exit(&mut self, at: u64, method: u32) {
        assert!(self.0.write(kind::EXIT, at, None, 0, Body::Method(method)));
    }

    fn call(&mut self, from: u64, to: u64, method: u32) {
        self.enter(from, method);
        self.exit(to, method);
    }

    fn thrown(&mut self, from: u64, to: u64, method: u32) {
        self.enter(from, method);
        assert!(
            self.0
                .write(kind::THROWN, to, None, 0, Body::Method(method))
        );
    }

    fn contended(&mut self, from: u64, to: u64, object: u64) {
        let payload = PayloadBuffer::default().number(object).number(3);
        for (kind, at) in [(kind::CONTENDED_ENTER, from), (kind::CONTENDED_ENTERED, to)] {
            self.0
                .write(kind, at, None, 0, Body::Payload(payload.as_bytes()));
        }
    }
}

fn name_methods(log: &Arc<Log>, methods: &[(u32, &str, &str)]) {
    let mut stream = log.stream(DICTIONARY);
    for (id, class, name) in methods {
        let payload = PayloadBuffer::default()
            .number(u64::from(*id))
            .text(class)
            .text(name)
            .text("()V")
            .text("")
            .number(0);
        stream.write(
            kind::DEFINE_METHOD,
            0,
            None,
            0,
            Body::Payload(payload.as_bytes()),
        );
    }
    let payload = PayloadBuffer::default().number(3).text("shop.Lock");
    stream.write(
        kind::DEFINE_CLASS,
        0,
        None,
        0,
        Body::Payload(payload.as_bytes()),
    );
}

/// A trace of what `write` writes.
fn trace(write: impl FnOnce(&Arc<Log>)) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path);
    write(&log);
    log.finish();
    let bytes = std::fs::read(&path).unwrap();
    let trace = Trace::from_bytes(bytes).unwrap();
    assert_eq!(trace.notes, [""; 0]);
    trace
}

/// Two workers: 2 calls of `serve`, in them `parse` (100 ns) and a contention (300 ns); and a `main` that waits.
fn shop() -> Trace {
    trace(|log| {
        name_methods(
            log,
            &[
                (1, "shop.Server", "serve"),
                (2, "shop.Parser", "parse"),
                (3, "shop.Main", "run"),
            ],
        );
        let mut main = Writer::new(log, 2, "main");
        main.call(0, 10_000, 3);
        for (thread, name) in [(3, "worker-1"), (4, "worker-2")] {
            let mut worker = Writer::new(log, thread, name);
            for n in 0..2 {
                let at = 1000 + 4000 * n;
                worker.enter(at, 1);
                worker.call(at + 100, at + 200, 2);
                worker.contended(at + 300, at + 600, 77);
                worker.exit(at + 1000 * u64::from(thread), 1);
            }
        }
    })
}

/// A query's table, cells separated by spaces.
fn table(trace: &Trace, query: &str) -> Vec<String> {
    let query = Query::parse(query).unwrap_or_else(|error| panic!("{error}"));
    let mut rows = Vec::new();
    let mut show = |cells: &[Cell]| {
        let cells = cells.iter().map(|cell| match cell {
            Cell::Nothing => "-".into(),
            Cell::Text(text) => text.clone(),
            Cell::Whole(number) => number.to_string(),
            Cell::Real(number) => format!("{number:.1}"),
        });
        rows.push(cells.collect::<Vec<String>>().join(" "));
        ControlFlow::Continue(())
    };
    query.run(trace, &Scope::default(), YES, &mut show).unwrap();
    rows
}

#[test]
fn queries_answer() {
    let trace = shop();
    for (query, expect) in [
        (
            "method = \"shop.Server.serve\" and wall > 3us select thread, start, wall, self",
            &["worker-2 1000 4000 3600", "worker-2 5000 4000 3600"][..],
        ),
        (
            "method ~ \"^shop\\.P\" and thread = \"worker-1\" select start, cpu, parent, depth",
            &[
                "1100 100 shop.Server.serve 1",
                "5100 100 shop.Server.serve 1",
            ],
        ),
        (
            "kind = call group by method select count, sum(wall), mean(self), p50(wall), max(wall)",
            &[
                "shop.Server.serve 4 14000 3100.0 3000 4000",
                "shop.Main.run 1 10000 10000.0 10000 10000",
                "shop.Parser.parse 4 400 100.0 100 100",
            ],
        ),
        (
            "inside ~ serve group by kind, role select count order by count asc",
            &["call worker-# 4", "contended worker-# 4"],
        ),
        (
            "kind = contended select class, object, wall limit 1",
            &["shop.Lock 77 300"],
        ),
        (
            "kind in (contended, call) and not name = run select count",
            &["12"],
        ),
        (
            "kind = call group by bucket(start, 5us) select count",
            &["0 5", "5000 4"],
        ),
        (
            "order by wall limit 2 select what, wall",
            &["shop.Main.run 10000", "shop.Server.serve 4000"],
        ),
        (
            "kind = threadStart select thread order by thread desc",
            &["worker-2", "worker-1", "main"],
        ),
        ("wall > 1s select count, max(wall)", &["0 -"]),
        (
            "where tid = 3 or tid = 4 group by thread select stddev(wall), min(wall)",
            &["worker-2 1793.2 100", "worker-1 1322.5 100"],
        ),
    ] {
        assert_eq!(table(&trace, query), expect, "{query}");
    }
}

#[test]
fn what_is_wrong_with_a_query_is_shown_where_it_is() {
    for (query, at, message) in [
        ("metod = x", 0, "did you mean method?"),
        ("wall > 1", 7, "give it a unit"),
        ("wall > 1ns and", 14, "expected a condition, found the end"),
        ("method ~ \"(\"", 9, "no regular expression"),
        ("method > 1ms", 7, "method is a text"),
        ("wall ~ x", 5, "wall is a number"),
        ("name = \"x", 7, "no closing"),
        ("(wall > 1ms", 11, "expected \")\""),
        ("wall > 1parsec", 7, "no unit"),
        ("kind = cal", 7, "kind is one of call"),
        ("group by wall > 3", 14, "expected and, or, group by"),
        ("group by method select wall", 23, "differs within a group"),
        (
            "group by method select sum(thread)",
            27,
            "cannot be added up",
        ),
        ("group by method order by cpu", 25, "there is no column cpu"),
        ("group by inside", 9, "group by parent"),
        ("select p101(wall)", 7, "none of count"),
        ("limit 0", 6, "how many rows"),
        ("limit 1 limit 2", 8, "there twice"),
        ("name = é # x", 10, "'#' means nothing"),
    ] {
        let error = Query::parse(query)
            .err()
            .unwrap_or_else(|| panic!("{query} is accepted"));
        assert!(
            error.message.contains(message),
            "{query}: {}",
            error.message
        );
        assert_eq!(error.at, at, "{query}: {error}");
        let caret = error.to_string().lines().last().unwrap().chars().count();
        assert_eq!(caret, query[..at].chars().count() + 3, "{error}");
    }
}

#[test]
fn a_search_goes_on_where_it_ended_wherever_checkpoints_are() {
    let trace = shop();
    for interval in [1, 3, 1000] {
        let index = fulcrum_events::Index::with_interval(&trace, interval, &mut |_| true).unwrap();
        let of = Indexed {
            trace: shop(),
            index,
        };
        let all = |text: &str, part: &Where, page: usize| {
            let condition = Condition::parse(text).unwrap();
            let (mut hits, mut from) = (Vec::new(), None);
            loop {
                let found = of.search(&condition, part, from, page, YES).unwrap();
                assert!(found.hits.len() <= page);
                hits.extend(found.hits);
                from = found.next;
                if from.is_none() {
                    return hits;
                }
            }
        };
        let whole = Where::default();
        let hits = all("kind = call", &whole, 2);
        let places: Vec<_> = hits.iter().map(|it| (it.row.thread, it.row.node)).collect();
        assert_eq!(places.len(), 9);
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(hits, all("kind = call", &whole, 100));
        let parse = &all("name = parse and tid = 4", &whole, 1)[1];
        assert_eq!((parse.above.len(), parse.row.start_ns), (1, 5100));
        let (serve, position) = parse.above[0];
        // The row of the thread's beginning is the first.
        assert_eq!(position, 2);
        let part = Where {
            thread: Some(4),
            node: Some(serve),
            ..whole
        };
        let inside: Vec<_> = all("kind != gc", &part, 1)
            .iter()
            .map(|it| it.row.start_ns)
            .collect();
        assert_eq!(inside, [5000, 5100, 5300]);
        let part = Where {
            from_ns: 5000,
            to_ns: 5100,
            ..whole
        };
        assert_eq!(all("", &part, 10).len(), 2);
    }
}

#[test]
fn timelines_say_what_most_of_a_pixel_was() {
    let trace = shop();
    let of = Indexed::new(trace, &mut |_| true).unwrap();
    let view = |left_ns, right_ns, width, depths| View {
        left_ns,
        right_ns,
        width,
        depths,
    };
    let lane = of.lane(3, &view(1000, 2000, 10, 2), YES).unwrap().unwrap();
    let states: Vec<_> = lane
        .states
        .iter()
        .map(|it| (it.from_ns, it.to_ns, it.state))
        .collect();
    assert_eq!(
        states,
        [
            (1000, 1300, State::Running),
            (1300, 1600, State::Contended),
            (1600, 2000, State::Running)
        ]
    );
    let bars: Vec<_> = lane
        .calls
        .iter()
        .map(|it| (it.start_ns, it.end_ns, it.depth))
        .collect();
    // `parse` is one pixel wide.
    assert_eq!(bars, [(1000, 4000, 0), (1300, 1600, 1)]);
    assert_eq!(lane.levels, 2);
    // From far away a contention of 300 ns in 10 µs is none; the thread is not there at the end.
    let lane = of.lane(3, &view(0, 20_000, 2, 0), YES).unwrap().unwrap();
    let states: Vec<_> = lane
        .states
        .iter()
        .map(|it| (it.from_ns, it.to_ns, it.state))
        .collect();
    assert_eq!(states, [(0, 8000, State::Running)]);
    assert!(lane.calls.is_empty());
    assert!(of.lane(9, &view(0, 1, 1, 0), YES).unwrap().is_none());
}

#[test]
fn timelines_are_the_same_from_the_index_and_from_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = common::create(&path, 1 << 30);
    drop(define(&log, 5));
    let mut stream = log.stream(2);
    start(&mut stream, "busy");
    let mut random = Random(3);
    let payload = PayloadBuffer::default().number(7).number(1);
    for _ in 0..20_000 {
        let long = random.below(40) == 0;
        let kinds = match random.below(2) {
            0 => [kind::CONTENDED_ENTER, kind::CONTENDED_ENTERED],
            _ => [kind::ENTER, kind::EXIT],
        };
        for kind in kinds {
            let at = common::TICKS.fetch_add(
                if long { 400 } else { 2 }
                    * if kind == kind::CONTENDED_ENTER {
                        60
                    } else {
                        10
                    },
                std::sync::atomic::Ordering::Relaxed,
            );
            let body = match kind {
                kind::ENTER | kind::EXIT => Body::Method(1),
                _ => Body::Payload(payload.as_bytes()),
            };
            stream.write(kind, at, None, 0, body);
        }
    }
    drop(stream);
    log.finish();
    let of = |interval| {
        let trace = open(&path);
        let index = fulcrum_events::Index::with_interval(&trace, interval, &mut |_| true).unwrap();
        Indexed { trace, index }
    };
    let (fine, whole) = (of(64), of(u64::MAX));
    let (start, end) = whole.index.range();
    // A pixel has the state that most of it is in, so that sums differ by a few pixels.
    for (width, allowed) in [(50, 0.05), (300, 0.05), (2000, 0.05)] {
        let view = View {
            left_ns: start,
            right_ns: end,
            width,
            depths: 3,
        };
        let [a, b] = [&fine, &whole].map(|it| it.lane(2, &view, YES).unwrap().unwrap());
        assert_eq!(a.calls, b.calls, "{width}");
        let contended = |lane: &fulcrum_events::Lane| -> u64 {
            let states = lane.states.iter().filter(|it| it.state == State::Contended);
            states.map(|it| it.to_ns - it.from_ns).sum()
        };
        let (a, b) = (contended(&a) as f64, contended(&b) as f64);
        assert!(
            b > 0.0 && (a - b).abs() <= allowed * (end - start) as f64,
            "{width}: {a} {b}"
        );
    }
}

#[test]
fn a_trace_is_folded_whole_by_thread_by_node_and_by_time() {
    let trace = shop();
    let tree = fold(&trace, &Scope::default(), YES).unwrap();
    assert_eq!(
        [tree.total(0), tree.total(1)],
        [13, 10_000 + 2 * 3000 + 2 * 4000]
    );
    let of = Indexed::new(trace, &mut |_| true).unwrap();
    let folded = |part: Where| {
        let tree = of.fold(&part, YES).unwrap();
        let names = |node| {
            tree.stack(node)
                .map(|it| tree.frame(it).name.clone())
                .collect::<Vec<_>>()
        };
        let mut paths: Vec<_> = (0..tree.len())
            .filter(|it| tree.values(0)[*it as usize] > 0)
            .map(|it| {
                let mut names = names(it);
                if tree.parents().len() > 1
                    && names.first().is_some_and(|it| it != "shop.Server.serve")
                {
                    names.reverse();
                }
                (
                    names.join(";"),
                    tree.values(0)[it as usize],
                    tree.values(1)[it as usize],
                )
            })
            .collect();
        paths.sort();
        paths
    };
    let serve = "shop.Server.serve".to_owned();
    let inside = |count: i64, own: i64| {
        vec![
            (serve.clone(), count, own),
            (format!("{serve};contended shop.Lock"), count, 300 * count),
            (format!("{serve};shop.Parser.parse"), count, 100 * count),
        ]
    };
    let of_thread = Where {
        thread: Some(3),
        ..Where::default()
    };
    assert_eq!(folded(of_thread), inside(2, 2 * 2600));
    let rows = of.children(3, None, 0, 9, YES).unwrap().unwrap();
    assert_eq!(
        folded(Where {
            node: Some(rows[2].node),
            ..of_thread
        }),
        inside(1, 2600)
    );
    assert_eq!(
        folded(Where {
            from_ns: 4000,
            ..of_thread
        }),
        inside(1, 2600)
    );
}

#[test]
fn what_a_filter_takes_out_is_gone_everywhere() {
    let mut trace = shop();
    let filter = "observe_method_invocations\nexcludemethod * parse";
    trace.set_filter(&fulcrum_events::Filter::parse(filter).unwrap());
    assert_eq!(
        table(&trace, "group by what select count, sum(self)"),
        [
            "shop.Server.serve 4 14000",
            "shop.Main.run 1 10000",
            "- 0 0",
        ]
        .map(|it| it.replace("- 0 0", "- 3 -"))
    );
    let of = Indexed::new(trace, &mut |_| true).unwrap();
    assert_eq!(of.index.events, 3 + 2 + 8);
    let rows = of.children(3, None, 0, 9, YES).unwrap().unwrap();
    assert_eq!(
        (rows.len(), rows[1].children, rows[1].times.self_wall_ns),
        (3, 0, 3000)
    );
}

#[test]
fn traces_are_compared_by_role_and_path() {
    let before = shop();
    let after = trace(|log| {
        // Other numbers for the same methods, other threads, and `parse` is twice as slow; `main` is gone.
        name_methods(
            log,
            &[
                (8, "shop.Server", "serve"),
                (9, "shop.Parser", "parse"),
                (7, "shop.Cache", "get"),
            ],
        );
        for thread in 5..8 {
            let mut worker = Writer::new(log, thread, &format!("worker-{thread}"));
            worker.enter(1000, 8);
            worker.call(1100, 3300, 9);
            worker.call(3400, 3450, 7);
            worker.exit(4500, 8);
        }
    });
    let found = compare(&after, &before, &|_| true).unwrap();
    let roles: Vec<_> = found
        .roles
        .iter()
        .map(|it| (&*it.name, it.a, it.b))
        .collect();
    assert_eq!(roles, [("main", 0, 1), ("worker-#", 3, 2)]);
    let rows: Vec<_> = found
        .rows
        .iter()
        .map(|it| {
            (
                it.path.join(";"),
                it.change,
                it.self_wall_ns(),
                it.a.map(|a| a.count),
                it.b.map(|b| b.count),
            )
        })
        .collect();
    let serve = "shop.Server.serve";
    let expect = [
        (
            "shop.Main.run".to_owned(),
            Change::Vanished,
            -10_000,
            None,
            Some(1),
        ),
        (
            serve.to_owned(),
            Change::Count,
            3 * 1250 - 2 * 2600 - 2 * 3600,
            Some(3),
            Some(4),
        ),
        (
            format!("{serve};shop.Parser.parse"),
            Change::Slower,
            3 * 2200 - 400,
            Some(3),
            Some(4),
        ),
        (
            format!("{serve};contended shop.Lock"),
            Change::Vanished,
            -1200,
            None,
            Some(4),
        ),
        (
            format!("{serve};shop.Cache.get"),
            Change::Appeared,
            150,
            Some(3),
            None,
        ),
    ];
    assert_eq!(rows, expect);
    let same = compare(&before, &before, &|_| true).unwrap();
    assert!(
        same.rows
            .iter()
            .all(|it| it.change == Change::Same && it.self_wall_ns() == 0)
    );
    assert!(
        compare(&after, &before, &|_| false).is_ok(),
        "too small to be asked"
    );
}

const PUT: u32 = 1;
const TAKE: u32 = 2;

fn pool(log: &Arc<Log>) {
    name_methods(
        log,
        &[
            (PUT, "orb.ThreadPool", "add"),
            (TAKE, "orb.ThreadPool", "get"),
            (3, "orb.Servant", "ping"),
        ],
    );
}

/// A queue with several receivers and dispatchers, simulated; every request's true times are known.
#[test]
fn a_replayed_queue_is_the_simulated_one() {
    for seed in 1..40 {
        let mut random = Random(seed);
        let (receivers, dispatchers) = (1 + random.below(3), 1 + random.below(4));
        let mut arrivals: Vec<(u64, u64)> = Vec::new();
        let mut free = vec![0; receivers as usize];
        let mut at = 0;
        for _ in 0..300 {
            // Even times for puts, odd ones for takes: no two things happen at once.
            at += 2 + 2 * random.below(450);
            let receiver = random.below(receivers);
            // A receiver puts one request after another; puts return in the order of arrivals.
            if free[receiver as usize] < at {
                free[receiver as usize] = at + 1;
                arrivals.push((at, receiver));
            }
        }
        // Whoever is idle first takes the next request: entries, returns, and which dispatcher.
        let mut idle: Vec<u64> = vec![0; dispatchers as usize];
        let mut served = Vec::new();
        for (arrival, _) in &arrivals {
            let dispatcher = (0..idle.len()).min_by_key(|it| (idle[*it], *it)).unwrap();
            let entered = idle[dispatcher];
            let last = served.last().map_or(0, |it: &(u64, u64, usize, u64)| it.1);
            let dispatch = entered.max(*arrival + 1).max(last + 1) | 1;
            let finish = dispatch + 1 + random.below(1500);
            served.push((entered, dispatch, dispatcher, finish));
            idle[dispatcher] = finish;
        }
        let trace = trace(|log| {
            pool(log);
            for receiver in 0..receivers {
                let mut writer = Writer::new(log, 2 + receiver as u32, "Receiver");
                for (arrival, _) in arrivals.iter().filter(|it| it.1 == receiver) {
                    writer.call(arrival.saturating_sub(1), *arrival, PUT);
                }
            }
            for (dispatcher, last) in idle.iter().enumerate() {
                let mut writer = Writer::new(log, 20 + dispatcher as u32, "Dispatcher");
                for (entered, dispatch, _, finish) in served.iter().filter(|it| it.2 == dispatcher)
                {
                    writer.call(*entered, *dispatch, TAKE);
                    writer.call(*dispatch, *finish, 3);
                }
                // It waits for one more, which never comes.
                writer.enter(*last, TAKE);
            }
        });
        let found = queue(
            &trace,
            &Scope::default(),
            "ThreadPool.add",
            "orb.*.get",
            YES,
        )
        .unwrap();
        assert_eq!(
            (found.requests.len(), &found.notes[..]),
            (arrivals.len(), &[][..]),
            "seed {seed}"
        );
        let mut length_max = 0;
        for ((request, (arrival, receiver)), (_, dispatch, dispatcher, finish)) in
            found.requests.iter().zip(&arrivals).zip(&served)
        {
            let take = request.take.unwrap();
            assert_eq!(
                (request.put_thread, request.enqueue_ns),
                (2 + *receiver as u32, *arrival),
                "seed {seed}"
            );
            assert_eq!(
                (take.thread, take.dispatch_ns, take.finish_ns),
                (20 + *dispatcher as u32, *dispatch, Some(*finish))
            );
            assert_eq!(request.wait_ns(), Some(dispatch - arrival));
            assert!(request.sure);
            let there = |at: u64| {
                let put = arrivals.iter().filter(|it| it.0 <= at).count();
                put as u64 - served.iter().filter(|it| it.1 <= at).count() as u64
            };
            assert_eq!(
                (take.length, request.put_length),
                (there(*dispatch), there(*arrival)),
                "seed {seed}"
            );
            length_max = length_max.max(request.put_length);
        }
        let summary = found.summary();
        let mean = served
            .iter()
            .zip(&arrivals)
            .map(|(a, b)| (a.1 - b.0) as f64)
            .sum::<f64>()
            / 1e9
            / served.len() as f64;
        assert!((summary.wait_mean.unwrap() - mean).abs() < 1e-12);
        assert_eq!(
            (summary.put, summary.taken, summary.length_max),
            (
                300.min(arrivals.len() as u64),
                arrivals.len() as u64,
                length_max
            )
        );
    }
}

#[test]
fn what_is_no_plain_queue_is_said() {
    let second = 1_000_000_000;
    let empty = trace(|log| {
        pool(log);
        let mut put = Writer::new(log, 2, "Receiver");
        put.thrown(0, 10, PUT);
        put.call(500, 600, PUT);
        let mut take = Writer::new(log, 3, "Dispatcher");
        take.call(20, 30, TAKE);
        // It has the request before the put has returned.
        take.call(40, 550, TAKE);
        take.thrown(700, 800, TAKE);
    });
    let found = queue(&empty, &Scope::default(), "*.add", "*.get", YES).unwrap();
    assert_eq!(
        (found.empty_takes, found.thrown, found.requests.len()),
        (1, 2, 1)
    );
    assert_eq!(
        (found.requests[0].wait_ns(), found.requests[0].enqueue_ns),
        (Some(0), 550)
    );
    assert_eq!(found.requests[0].take.unwrap().finish_ns, Some(700));
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);

    // The second request was rejected: its dispatcher waits for seconds beside a queue that seems to hold one.
    let rejected = trace(|log| {
        pool(log);
        let mut put = Writer::new(log, 2, "Receiver");
        put.call(0, 10, PUT);
        put.call(20, 30, PUT);
        put.call(5 * second, 5 * second + 10, PUT);
        let mut take = Writer::new(log, 3, "Dispatcher");
        take.call(5, 11, TAKE);
        take.call(40, 5 * second + 20, TAKE);
        take.enter(5 * second + 30, TAKE);
    });
    let found = queue(&rejected, &Scope::default(), "*.add", "*.get", YES).unwrap();
    let sure: Vec<_> = found.requests.iter().map(|it| it.sure).collect();
    assert_eq!(sure, [true, false, false]);
    assert!(
        found.notes[0].starts_with("From request 2 on requests cannot be told apart"),
        "{:?}",
        found.notes
    );
    assert!(
        found.notes[1].contains("1 requests were never taken"),
        "{:?}",
        found.notes
    );
    let cells = found.cells();
    assert_eq!(
        (
            cells[&(3, 1)].number,
            cells[&(3, 1)].length,
            cells[&(3, 1)].wait_ns
        ),
        (Some(1), 0, Some(1))
    );
    assert_eq!(cells[&(3, 3)].number, None);

    let error = queue(&empty, &Scope::default(), "Pool.push", "*.get", YES).unwrap_err();
    assert_eq!(error, QueueError::NoSuchMethod("Pool.push".into(), vec![]));
    let error = queue(&empty, &Scope::default(), "Add", "*.get", YES).unwrap_err();
    assert!(
        error.to_string().contains("it has orb.ThreadPool.add"),
        "{error}"
    );
    let error = queue(&empty, &Scope::default(), "orb.*", "*.get", YES).unwrap_err();
    assert_eq!(error, QueueError::Both("orb.ThreadPool.get".into()));
}
