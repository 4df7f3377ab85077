//! Flow through shared memory (Whodunit §3): what each worker took is what the log says, and nothing flows where nothing is
//! handed over.

use std::collections::{BTreeMap, BTreeSet};

use fulcrum_wire::transactions::{LockKind, Record};

use crate::support::{Lab, Log, Ran, Settings, numbers};

fn run(arguments: &[&str]) -> Ran {
    let ran = Lab::build("memory.c").run(arguments);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert_eq!(ran.output.status.code(), Some(3), "{arguments:?}: {errors}");
    ran
}

/// Which items were consumed in the end, by the kernel's number of the thread, in their order.
fn consumed(log: &Log) -> BTreeMap<u64, Vec<u64>> {
    let demoted: BTreeSet<u32> = log
        .each(|it| match it.record {
            Record::Demote { list } => Some(list),
            _ => None,
        })
        .into_iter()
        .collect();
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for it in &log.entries {
        if let Record::Consume { item, list } = it.record
            && !demoted.contains(&list)
        {
            let tid = u64::from(log.ids[&it.thread]);
            found.entry(tid).or_default().push(item);
        }
    }
    found
}

/// The items of the thread that produced most, in their order.
fn produced(log: &Log) -> Vec<u64> {
    let mut by: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for it in &log.entries {
        if let Record::Produce { item } = it.record {
            by.entry(it.thread).or_default().push(item);
        }
    }
    by.into_values().max_by_key(Vec::len).unwrap_or_default()
}

/// Each worker's requests, as the program says.
fn worked(text: &str) -> BTreeMap<u64, Vec<u64>> {
    let lines = text.lines().filter(|it| it.starts_with("worker"));
    let each = lines.map(|line| {
        let numbers = numbers(line);
        (numbers[0], numbers[1..].to_vec())
    });
    each.collect()
}

/// Compares what the log says with what the program says: its n-th product is its n-th request.
fn check_flows(text: &str, log: &Log, requests: u64) {
    let items = produced(log);
    let number_of: BTreeMap<u64, u64> = items.iter().copied().zip(0..).collect();
    let found = consumed(log);
    let mut told = 0;
    for (worker, requests_of) in worked(text) {
        let items = found.get(&worker).cloned().unwrap_or_default();
        let numbers: Vec<u64> = items.iter().map(|it| number_of[it]).collect();
        // The last one tells the worker to end.
        let (last, numbers) = numbers.split_last().expect("each worker is told to end");
        assert!(*last >= requests, "{last}");
        assert_eq!(numbers, requests_of, "worker {worker}");
        told += requests_of.len() as u64;
    }
    assert_eq!(told, requests);
}

#[test]
fn each_request_of_a_queue_flows_to_the_worker_that_took_it() {
    for way in ["queue", "bounded"] {
        for requests in [40, 2000] {
            let ran = run(&[way, &requests.to_string()]);
            check_flows(&ran.text(), ran.log(), requests);
        }
    }
}

/// What a path leads through is the function that took the lock.
#[test]
fn products_have_the_call_paths_of_their_sections() {
    let ran = run(&["queue", "40"]);
    let log = ran.log();
    let paths = log.each(|it| match it.record {
        Record::Produce { .. } | Record::Consume { .. } => Some((it.head.path, it.thread)),
        _ => None,
    });
    assert!(paths.len() > 80);
    for (path, thread) in paths {
        assert!(path != 0, "thread {thread}");
        assert!(log.path(path).len() >= 2);
    }
}

#[test]
fn nothing_flows_through_counters_and_lists_of_free_objects() {
    for way in ["counter", "allocator"] {
        let ran = run(&[way, "3000"]);
        assert_eq!(consumed(ran.log()), BTreeMap::new(), "{way}");
    }
}

/// A child's log has the child's flows, and the parent's its own.
#[test]
fn a_forked_child_begins_anew() {
    let ran = run(&["forked", "300"]);
    let text = ran.text();
    assert!(text.ends_with("child 7\n"), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let (parent, rest) = lines.split_at(4);
    assert_eq!(ran.logs.len(), 2);
    check_flows(&parent.join("\n"), &ran.logs[0], 300);
    check_flows(&rest[..4].join("\n"), &ran.logs[1], 300);
}

/// With the watch off there is no record of it, and waits are told as before.
#[test]
fn nobody_watches_unless_asked_to() {
    let settings = Settings {
        shared_memory: 0,
        ..Settings::default()
    };
    let ran = Lab::build("memory.c").run_with(settings, &["bounded", "200"]);
    assert_eq!(ran.output.status.code(), Some(3));
    let log = ran.log();
    let of_memory = log.each(|it| match it.record {
        Record::Produce { .. } | Record::Consume { .. } | Record::Demote { .. } => Some(it.head),
        _ => None,
    });
    assert!(of_memory.is_empty());
    let waits = log.each(|it| match it.record {
        Record::Wait { kind, .. } => Some(kind),
        _ => None,
    });
    assert!(waits.contains(&LockKind::Condition));
}
