//! What the samples in Rust share; `sample.h` says how it is used.
#![allow(dead_code, reason = "not every sample needs all of it")]

use std::time::Instant;

/// Steps of the chain in about a millisecond, at four cycles per step and 3.6 GHz.
pub const MS: u64 = 900_000;

/// A step of the chain is `x * FACTOR ^ 1`. Not `+ 1`, as in C, because LLVM would merge several steps into one.
pub const FACTOR: u64 = 6364136223846793005;

/// Units of work to do; without the argument, no limit.
pub fn units() -> u64 {
    std::env::args()
        .nth(1)
        .map_or(u64::MAX, |units| units.parse().expect("UNITS is a number"))
}

/// `steps`, minus what `SAMPLE_REDUCE=TARGET:PERCENT` leaves out of this target.
pub fn reduced(target: &str, steps: u64) -> u64 {
    let reduce = std::env::var("SAMPLE_REDUCE").unwrap_or_default();
    let percent = match reduce.split_once(':') {
        Some((name, percent)) if name == target => percent.parse().expect("PERCENT is a number"),
        _ => 0,
    };
    steps - steps / 100 * percent
}

/// One line that the benchmarks read.
pub fn report(units: u64, start: Instant, result: u64) {
    let seconds = start.elapsed().as_secs_f64();
    println!("units={units} seconds={seconds:.6} result={result:016x}");
}
