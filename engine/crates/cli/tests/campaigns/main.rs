//! What is repeated until it would have shown itself.

#[path = "../it/common/mod.rs"]
mod common;
#[path = "../it/kills.rs"]
mod kills;
#[path = "../it/samples.rs"]
mod samples;
#[path = "../it/sessions.rs"]
mod sessions;

#[test]
fn every_sample_builds_has_its_targets_and_gives_the_same_result_when_profiled() {
    let count = samples::check(&[]);
    println!("verdict: {count} samples do the same work with and without Fulcrum");
    assert!(count >= 16, "only {count} samples");
}

#[test]
fn a_java_program_goes_on_after_thirty_sessions() {
    sessions::check(30);
    println!("verdict: a program that collects objects all the time outlived 30 sessions");
}

#[test]
fn whatever_is_killed_leaves_a_run_of_transactions_that_opens() {
    let answered = kills::check(20);
    println!("verdict: 60 kills, and all {answered} requests that were answered stand in the runs");
}
