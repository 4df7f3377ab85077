//! Replayed queues are the ones that were.

mod common;

use std::sync::Arc;

use common::Random;
use common::shop::{Writer, name_methods, trace};
use fulcrum_event_log::Log;
use fulcrum_events::Scope;
use fulcrum_events::queues::{QueueError, queue};

const YES: &dyn Fn() -> bool = &|| true;

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
