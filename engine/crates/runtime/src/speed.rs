//! How fast the processors are meanwhile.
//!
//! Neighbours on a shared machine, a sibling hyperthread or the clock's frequency change how long the same instructions
//! take by several percent from one second to the next, and nothing in `/proc` says so. A fixed piece of arithmetic, done
//! with each sample on the processor where the program runs, does. It takes a microsecond, where the sample takes 30.

use core::arch::x86_64::{_mm_lfence, _rdtsc};
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};

/// Steps of the fixed work; each multiplication waits for the one before.
const STEPS: u32 = 512;
/// Steps before that, not timed: right after an interrupt, the processor is anything but steady.
const FIRST_STEPS: u32 = 256;
/// Speeds are whole numbers: steps in so many ticks of the processor's constant-rate clock.
const TICKS: u64 = 1_000_000;

static SUM: AtomicU64 = AtomicU64::new(0);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Sum and number of the measurements at one moment.
#[derive(Clone, Copy)]
pub struct Reading {
    sum: u64,
    count: u64,
}

#[inline(always)]
fn step(value: u64) -> u64 {
    black_box(value.wrapping_mul(6_364_136_223_846_793_005))
}

/// Measures once.
pub fn measure() {
    let mut value = black_box(1_u64);
    for _ in 0..FIRST_STEPS {
        value = step(value);
    }
    // SAFETY: both instructions exist on every x86-64 processor.
    let start = unsafe {
        _mm_lfence();
        _rdtsc()
    };
    for _ in 0..STEPS {
        value = step(value);
    }
    // SAFETY: as above. The fence waits for the multiplications.
    let ticks = unsafe {
        _mm_lfence();
        _rdtsc()
    }
    .wrapping_sub(start)
    .max(1);
    black_box(value);
    // Being interrupted meanwhile is a speed of next to nothing: no outlier.
    SUM.fetch_add(u64::from(STEPS) * TICKS / ticks, Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Relaxed);
}

impl Reading {
    /// Now.
    pub fn take() -> Reading {
        Reading {
            sum: SUM.load(Ordering::Relaxed),
            count: COUNT.load(Ordering::Relaxed),
        }
    }

    /// Mean speed since `before`; `None` when nothing was measured.
    pub fn since(self, before: Reading) -> Option<u64> {
        let count = self.count.wrapping_sub(before.count);
        self.sum.wrapping_sub(before.sum).checked_div(count)
    }
}
