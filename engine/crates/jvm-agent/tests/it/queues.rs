//! The objects of calls identify requests: a replayed queue agrees with what the program itself counted.

use std::collections::{BTreeMap, BTreeSet};

use fulcrum_model::Progress;

use crate::common::{Jdk, Program, balanced_calls, count, jdks, text};
use fulcrum_events::queues::{Order, Queue, queue};
use fulcrum_events::{Trace, TraceRange, What};

const FILTER: &str = "observe_method_invocations\nobserve_monitor_contention\nidentifymethod Pools$Pool offer\n\
                      identifymethod Pools$Pool poll\nincludemethod Pools serve\n";

/// `put 1`, `take 1`, in the order of time, and how many puts were rejected and takes got nothing.
type Steps = (Vec<String>, usize, usize);

/// What each pool prints.
fn own(printed: &str) -> BTreeMap<String, Steps> {
    let mut pools: BTreeMap<String, Steps> = BTreeMap::new();
    for line in printed.lines() {
        let (name, what) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let (steps, rejected, nothing) = pools.entry(name.to_owned()).or_default();
        match what {
            "rejected" => *rejected += 1,
            "nothing" => *nothing += 1,
            step => steps.push(step.to_owned()),
        }
    }
    pools
}

/// The same steps from a replay, queue by queue.
fn replayed(queue: &Queue) -> BTreeSet<Vec<String>> {
    let mut queues: BTreeMap<Option<u64>, Vec<(u64, String)>> = BTreeMap::new();
    let mut numbers: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    for request in &queue.requests {
        // Numbers are those of all queues together.
        let number = numbers.entry(request.queue).or_default();
        *number += 1;
        let steps = queues.entry(request.queue).or_default();
        steps.push((request.enqueue_ns, format!("put {number}")));
        let take = request.take.expect("all are taken");
        steps.push((take.dispatch_ns, format!("take {number}")));
    }
    let in_time = queues.into_values().map(|mut steps| {
        steps.sort_by_key(|it| it.0);
        steps.into_iter().map(|it| it.1).collect()
    });
    in_time.collect()
}

fn replay(trace: &Trace, order: Option<Order>) -> Queue {
    let names = ["Pools$Pool.offer", "Pools$Pool.poll"];
    queue(
        trace,
        &TraceRange::default(),
        names,
        order,
        &Progress::default(),
    )
    .unwrap()
}

/// Runs the pools with these options of the agent, and compares.
fn check(jdk: &Jdk, options: &str) -> Trace {
    let program = Program::new(jdk, "Pools");
    let mut java = program.traced(jdk, FILTER, 1 << 30);
    std::fs::write(program.run().join("agent.options"), options).unwrap();
    let output = java.arg(&program.main).output().unwrap();
    assert_eq!(text(&output.stderr), "");
    let own = own(&text(&output.stdout));
    let trace = program.trace();
    let found = replay(&trace, None);
    assert_eq!(found.order, Order::Identity);
    let steps: BTreeSet<Vec<String>> = own.values().map(|it| it.0.clone()).collect();
    assert_eq!((found.queues.len(), steps.len()), (3, 3));
    assert_eq!(replayed(&found), steps, "JDK {}", jdk.version);
    let sum = |of: fn(&Steps) -> usize| own.values().map(of).sum::<usize>() as u64;
    assert_eq!(found.rejected, sum(|it| it.1));
    assert_eq!(found.empty_takes, sum(|it| it.2));
    assert_eq!((found.before_put, found.mismatched), (0, 0));
    trace
}

#[test]
fn pools_of_any_order_are_replayed_by_their_objects() {
    for jdk in jdks() {
        let trace = check(jdk, "limit=1073741824\n");
        let calls = balanced_calls(&trace);
        assert!(calls["Pools$Pool.offer"] == 409 && calls["Pools.serve"] == 4);
        // Only calls of the named methods have objects, each at its entry and, here, at its exit.
        let told = count(&trace, |event| match &event.what {
            What::Objects { method, .. } => Some((trace.method_name(*method), "objects")),
            What::Result { method, .. } => Some((trace.method_name(*method), "result")),
            _ => None,
        });
        for name in ["Pools$Pool.offer", "Pools$Pool.poll"] {
            for what in ["objects", "result"] {
                let of = told[&(name.to_owned(), what)];
                assert_eq!(of, calls[name], "{name} {what}");
            }
        }
        assert_eq!(told.len(), 4, "{told:?}");
        // The log shows that no single order is right: one of the queues goes by priority.
        for order in [Order::Fifo, Order::Lifo] {
            let other = replay(&trace, Some(order));
            assert_eq!(other.requests.len(), replay(&trace, None).requests.len());
            assert!(other.mismatched > 0, "{order:?}");
        }
    }
}

/// Methods whose objects are logged have no gate, whatever the rule says.
#[test]
fn objects_are_told_while_gates_shut() {
    let jdk = &jdks()[0];
    check(jdk, "limit=1073741824\nrule=inherent wall >= 1s after 1\n");
}
