//! What a line's time passes in: waiting for a lock, the kernel's work for a call, or its own code.

use std::cell::RefCell;

use crate::support::{Lab, marked, run_until};
use fulcrum_causal::analyse;
use fulcrum_model::causal::{CallDoes, CallTime, InCall, Recording};
use fulcrum_recorder::{Options, Sampler};

const SOURCE: &str = "waits.cpp";
/// Sampling periods that are enough to tell.
const ENOUGH: u64 = 200;

fn lab() -> Lab {
    Lab::build(SOURCE, &["-g"])
}

/// What the marked line did in calls.
fn calls<'a>(recording: &'a Recording, line: &str) -> Vec<&'a CallTime> {
    let line = marked(SOURCE, line);
    let all = recording.streams.iter().flat_map(|it| &it.calls);
    all.filter(|it| it.target.location.line == line).collect()
}

/// Samples of the marked line.
fn samples(recording: &Recording, line: &str) -> u64 {
    let line = marked(SOURCE, line);
    let there = recording.samples.iter();
    let there = there.filter(|(target, _)| target.location.line == line);
    there.map(|it| it.1).sum()
}

#[test]
fn a_line_that_waits_for_a_lock_is_seen_waiting() {
    let lab = lab();
    let recording = run_until(lab.options(&["lock"], 0.0), |it| {
        calls(it, "lock").iter().any(|it| it.whole >= ENOUGH)
    });
    let waits = calls(&recording, "lock");
    let lock = waits.iter().find(|it| it.whole >= ENOUGH);
    let lock = lock.unwrap_or_else(|| panic!("a wait: {waits:?}"));
    assert_eq!(lock.function, "pthread_mutex_lock");
    // It takes next to no processor time, which is what experiments could shorten.
    assert!(lock.processor * 4 < lock.whole, "{lock:?}");
    assert!(
        samples(&recording, "lock") * 4 < lock.whole,
        "{recording:?}"
    );
    // Who holds the lock is told by where it is given back.
    let mut holders = recording.streams.iter().flat_map(|it| &it.holders);
    let waits = marked(SOURCE, "lock");
    let held = holders.find(|it| it.waiter.location.line == waits);
    let by = held.map(|it| it.holder.location.line);
    assert_eq!(by, Some(marked(SOURCE, "held")), "{recording:?}");
    // Who holds the lock computes.
    is_ordinary(&recording, "compute");
}

/// The kernel may take a sample's place when an interrupt meets another.
fn is_ordinary(recording: &Recording, line: &str) {
    let calls = calls(recording, line);
    let in_calls: u64 = calls.iter().map(|it| it.processor + it.whole).sum();
    let samples = samples(recording, line);
    assert!(in_calls * 10 < samples, "{calls:?} of {samples}");
}

/// What the analysis says that the marked line mostly does, once it has a result.
fn result(recording: &Recording, line: &str) -> Option<Option<InCall>> {
    let profile = analyse(recording, &fulcrum_causal::Options::default());
    let line = marked(SOURCE, line);
    let mut targets = profile
        .progress_points
        .into_iter()
        .flat_map(|it| it.targets);
    let found = targets.find(|it| it.id.location.line == line)?;
    Some(found.in_call)
}

/// Records until the marked line has a result and samples enough, and says what it mostly does.
fn run_to_result(options: Options, line: &str) -> (Recording, Option<InCall>) {
    let found = RefCell::new(None);
    let recording = run_until(options, |it| {
        let result = result(it, line).filter(|_| samples(it, line) >= ENOUGH);
        *found.borrow_mut() = result;
        found.borrow().is_some()
    });
    let found = found.take();
    (recording, found.expect("a result before patience ends"))
}

#[test]
fn processor_time_in_the_kernel_is_work_of_the_call() {
    let lab = lab();
    for sampler in [Sampler::Auto, Sampler::Timer] {
        let options = Options {
            sampler,
            ..lab.options(&["write"], 0.0)
        };
        let (recording, found) = run_to_result(options, "write");
        let found = found.unwrap_or_else(|| panic!("a call: {recording:?}"));
        assert_eq!(found.function, "write");
        // Without the privilege, perf leaves the kernel out.
        if recording.streams.iter().any(|it| it.kernel_unseen) {
            assert_eq!(found.does, CallDoes::Unseen, "{found:?}");
        } else {
            assert_eq!(found.does, CallDoes::Works, "{found:?}");
            assert!(found.processor > 0.5, "{found:?}");
        }
    }
}

#[test]
fn ordinary_code_is_no_call() {
    let lab = lab();
    let (recording, found) = run_to_result(lab.options(&["compute"], 0.0), "compute");
    assert_eq!(found, None);
    is_ordinary(&recording, "compute");
}
