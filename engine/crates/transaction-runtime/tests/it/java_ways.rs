//! In Java programs, work handed from thread to thread belongs to the transaction that handed it on (Whodunit §4.2). The
//! campaign repeats this ten thousand times.

use fulcrum_wire::transactions::LockKind;

use crate::java::{
    EXECUTORS, FORKS, FUTURES, JDK_21, JavaWait, QUEUES, TASKS, VIRTUAL_TASKS, VIRTUAL_THREADS,
    alike, check, java_waits,
};

/// The number of requests for each scenario.
const REQUESTS: u64 = 500;

#[test]
fn executors_do_their_tasks_for_whoever_handed_them_on() {
    assert!(!check(TASKS, EXECUTORS, REQUESTS, 0).is_empty());
}

#[test]
fn pools_of_forked_tasks_do_them_for_whoever_forked_them() {
    assert!(!check(TASKS, FORKS, REQUESTS, 0).is_empty());
}

#[test]
fn what_depends_on_a_future_is_done_for_whoever_asked_for_it() {
    assert!(!check(TASKS, FUTURES, REQUESTS, 0).is_empty());
}

#[test]
fn queues_between_threads_carry_requests_along_and_pools_do_not() {
    assert!(!check(TASKS, QUEUES, REQUESTS, 0).is_empty());
}

#[test]
fn virtual_threads_take_their_requests_from_carrier_to_carrier() {
    let run = check(VIRTUAL_TASKS, VIRTUAL_THREADS, REQUESTS, JDK_21);
    if run.is_empty() {
        eprintln!("No JDK from 21 on is installed: virtual threads were not tried.");
    }
}

#[test]
fn programs_see_their_tasks_options_and_stacks_as_they_do_alone() {
    assert!(alike("Alike") > 0);
}

/// Of the machine's own conditions, one could only tell that something was waited for.
#[test]
fn waits_for_monitors_and_locks_tell_the_object_s_class_and_the_methods() {
    let locks = "java.util.concurrent.locks";
    let lock = format!("{locks}.ReentrantLock$NonfairSync");
    let shared = format!("{locks}.ReentrantReadWriteLock$NonfairSync");
    let semaphore = "java.util.concurrent.Semaphore$NonfairSync".to_owned();
    let latch = "java.util.concurrent.CountDownLatch$Sync".to_owned();
    let mail = || "Waits$Mail".to_owned();
    // Where a monitor is left, nothing is called that could tell.
    let expected = [
        ("Waits$Cart".to_owned(), "pay", None, LockKind::Mutex),
        (lock, "reserve", Some("letReserve"), LockKind::Mutex),
        (shared, "change", Some("letChange"), LockKind::Mutex),
        (semaphore, "enter", Some("letEnter"), LockKind::Semaphore),
        (latch, "begin", Some("letBegin"), LockKind::Condition),
        (mail(), "receive", None, LockKind::Condition),
        (mail(), "receiveNothing", None, LockKind::Condition),
    ]
    .map(|(class, method, ended_by, kind)| JavaWait {
        class,
        method: format!("Waits.{method}"),
        ended_by: ended_by.map(|it| format!("Waits.{it}")),
        kind,
        timed_out: method == "receiveNothing",
    });
    let all = java_waits("Waits");
    assert!(!all.is_empty());
    for (version, waits) in all {
        assert_eq!(waits, expected, "JDK {version}");
    }
}
