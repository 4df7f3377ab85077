//! A channel without a buffer: a page is handed over when the printer has finished the one before. Setting a page takes 2.5 ms,
//! printing it 4 ms. Speeding up the printing helps until setting is slower, by at most 1 - 2.5/4 = 37.5 %.

use std::sync::mpsc::sync_channel;
use std::time::Instant;

use sample::{FACTOR, MS};

#[path = "../sample.rs"]
mod sample;

fn set(n: u64) -> u64 {
    (0..MS * 5 / 2).fold(n, |x, _| x.wrapping_mul(FACTOR) ^ 1)
}

fn print(page: u64, steps: u64) -> u64 {
    (0..steps).fold(page, |x, _| x.wrapping_mul(FACTOR) ^ 1) // TARGET: print
}

fn main() {
    let units = sample::units();
    let steps = sample::reduced("print", MS * 4);
    let start = Instant::now();
    let (sender, pages) = sync_channel(0);
    let setter = std::thread::spawn(move || {
        for n in 0..units {
            sender.send(set(n)).expect("somebody prints");
        }
    });
    let mut sum = 0_u64;
    for page in pages {
        sum = sum.wrapping_add(print(page, steps));
        fulcrum_progress::progress!("page");
    }
    setter.join().expect("the setter does not panic");
    sample::report(units, start, sum);
}
