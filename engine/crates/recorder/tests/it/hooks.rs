//! The delay ledger in real programs: whoever another thread wakes is credited, everybody else pays (COZ §3.4.1).

use crate::support::{Lab, marked, run};
use fulcrum_recorder::{Exit, Options};

/// The two numbers that the program prints, which are about what its other thread does while the first thread's line is sped up
/// fully in half of the experiments.
fn measured(lab: &Lab, line: &str, way: &str) -> [u64; 2] {
    let options = Options {
        fixed_line: Some(line.into()),
        fixed_speedup: Some(1.0),
        // There a thread pauses although it owes the others nothing.
        no_placebo: true,
        duration: None,
        ..lab.options(&[way], 0.0)
    };
    let recorded = run(&options).unwrap();
    assert_eq!(recorded.exit, Exit::Code(0));
    let text = std::fs::read_to_string(recorded.run.join("stdout.txt")).unwrap();
    let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

/// The other thread's rounds in which it paused, and all of them.
fn paused(lab: &Lab, way: &str) -> [u64; 2] {
    let line = format!("handoffs.cpp:{}", marked("handoffs.cpp", "first"));
    measured(lab, &line, way)
}

fn lab() -> Lab {
    Lab::build("handoffs.cpp", &["-g", "-std=c++20"])
}

/// The first thread's delays have delayed what it wakes: pausing again would charge them twice.
#[test]
fn whoever_another_thread_wakes_owes_nothing() {
    let lab = lab();
    let ways = [
        "futex",
        "bitset",
        "waitv",
        "atomic",
        "semaphore",
        "posix",
        "c11",
        "signal",
        "inherit",
        "join",
    ];
    let paused = ways.map(|way| (way, paused(&lab, way)));
    // Of rounds that are not credited, half pause. On a busy machine, one in a hundred may differ.
    assert!(
        paused
            .iter()
            .all(|(_, [paused, rounds])| *rounds >= 30 && *paused <= 2 + rounds / 50),
        "{paused:?}"
    );
}

/// Time that passes, a word that has changed, a signal from a timer: nobody has been delayed on this thread's behalf.
#[test]
fn whoever_wakes_by_himself_pays() {
    let lab = lab();
    let paused = ["timeout", "changed", "timer", "sleep"].map(|way| (way, paused(&lab, way)));
    // Fully sped up, the first line makes few pauses, but long ones.
    assert!(
        paused.iter().all(|(_, [paused, _])| *paused >= 3),
        "{paused:?}"
    );
}

/// Paid at the unlock, what a thread owes would keep everybody waiting who wants the lock. Paid during a request, what it
/// owes from before would make the request longer.
#[test]
fn what_is_owed_is_paid_before_a_lock_is_taken_or_a_request_begins() {
    let lab = Lab::build("locks.cpp", &["-g"]);
    let line = format!("locks.cpp:{}", marked("locks.cpp", "first"));
    for way in ["lock", "trylock", "rdlock", "trywrlock", "c11", "request"] {
        let [taking, giving] = measured(&lab, &line, way);
        assert!(taking > giving, "{way}: {taking} pauses, then {giving}");
    }
}
