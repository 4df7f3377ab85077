//! Two threads that take turns, with `Mutex` and `Condvar`. Nothing overlaps, so speeding up `answer` helps by its share
//! of a round: 1.5/2 = 75 % of the speedup.

use std::sync::{Condvar, Mutex};
use std::time::Instant;

use sample::{FACTOR, MS};

#[path = "../sample.rs"]
mod sample;

/// The value that is handed over, and whose turn it is.
struct Desk {
    value: u64,
    asked: bool,
}

static DESK: Mutex<Desk> = Mutex::new(Desk {
    value: 1,
    asked: false,
});
static TURN: Condvar = Condvar::new();

/// Waits for its turn, works without the lock, and hands over.
fn take_turns(units: u64, asked: bool, work: impl Fn(u64) -> u64) {
    for _ in 0..units {
        let desk = DESK.lock().expect("nobody panics");
        let desk = TURN
            .wait_while(desk, |desk| desk.asked != asked)
            .expect("nobody panics");
        let value = desk.value;
        drop(desk);
        let value = work(value);
        *DESK.lock().expect("nobody panics") = Desk {
            value,
            asked: !asked,
        };
        TURN.notify_one();
    }
}

fn ask(value: u64) -> u64 {
    (0..MS / 2).fold(value, |x, _| x.wrapping_mul(FACTOR) ^ 1)
}

fn answer(value: u64, steps: u64) -> u64 {
    (0..steps).fold(value, |x, _| x.wrapping_mul(FACTOR) ^ 1) // TARGET: answer
}

fn main() {
    let units = sample::units();
    let steps = sample::reduced("answer", MS * 3 / 2);
    let start = Instant::now();
    let answerer = std::thread::spawn(move || {
        take_turns(units, true, |value| {
            let value = answer(value, steps);
            fulcrum_progress::progress!("answer");
            value
        });
    });
    take_turns(units, false, ask);
    answerer.join().expect("it does not panic");
    let result = DESK.lock().expect("nobody panics").value;
    sample::report(units, start, result);
}
