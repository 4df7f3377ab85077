//! Queries, search, folding and comparison, on small logs whose answers are known.

use std::ops::ControlFlow;

use fulcrum_model::Progress;

use crate::common::shop::{Writer, name_methods, shop, trace};
use fulcrum_events::compare::{Change, compare};
use fulcrum_events::query::{Cell, Condition, Query};
use fulcrum_events::{Counts, Filter, Indexed, Trace, TraceRange, Where, fold};

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
    query
        .run(
            trace,
            &TraceRange::default(),
            &Progress::default(),
            &mut show,
        )
        .unwrap();
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
            // Of equal numbers the second column decides.
            "kind = call group by method select count order by count asc, method desc",
            &[
                "shop.Main.run 1",
                "shop.Server.serve 4",
                "shop.Parser.parse 4",
            ],
        ),
        (
            "kind = call and wall <= 100ns select what, wall order by what, start desc limit 1",
            &["shop.Parser.parse 100"],
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
        ("method ~ \"(\"", 9, "not a regular expression"),
        ("method > 1ms", 7, "method is a text"),
        ("wall ~ x", 5, "wall is a number"),
        ("name = \"x", 7, "no closing"),
        ("(wall > 1ms", 11, "expected \")\""),
        ("wall > 1parsec", 7, "no unit"),
        ("kind = cal", 7, "kind is one of call"),
        ("group by wall > 3", 14, "expected and, or, group by"),
        ("group by method select wall", 23, "differs within a group"),
        (
            "group by method select method",
            23,
            "the rows are grouped by method, which is shown first anyway",
        ),
        (
            "group by thread select class",
            23,
            "class differs within a group: group by class, too",
        ),
        (
            "group by method order by count, cpu",
            32,
            "there is no column cpu",
        ),
        (
            "group by method select sum(thread)",
            27,
            "cannot be added up",
        ),
        ("group by method order by cpu", 25, "there is no column cpu"),
        ("group by inside", 9, "group by parent"),
        ("select p101(wall)", 7, "there is no function p101"),
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
        let index =
            fulcrum_events::Index::with_interval(&trace, interval, &Progress::default()).unwrap();
        let of = Indexed {
            trace: shop(),
            index,
        };
        let all = |text: &str, part: &Where, page: usize| {
            let condition = Condition::parse(text).unwrap();
            let (mut hits, mut from) = (Vec::new(), None);
            loop {
                let found = of
                    .search(&condition, part, from, page, &Progress::default())
                    .unwrap();
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
fn a_trace_is_folded_whole_by_thread_by_node_and_by_time() {
    let trace = shop();
    let tree = fold(&trace, &TraceRange::default(), &Progress::default()).unwrap();
    assert_eq!(
        [tree.total(0), tree.total(1)],
        [13, 10_000 + 2 * 3000 + 2 * 4000]
    );
    let of = Indexed::new(trace, &Progress::default()).unwrap();
    let folded = |part: Where| {
        let tree = of.fold(&part, &Progress::default()).unwrap();
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
    let rows = of
        .children(3, None, 0, 9, &Progress::default())
        .unwrap()
        .unwrap();
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
    let of = Indexed::new(trace, &Progress::default()).unwrap();
    assert_eq!(of.index.events, 3 + 2 + 8);
    let rows = of
        .children(3, None, 0, 9, &Progress::default())
        .unwrap()
        .unwrap();
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
    let found = compare(&after, &before, &Progress::default()).unwrap();
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
    let same = compare(&before, &before, &Progress::default()).unwrap();
    assert!(
        same.rows
            .iter()
            .all(|it| it.change == Change::Same && it.self_wall_ns() == 0)
    );
}

/// `serve` calls `parse` twice and waits once for a monitor; the numbers of methods begin with `first`.
fn served(first: u32) -> Trace {
    trace(|log| {
        name_methods(
            log,
            &[
                (first, "shop.Server", "serve"),
                (first + 1, "shop.Parser", "parse"),
                (first + 2, "shop.Cache", "get"),
            ],
        );
        let mut worker = Writer::new(log, 5, "worker-1");
        worker.enter(1000, first);
        worker.call(1100, 1300, first + 1);
        worker.call(1400, 1600, first + 1);
        worker.call(1700, 1800, first + 2);
        worker.exit(2000, first);
    })
}

/// A call that only one filter observes has not appeared: nobody looked.
#[test]
fn traces_with_different_filters_are_compared_by_what_both_observe() {
    let (mut after, mut before) = (served(1), served(7));
    let filter = |text: &str| Filter::parse(text).unwrap();
    after.observed = Some(filter(
        "observe_method_invocations\nincludemethod shop.Parser *",
    ));
    after.set_filter(&after.observed.clone().unwrap());
    before.observed = Some(filter(
        "observe_method_invocations\nobserve_monitor_contention\nexcludemethod shop.Cache *",
    ));
    let found = compare(&after, &before, &Progress::default()).unwrap();
    let rows: Vec<_> = found
        .rows
        .iter()
        .map(|it| (it.path.join(";"), it.change))
        .collect();
    assert_eq!(rows, [("shop.Parser.parse".to_owned(), Change::Same)]);
    assert_eq!(
        found.notes,
        [
            "The traces were recorded with different filters, so what both observe is compared. Left out: 2 methods of B, B's \
             waiting for monitors."
        ]
    );
    // The same filter: all counts, and nothing is to be said.
    after.observed.clone_from(&before.observed);
    let found = compare(&after, &before, &Progress::default()).unwrap();
    assert_eq!(found.notes, Vec::<String>::new());
    assert!(found.rows.iter().any(|it| it.change == Change::Vanished));
}

/// Of a method whose gate was shut, a trace has the first calls only.
#[test]
fn methods_that_stopped_being_measured_are_not_compared() {
    let (mut after, before) = (served(1), served(7));
    let counts = Counts {
        metered: 2,
        passed: 98,
        off: true,
        ..Counts::default()
    };
    after.counts.insert(2, counts);
    let found = compare(&after, &before, &Progress::default()).unwrap();
    let paths: Vec<_> = found.rows.iter().map(|it| it.path.join(";")).collect();
    assert_eq!(
        paths,
        ["shop.Server.serve", "shop.Server.serve;shop.Cache.get"]
    );
    assert_eq!(
        found.notes,
        [
            "Methods that stopped being measured during a run, because they were not hotspots, are left out: 1 method of A, 1 method of B."
        ]
    );
}
