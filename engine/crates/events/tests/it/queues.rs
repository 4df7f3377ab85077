//! Replayed queues are the ones that were.

use std::sync::Arc;

use fulcrum_model::Progress;

use crate::common::shop::{Writer, name_methods, trace};
use fulcrum_event_log::Log;
use fulcrum_events::TraceRange;
use fulcrum_events::queues::{Order, QueueError, Request, methods_of, queue};
use fulcrum_stats::Random;

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
        let mut random = Random::new(seed);
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
            &TraceRange::default(),
            ["ThreadPool.add", "orb.*.get"],
            None,
            &Progress::default(),
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
    let found = queue(
        &empty,
        &TraceRange::default(),
        ["*.add", "*.get"],
        None,
        &Progress::default(),
    )
    .unwrap();
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
    let found = queue(
        &rejected,
        &TraceRange::default(),
        ["*.add", "*.get"],
        None,
        &Progress::default(),
    )
    .unwrap();
    let sure: Vec<_> = found.requests.iter().map(|it| it.sure).collect();
    assert_eq!(sure, [true, false, false]);
    assert!(
        found.notes[0].starts_with("From request 2 on, requests cannot be told apart"),
        "{:?}",
        found.notes
    );
    assert!(
        found.notes[1].contains("1 request was never taken"),
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

    let error = queue(
        &empty,
        &TraceRange::default(),
        ["Pool.push", "*.get"],
        None,
        &Progress::default(),
    )
    .unwrap_err();
    assert_eq!(error, QueueError::NoSuchMethod("Pool.push".into(), vec![]));
    let error = queue(
        &empty,
        &TraceRange::default(),
        ["Add", "*.get"],
        None,
        &Progress::default(),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("it has orb.ThreadPool.add"),
        "{error}"
    );
    let error = queue(
        &empty,
        &TraceRange::default(),
        ["orb.*", "*.get"],
        None,
        &Progress::default(),
    )
    .unwrap_err();
    assert_eq!(error, QueueError::Both("orb.ThreadPool.get".into()));
}

/// A queue of `java.util.concurrent` is used by several methods at once, some of which call one another.
#[test]
fn a_queue_may_have_several_puts_and_takes() {
    const CLASS: &str = "java.util.concurrent.LinkedBlockingQueue";
    let with_drain = |drain: &str| {
        trace(|log| {
            let names = ["put", "offer", "add", "take", "poll", drain];
            let names: Vec<_> = (1..)
                .zip(names)
                .map(|(id, name)| (id, CLASS, name))
                .collect();
            name_methods(log, &names);
            let mut receiver = Writer::new(log, 2, "Receiver");
            receiver.call(0, 10, 1);
            receiver.call(20, 30, 2);
            // `add` calls `offer`, which counts once.
            receiver.enter(40, 3);
            receiver.call(42, 48, 2);
            receiver.exit(50, 3);
            let mut dispatcher = Writer::new(log, 3, "Dispatcher");
            dispatcher.call(11, 13, 4);
            dispatcher.call(31, 33, 5);
            dispatcher.call(51, 53, 4);
        })
    };
    let whole = with_drain("size");
    let nobody = Progress::default();
    let replay = |names: [&str; 2]| queue(&whole, &TraceRange::default(), names, None, &nobody);
    let by_hand = [
        "LinkedBlockingQueue.put, LinkedBlockingQueue.offer,*.add",
        "*.take,*.poll",
    ];
    let found = replay(by_hand).unwrap();
    let waits: Vec<_> = found
        .requests
        .iter()
        .map(|it| (it.enqueue_ns, it.wait_ns()))
        .collect();
    assert_eq!(waits, [(10, Some(3)), (30, Some(3)), (50, Some(3))]);
    assert_eq!(found.notes, [""; 0]);

    let [put, take] = methods_of(&whole, "LinkedBlockingQueue").unwrap();
    assert_eq!(replay([&put, &take]).unwrap(), found);
    // Half of it is no more than half.
    let half = replay(["*.put", "*.take"]).unwrap();
    assert_eq!(half.requests.len(), 1);

    let error = replay(["*.put,*.putt", "*.take"]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the log has no method *.putt"),
        "{error}"
    );
    assert!(methods_of(&whole, "ArrayBlockingQueue").is_err());

    let drained = with_drain("drainTo");
    let found = queue(
        &drained,
        &TraceRange::default(),
        ["*.put", "*.take"],
        None,
        &nobody,
    )
    .unwrap();
    let note =
        "java.util.concurrent.LinkedBlockingQueue.drainTo, each of which may take several requests";
    assert!(
        found.notes.iter().any(|it| it.contains(note)),
        "{:?}",
        found.notes
    );
}

/// A priority queue and a pool, simulated: who takes what is known by the objects alone.
#[test]
fn objects_tell_requests_and_queues_apart_whatever_the_order() {
    for seed in 1..40 {
        let mut random = Random::new(seed);
        // What is in each of two queues, and the truth: object, queue, put, taken.
        let mut there: [Vec<u64>; 2] = [Vec::new(), Vec::new()];
        let mut truth: Vec<(u64, u64, u64, Option<u64>)> = Vec::new();
        let (mut empty, mut rejected) = (0, 0);
        let trace = trace(|log| {
            pool(log);
            let mut receiver = Writer::new(log, 2, "Receiver");
            let mut dispatcher = Writer::new(log, 3, "Dispatcher");
            for step in 0..400 {
                let (from, to) = (100 * step, 100 * step + 50);
                let which = random.below(2) as usize;
                // The two queues are objects 1 and 2.
                let on = which as u64 + 1;
                match random.below(9) {
                    0 => {
                        receiver.call_that_says([from, to], PUT, [on, 99], false);
                        rejected += 1;
                    }
                    1..=4 => {
                        // Some objects come back when they were taken.
                        let object = 100 + random.below(150);
                        if there.iter().any(|it| it.contains(&object)) {
                            continue;
                        }
                        receiver.call_with([from, to], PUT, [on, object], 0);
                        there[which].push(object);
                        truth.push((object, on, to, None));
                    }
                    _ => {
                        let next = match random.below(3) {
                            0 => there[which].pop(),
                            1 if !there[which].is_empty() => Some(there[which].remove(0)),
                            _ => there[which]
                                .iter()
                                .position_max()
                                .map(|at| there[which].remove(at)),
                        };
                        dispatcher.call_with([from, to], TAKE, [on, 0], next.unwrap_or(0));
                        match next {
                            None => empty += 1,
                            Some(object) => {
                                let last = truth.iter_mut().rfind(|it| it.0 == object);
                                last.expect("it was put").3 = Some(to);
                            }
                        }
                    }
                }
            }
        });
        let names = ["*.add", "*.get"];
        let found = queue(
            &trace,
            &TraceRange::default(),
            names,
            None,
            &Progress::default(),
        )
        .unwrap();
        assert_eq!(found.order, Order::Identity);
        let told = found.requests.iter().map(|it| {
            let dispatch = it.take.map(|take| take.dispatch_ns);
            let [object, on] = [it.object, it.queue].map(|it| it.expect("it is told"));
            (object, on, it.enqueue_ns, dispatch)
        });
        assert_eq!(told.collect::<Vec<_>>(), truth, "seed {seed}");
        let counts = (found.empty_takes, found.rejected, found.before_put);
        assert_eq!(counts, (empty, rejected, 0), "seed {seed}");
        let overtaken = truth.iter().filter(|it| {
            let later = truth
                .iter()
                .filter(|other| other.1 == it.1 && other.2 > it.2);
            let mut left = later.filter_map(|other| other.3);
            it.3.is_some_and(|mine| left.any(|other| other < mine))
        });
        assert_eq!(found.overtaken, Some(overtaken.count() as u64));
        for request in &found.requests {
            let there = |at: u64| {
                let mine = truth
                    .iter()
                    .filter(|it| Some(it.1) == request.queue && it.2 <= at);
                mine.filter(|it| it.3.is_none_or(|taken| taken > at))
                    .count() as u64
            };
            assert_eq!(request.put_length, there(request.enqueue_ns));
            if let Some(take) = request.take {
                assert_eq!(take.length, there(take.dispatch_ns));
            }
        }
        let puts: Vec<u64> = found.queues.iter().map(|it| it.put).collect();
        let of = |on: u64| truth.iter().filter(|it| it.1 == on).count() as u64;
        let mut expect: Vec<u64> = vec![of(1), of(2)];
        if truth[0].1 == 2 {
            expect.reverse();
        }
        assert_eq!(puts, expect);
    }
}

trait PositionMax {
    fn position_max(self) -> Option<usize>;
}

impl<'a, I: Iterator<Item = &'a u64>> PositionMax for I {
    fn position_max(self) -> Option<usize> {
        self.enumerate().max_by_key(|it| it.1).map(|it| it.0)
    }
}

/// Puts 11, 12, 13 into a pool, takes 13 and 12, puts 14, takes 14 and 11, and takes what was there before: 7.
fn stack_like(told: bool) -> fulcrum_events::Trace {
    trace(|log| {
        pool(log);
        let mut put = Writer::new(log, 2, "Receiver");
        let mut take = Writer::new(log, 3, "Dispatcher");
        for (at, is_put, object) in [
            (0, true, 11),
            (10, true, 12),
            (20, true, 13),
            (30, false, 13),
            (40, false, 12),
            (50, true, 14),
            (60, false, 14),
            (70, false, 11),
            (80, false, 7),
        ] {
            let times = [at, at + 5];
            match (is_put, told) {
                (true, true) => put.call_with(times, PUT, [1, object], 0),
                (true, false) => put.call(times[0], times[1], PUT),
                (false, true) => take.call_with(times, TAKE, [1, 0], object),
                (false, false) => take.call(times[0], times[1], TAKE),
            }
        }
    })
}

/// When each request was taken.
fn dispatches(requests: &[Request]) -> Vec<Option<u64>> {
    let takes = requests.iter().map(|it| it.take);
    takes.map(|it| it.map(|take| take.dispatch_ns)).collect()
}

#[test]
fn an_order_that_is_chosen_is_checked_against_what_the_log_tells() {
    let names = ["*.add", "*.get"];
    let replay = |told: bool, order: Option<Order>| {
        queue(
            &stack_like(told),
            &TraceRange::default(),
            names,
            order,
            &Progress::default(),
        )
    };
    let truth = [Some(75), Some(45), Some(35), Some(65)];
    // Without objects: the order is what was asked for, and nothing can be said against it.
    let lifo = replay(false, Some(Order::Lifo)).unwrap();
    assert_eq!(dispatches(&lifo.requests), truth);
    assert_eq!((lifo.empty_takes, lifo.mismatched), (1, 0));
    assert!(lifo.assumed().contains("(lifo)"), "{}", lifo.assumed());
    let fifo = replay(false, None).unwrap();
    let wrong = [Some(35), Some(45), Some(65), Some(75)];
    assert_eq!(
        (fifo.order, dispatches(&fifo.requests)),
        (Order::Fifo, wrong.to_vec())
    );
    let error = replay(false, Some(Order::Identity)).unwrap_err();
    assert_eq!(error, QueueError::NoObjects("*.add".into(), "*.get".into()));
    assert!(error.to_string().contains("identifymethod"), "{error}");

    // With objects, what is impossible is counted.
    let own = replay(true, None).unwrap();
    assert_eq!(
        (own.order, dispatches(&own.requests)),
        (Order::Identity, truth.to_vec())
    );
    assert_eq!(
        (own.before_put, own.empty_takes, own.overtaken),
        (1, 0, Some(2))
    );
    assert!(
        own.assumed()
            .ends_with("2 were overtaken by one that was put later.")
    );
    let lifo = replay(true, Some(Order::Lifo)).unwrap();
    assert_eq!(dispatches(&lifo.requests), truth);
    assert_eq!((lifo.mismatched, lifo.before_put), (0, 1));
    let fifo = replay(true, Some(Order::Fifo)).unwrap();
    // 13 for 11, 14 for 13, 11 for 14; 12 is right by chance.
    assert_eq!((fifo.mismatched, fifo.before_put), (3, 1));
    let sure: Vec<bool> = fifo.requests.iter().map(|it| it.sure).collect();
    assert_eq!(sure, [false, true, false, false]);
}
