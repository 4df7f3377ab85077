//! Tests repeated until a rare failure would have shown.

#[path = "../it/java.rs"]
mod java;
#[allow(dead_code, reason = "the suite uses more of it")]
#[path = "../it/support.rs"]
mod support;

use java::{
    EXECUTORS, FORKS, FUTURES, JDK_21, QUEUES, TASKS, VIRTUAL_TASKS, VIRTUAL_THREADS, check,
};

/// The number of requests for each scenario.
const REQUESTS: u64 = 10_000;

#[test]
fn ten_thousand_requests_each_go_on_in_java_with_whoever_handed_them_on() {
    let all = [EXECUTORS, FORKS, FUTURES, QUEUES].map(|it| check(TASKS, it, REQUESTS, 0));
    let virtual_threads = check(VIRTUAL_TASKS, VIRTUAL_THREADS, REQUESTS, JDK_21);
    for line in all.iter().flatten().chain(&virtual_threads) {
        println!("{line}, none wrong");
    }
    let count = all.iter().flatten().count() + virtual_threads.len();
    println!("verdict: the log has every request of {count} runs with whoever it was handed on by");
    assert!(count > 0);
}
