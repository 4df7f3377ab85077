//! Whatever goes through a trace reports its progress up to its end, and ends soon when it is cancelled.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use fulcrum_event_log::Log;
use fulcrum_events::compare::compare;
use fulcrum_events::export::{ExportError, chrome, perfetto};
use fulcrum_events::query::Query;
use fulcrum_events::queues::{QueueError, queue};
use fulcrum_events::{FoldError, Index, Indexed, Trace, TraceRange, Where, fold};
use fulcrum_model::{Cancelled, Progress};

use crate::common::shop::{Writer, name_methods, trace};

/// Two threads that put and take so often that every reader reports several times.
fn long() -> Trace {
    trace(|log: &Arc<Log>| {
        name_methods(log, &[(1, "shop.Queue", "put"), (2, "shop.Queue", "take")]);
        for (thread, method) in [(2, 1), (3, 2)] {
            let mut writer = Writer::new(log, thread, "worker");
            for n in 0..60_000 {
                writer.call(10 * n, 10 * n + 5, method);
            }
        }
    })
}

/// Does some work with a token that is cancelled at the report with this number, from 1; and the fractions it reported.
fn reported<T>(
    at: usize,
    work: impl FnOnce(&Progress) -> Result<T, Cancelled>,
) -> (Result<T, Cancelled>, Vec<f64>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&reports);
    let token = Progress::default();
    let handle = token.clone();
    let progress = token.with_listener(move |_: &str, fraction: f64| {
        let mut reports = theirs.lock().unwrap();
        reports.push(fraction);
        if reports.len() == at {
            handle.cancel();
        }
    });
    let result = work(&progress);
    let reports = reports.lock().unwrap().clone();
    (result, reports)
}

/// The work reports more and more of it, up to 1, and goes no further than to the next report when it is cancelled.
fn check<T>(what: &str, work: impl Fn(&Progress) -> Result<T, Cancelled>) {
    let (done, reports) = reported(usize::MAX, &work);
    assert!(done.is_ok(), "{what}");
    assert!(
        reports.len() >= 4 && reports.is_sorted(),
        "{what}: {reports:?}"
    );
    assert_eq!(reports.last(), Some(&1.0), "{what}: {reports:?}");
    for at in [1, 2, reports.len() / 2, reports.len()] {
        let (cancelled, reports) = reported(at, &work);
        assert_eq!(cancelled.err(), Some(Cancelled), "{what}, at {at}");
        assert_eq!(reports.len(), at, "{what} went on");
    }
}

#[test]
fn an_index_can_be_cancelled() {
    let trace = long();
    check("index", |progress| Index::build(&trace, progress));
}

#[test]
fn queries_can_be_cancelled() {
    let trace = long();
    for text in [
        "wall > 1us",
        "order by wall desc limit 3",
        "group by method select count",
    ] {
        let query = Query::parse(text).unwrap();
        check(text, |progress| {
            query.run(&trace, &TraceRange::default(), progress, &mut |_| {
                ControlFlow::Continue(())
            })
        });
    }
}

#[test]
fn exports_can_be_cancelled() {
    let trace = long();
    let cancelled = |error| match error {
        ExportError::Cancelled => Cancelled,
        ExportError::Io(error) => panic!("{error}"),
    };
    check("chrome", |progress| {
        let mut out = Vec::new();
        chrome(&trace, &TraceRange::default(), progress, &mut out).map_err(cancelled)
    });
    check("perfetto", |progress| {
        let mut out = Vec::new();
        perfetto(&trace, &TraceRange::default(), progress, &mut out).map_err(cancelled)
    });
}

#[test]
fn folding_can_be_cancelled() {
    let cancelled = |error| match error {
        FoldError::Cancelled => Cancelled,
        error => panic!("{error:?}"),
    };
    let of = Indexed::new(long(), &Progress::default()).unwrap();
    check("fold", |progress| {
        fold(&of.trace, &TraceRange::default(), progress).map_err(cancelled)
    });
    check("fold a part", |progress| {
        of.fold(&Where::default(), progress).map_err(cancelled)
    });
}

#[test]
fn replaying_a_queue_can_be_cancelled() {
    let trace = long();
    check("queue", |progress| {
        let names = ["Queue.put", "Queue.take"];
        let found = queue(&trace, &TraceRange::default(), names, None, progress);
        found.map_err(|error| match error {
            QueueError::Cancelled => Cancelled,
            error => panic!("{error}"),
        })
    });
}

#[test]
fn a_comparison_can_be_cancelled() {
    let (a, b) = (long(), long());
    check("comparison", |progress| compare(&a, &b, progress));
}
