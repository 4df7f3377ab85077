//! Flow through shared memory (Whodunit §3): the log has what each worker took, and nothing else flows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fulcrum_wire::transactions::{COPIES_MODULE, COPIES_SUFFIX, LockKind, Record, copies, word};

use crate::support::{Lab, Log, Ran, Settings, numbers};

fn run(arguments: &[&str]) -> Ran {
    let ran = Lab::build("memory.c").run(arguments);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert_eq!(ran.output.status.code(), Some(3), "{arguments:?}: {errors}");
    ran
}

/// The consumed items, by the kernel's thread number, in order.
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

/// The items of the thread that produced most, in order.
fn produced(log: &Log) -> Vec<u64> {
    let mut by: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for it in &log.entries {
        if let Record::Produce { item } = it.record {
            by.entry(it.thread).or_default().push(item);
        }
    }
    by.into_values().max_by_key(Vec::len).unwrap_or_default()
}

/// Each worker's requests, as the program reports them.
fn worked(text: &str) -> BTreeMap<u64, Vec<u64>> {
    let lines = text.lines().filter(|it| it.starts_with("worker"));
    let each = lines.map(|line| {
        let numbers = numbers(line);
        (numbers[0], numbers[1..].to_vec())
    });
    each.collect()
}

/// Compares the log with the program's report: its n-th product is its n-th request.
fn check_flows(text: &str, log: &Log, requests: u64) {
    let items = produced(log);
    let number_of: BTreeMap<u64, u64> = items.iter().copied().zip(0..).collect();
    let found = consumed(log);
    let mut told = 0;
    for (worker, requests_of) in worked(text) {
        let items = found.get(&worker).cloned().unwrap_or_default();
        let numbers: Vec<u64> = items.iter().map(|it| number_of[it]).collect();
        // The last number tells the worker to end.
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

/// Threads take their own locks a hundred times as often as the queue's, in the same function. Watching of their own locks
/// soon stops, and that of the queue's never does.
#[test]
fn a_queue_flows_whose_lock_is_taken_where_all_others_are() {
    let ran = run(&["library", "400"]);
    check_flows(&ran.text(), ran.log(), 400);
}

/// The call path of a product goes through the function that took the lock.
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

/// As in memcached: the main thread fills requests that workers have given back. Giving back is no flow.
#[test]
fn a_queue_flows_whose_requests_are_used_again_and_the_list_of_free_ones_does_not() {
    let ran = run(&["recycled", "2000"]);
    let log = ran.log();
    check_flows(&ran.text(), log, 2000);
    let workers = worked(&ran.text());
    let consumers = consumed(log);
    assert!(
        consumers.keys().all(|it| workers.contains_key(it)),
        "{consumers:?}"
    );
}

/// A child's log has the child's flow, and the parent's log the parent's.
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

/// With watching off there are no records of flow, and waits are recorded as before.
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

/// The entries of a log's file of copies: the address of each copy, and its original. A forked child may have made none.
fn copies_of(folder: &Path, log: &Log) -> Vec<(u64, u64)> {
    if log.word(word::COPIES) == 0 {
        return Vec::new();
    }
    let name = format!("{}-{}{COPIES_SUFFIX}", log.pid(), log.turn());
    let bytes = fs::read(folder.join(name)).unwrap();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let count = word(copies::COUNT * 8) as usize;
    let entry = |row: usize| copies::HEADER + row * copies::ENTRY;
    (0..count)
        .map(|row| (word(entry(row)), word(entry(row) + 8)))
        .collect()
}

#[test]
fn each_copy_is_told_with_its_instruction_in_the_parent_and_in_the_child() {
    let lab = Lab::build("memory.c");
    let ran = lab.run(&["forked", "300"]);
    let mut modules: Vec<(u64, u64, String)> = Vec::new();
    for log in &ran.logs {
        modules.extend(log.each(|it| match it.record {
            Record::Module {
                start, end, file, ..
            } => Some((start, end, String::from_utf8_lossy(file).into_owned())),
            _ => None,
        }));
    }
    let file = |address: u64| {
        let found = modules.iter().find(|it| (it.0..it.1).contains(&address));
        found.map(|it| it.2.as_str())
    };
    let [parent, child] = [0, 1].map(|at| copies_of(lab.session(), &ran.logs[at]));
    assert!(parent.len() > 50, "{}", parent.len());
    for all in [&parent, &child] {
        assert!(all.is_sorted_by_key(|it| it.0));
        for &(copy, original) in all {
            assert_eq!(file(copy), Some(COPIES_MODULE));
            let of = file(original);
            assert!(
                original == 0 || of.is_some_and(|it| it.starts_with('/')),
                "{original:#x}"
            );
        }
    }
}
