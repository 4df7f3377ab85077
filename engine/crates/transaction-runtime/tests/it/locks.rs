//! Locks: who waited for what, who held it, and who released it.

use std::collections::BTreeMap;

use fulcrum_wire::transactions::{LockKind, Record};

use crate::support::{Lab, Log, Ran, numbers};

fn run(way: &str) -> Ran {
    let lab = Lab::build("locks.c");
    let ran = lab.run(&[way]);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert!(ran.output.status.success(), "{way}: {errors}");
    ran
}

/// The kernel's number of the thread that wrote a record.
fn writer(log: &Log, thread: u32) -> u64 {
    log.ids[&thread].into()
}

#[test]
fn a_wait_tells_its_lock_its_time_and_its_holder() {
    let ran = run("waits");
    let log = ran.log();
    let waits = log.each(|it| match it.record {
        Record::Wait {
            lock,
            kind,
            began_ns,
            holder,
            timed_out,
        } => Some((
            writer(log, it.thread),
            lock,
            kind,
            (began_ns, it.head),
            holder,
            timed_out,
        )),
        _ => None,
    });
    let releases = log.each(|it| match it.record {
        Record::Release { lock, kind } => Some((writer(log, it.thread), lock, kind, it.head)),
        _ => None,
    });
    let text = ran.text();
    let mut names = Vec::new();
    for line in text.lines() {
        let (name, _) = line.split_once(' ').unwrap();
        let &[lock, holder, waiter] = &numbers(line)[..] else {
            panic!("{line}");
        };
        let kind = match name {
            "write-read" | "write-write" | "read-write" => LockKind::ReadWrite,
            "signal" | "broadcast" => LockKind::Condition,
            "semaphore" => LockKind::Semaphore,
            "futex" => LockKind::Futex,
            _ => LockKind::Mutex,
        };
        let knows_holder = kind == LockKind::Mutex || name.starts_with("write");
        let expected = if knows_holder { holder } else { 0 };
        let found: Vec<_> = waits
            .iter()
            .filter(|it| (it.0, it.1) == (waiter, lock))
            .collect();
        assert_eq!(found.len(), 1, "{line}: {waits:?}");
        let &(_, _, told, (began, head), held_by, timed_out) = found[0];
        assert_eq!(
            (told, u64::from(held_by), timed_out),
            (kind, expected, false),
            "{line}"
        );
        assert!(began < head.time_ns && head.path != 0, "{line}");
        // Released by the holder while the other one waited.
        let given = releases
            .iter()
            .filter(|it| it.1 == lock && (began..=head.time_ns).contains(&it.3.time_ns));
        let given: Vec<_> = given.map(|it| (it.0, it.2, it.3.path != 0)).collect();
        assert_eq!(given, [(holder, kind, true)], "{line}");
        names.push(name);
    }
    assert_eq!(names.len(), 15, "{names:?}");
    // Nothing else was waited for: a thousand free locks leave no record.
    assert_eq!(waits.len(), names.len(), "{waits:?}");
}

#[test]
fn a_wait_whose_time_is_over_says_so() {
    let ran = run("late");
    let text = ran.text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("1 1 1 1"));
    let locks = numbers(lines.next().unwrap());
    let waits: BTreeMap<u64, bool> = ran
        .log()
        .each(|it| match it.record {
            Record::Wait {
                lock, timed_out, ..
            } => Some((lock, timed_out)),
            _ => None,
        })
        .into_iter()
        .collect();
    assert_eq!(waits, locks.into_iter().map(|lock| (lock, true)).collect());
}

#[test]
fn errors_are_as_alone_and_nothing_is_told_of_them() {
    let ran = run("errors");
    assert_eq!(ran.text(), "1 1 1 1 1\n");
    let told = ran.log().each(|it| {
        matches!(it.record, Record::Wait { .. } | Record::Release { .. }).then_some(it.record)
    });
    assert_eq!(told, []);
}
