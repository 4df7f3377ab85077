//! A channel with ten places. Decoding a frame takes 3 ms, drawing it 5 ms. Speeding up the drawing helps until decoding is
//! slower, by at most 1 - 3/5 = 40 %.

use std::sync::mpsc::sync_channel;
use std::time::Instant;

use sample::{FACTOR, MS};

#[path = "../sample.rs"]
mod sample;

fn decode(n: u64) -> u64 {
    (0..MS * 3).fold(n, |x, _| x.wrapping_mul(FACTOR) ^ 1)
}

fn draw(frame: u64, steps: u64) -> u64 {
    (0..steps).fold(frame, |x, _| x.wrapping_mul(FACTOR) ^ 1) // TARGET: draw
}

fn main() {
    let units = sample::units();
    let steps = sample::reduced("draw", MS * 5);
    let start = Instant::now();
    let (sender, frames) = sync_channel(10);
    let decoder = std::thread::spawn(move || {
        for n in 0..units {
            sender.send(decode(n)).expect("somebody draws");
        }
    });
    let mut sum = 0_u64;
    for frame in frames {
        sum = sum.wrapping_add(draw(frame, steps));
        fulcrum_progress::progress!("frame");
    }
    decoder.join().expect("the decoder does not panic");
    sample::report(units, start, sum);
}
