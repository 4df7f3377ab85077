//! A pipeline with `std::sync::mpsc`. `encode` is the slower stage: speeding it up helps until `read` is the slowest, by
//! at most 1 - 0.8/2 = 60 %. The channel waits in futexes, without pthread functions.

use std::sync::mpsc::sync_channel;
use std::time::Instant;

use sample::{FACTOR, MS};

#[path = "../sample.rs"]
mod sample;

fn read(n: u64) -> u64 {
    (0..MS * 8 / 10).fold(n, |x, _| x.wrapping_mul(FACTOR) ^ 1)
}

fn encode(frame: u64, steps: u64) -> u64 {
    (0..steps).fold(frame, |x, _| x.wrapping_mul(FACTOR) ^ 1) // TARGET: encode
}

fn main() {
    let units = sample::units();
    let steps = sample::reduced("encode", MS * 2);
    let start = Instant::now();
    let (sender, frames) = sync_channel(4);
    let reader = std::thread::spawn(move || {
        for n in 0..units {
            sender.send(read(n)).expect("the encoder is there");
        }
    });
    let mut sum = 0_u64;
    for frame in frames {
        sum = sum.wrapping_add(encode(frame, steps));
        fulcrum_progress::progress!("frame");
    }
    reader.join().expect("the reader does not panic");
    sample::report(units, start, sum);
}
