//! What the samples in Rust share; `sample.h` says how it is used.
#![allow(dead_code, reason = "not every sample needs all of it")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Steps of the chain in about a millisecond, at four cycles a step and 3.6 GHz.
pub const MS: u64 = 900_000;

/// A step of the chain is `x * FACTOR ^ 1`. Not `+ 1`, as in C: LLVM would make one step of several.
pub const FACTOR: u64 = 6364136223846793005;

/// Units of work to do; without the argument, for ever.
pub fn units() -> u64 {
    std::env::args()
        .nth(1)
        .map_or(u64::MAX, |units| units.parse().expect("UNITS is a number"))
}

/// `steps`, less what `SAMPLE_REDUCE=TARGET:PERCENT` takes off this target.
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

/// A progress point: a counter that the profiler's runtime hands out when there is one.
pub struct Point(&'static AtomicUsize);

impl Point {
    pub fn new(name: &'static CStr) -> Point {
        unsafe extern "C" {
            fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
        }
        type Find = extern "C" fn(c_int, *const c_char) -> *mut AtomicUsize;
        static UNREAD: AtomicUsize = AtomicUsize::new(0);
        // SAFETY: a null handle is RTLD_DEFAULT.
        let find = unsafe { dlsym(null_mut(), c"_coz_get_counter".as_ptr()) };
        if find.is_null() {
            return Point(&UNREAD);
        }
        // SAFETY: coz's interface: the function has this type, and the counter that it gives stays.
        unsafe {
            let find: Find = std::mem::transmute(find);
            Point(find(1, name.as_ptr()).as_ref().unwrap_or(&UNREAD))
        }
    }

    pub fn visit(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
