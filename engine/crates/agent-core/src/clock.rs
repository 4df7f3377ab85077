//! Clocks: ticks that cost nothing, and a thread's CPU time for next to nothing.
//!
//! The clock of events is the processor's time stamp counter where its rate never changes, otherwise `CLOCK_MONOTONIC`.
//!
//! A thread's CPU time advances like the clock while the thread is not interrupted. The kernel shows whether it was: it
//! clears the thread's `rseq_cs` when another thread takes the processor. So we point that field at a description of a
//! critical section that the thread is never in. Only when the field was cleared, CPU time is read (650 ns instead of 1).

use std::cell::UnsafeCell;
use std::sync::OnceLock;

use fulcrum_event_log::Moment;
#[cfg(target_arch = "x86_64")]
use fulcrum_preload::real::find;
use fulcrum_preload::sys::clock as read;
use fulcrum_wire::log::cpu_clock;

/// The clocks of this machine.
struct Clocks {
    /// Whether ticks come from the time stamp counter.
    counter: bool,
    /// Where a thread's `rseq` area is from its thread pointer.
    rseq: Option<isize>,
}

fn clocks() -> &'static Clocks {
    static CLOCKS: OnceLock<Clocks> = OnceLock::new();
    CLOCKS.get_or_init(|| Clocks {
        counter: counter_is_steady(),
        rseq: rseq_offset(),
    })
}

/// One of [`cpu_clock`].
pub fn cpu() -> u64 {
    match clocks().rseq {
        Some(_) if clocks().counter => cpu_clock::RUNS,
        _ => cpu_clock::EACH,
    }
}

#[cfg(target_arch = "x86_64")]
fn counter_is_steady() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    // The kernel itself uses it, or a clock of the hypervisor that is derived from it.
    let trusted = std::fs::read_to_string(source)
        .is_ok_and(|name| matches!(name.trim(), "tsc" | "kvm-clock"));
    let most = std::arch::x86_64::__cpuid(0x8000_0000).eax;
    let invariant =
        most >= 0x8000_0007 && std::arch::x86_64::__cpuid(0x8000_0007).edx & (1 << 8) != 0;
    trusted && invariant
}

#[cfg(not(target_arch = "x86_64"))]
fn counter_is_steady() -> bool {
    false
}

#[inline]
fn ticks(clocks: &Clocks) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if clocks.counter {
        // SAFETY: every x86-64 processor has it.
        return unsafe { std::arch::x86_64::_rdtsc() };
    }
    let _ = clocks;
    read(libc::CLOCK_MONOTONIC)
}

/// The kernel's `struct rseq_cs`.
#[repr(C, align(32))]
struct CriticalSection {
    version: u32,
    flags: u32,
    start: *const u32,
    length: u64,
    abort: *const u32,
}
// SAFETY: it is never written, and what it points to is never written.
unsafe impl Sync for CriticalSection {}

/// The signature that must precede an abort handler: glibc's for x86.
static SIGNATURE: [u32; 2] = [0x5305_3053, 0];
/// A critical section that no thread is ever in: one byte of data.
static NOWHERE: CriticalSection = CriticalSection {
    version: 0,
    flags: 0,
    start: &raw const SIGNATURE[0],
    length: 1,
    abort: &raw const SIGNATURE[1],
};

#[cfg(target_arch = "x86_64")]
fn rseq_offset() -> Option<isize> {
    let (offset, size) = (find(c"__rseq_offset")?, find(c"__rseq_size")?);
    // SAFETY: glibc documents these as `const ptrdiff_t` and `const unsigned int`; 0 when nothing is registered.
    let (offset, size) = unsafe { (*offset.cast::<isize>(), *size.cast::<u32>()) };
    (size > 0).then_some(offset)
}

#[cfg(not(target_arch = "x86_64"))]
fn rseq_offset() -> Option<isize> {
    None
}

/// The calling thread's `rseq_cs`, or null.
fn rseq_field(offset: isize) -> *mut u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let pointer: *mut u8;
        // SAFETY: on x86-64 Linux the thread pointer's own value stands at `fs:0`.
        unsafe {
            std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags))
        };
        // `rseq_cs` is behind two 32-bit numbers.
        pointer.wrapping_offset(offset + 8).cast()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = offset;
        std::ptr::null_mut()
    }
}

/// What `running` points to where CPU time is read each time. It never holds the address of [`NOWHERE`].
struct Never(UnsafeCell<u64>);
// SAFETY: it is only read.
unsafe impl Sync for Never {}
static NEVER: Never = Never(UnsafeCell::new(0));

/// One thread's clock.
pub struct ThreadClock {
    clocks: &'static Clocks,
    /// This thread's `rseq_cs`, or [`NEVER`].
    running: *mut u64,
}

impl ThreadClock {
    /// The calling thread's clock, which no other thread may use.
    pub fn here() -> ThreadClock {
        let clocks = clocks();
        let running = match clocks.rseq {
            Some(offset) if clocks.counter => rseq_field(offset),
            _ => NEVER.0.get(),
        };
        ThreadClock { clocks, running }
    }

    /// The ticks, if the thread has run without interruption since the last stamp, so that its CPU time advanced like the clock.
    #[inline]
    pub fn undisturbed(&self) -> Option<u64> {
        // Before the look: an interruption in between is seen, and the ticks are read again.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has it. Where the field is in use, ticks are this counter's.
        let ticks = unsafe { std::arch::x86_64::_rdtsc() };
        #[cfg(not(target_arch = "x86_64"))]
        let ticks = ticks(self.clocks);
        // SAFETY: this thread's own field, which only it and the kernel write, or a constant.
        let field = unsafe { self.running.read_volatile() };
        (field == (&raw const NOWHERE).addr() as u64).then_some(ticks)
    }

    /// The ticks, and the CPU time if it did not advance like the clock.
    #[inline]
    pub fn stamp(&self) -> (u64, Option<u64>) {
        match self.undisturbed() {
            Some(ticks) => (ticks, None),
            None => self.interrupted(),
        }
    }

    #[cold]
    fn interrupted(&self) -> (u64, Option<u64>) {
        self.point_to((&raw const NOWHERE).addr() as u64);
        let cpu = read(libc::CLOCK_THREAD_CPUTIME_ID);
        (ticks(self.clocks), Some(cpu))
    }

    /// Makes the next stamp have a CPU time.
    pub fn reset(&self) {
        // Zero is what the kernel itself writes.
        self.point_to(0);
    }

    fn point_to(&self, section: u64) {
        if self.running != NEVER.0.get() {
            // SAFETY: this thread's own field, see `undisturbed`. The description is static, has the signature, and its
            // section is never executed: the kernel clears the field and does nothing else.
            unsafe { self.running.write_volatile(section) };
        }
    }
}

/// The calling thread's CPU time, nanoseconds.
pub fn thread_cpu() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// All clocks, for the calling thread. Does not change what its [`ThreadClock`] knows of interruptions.
pub fn now() -> Moment {
    let cpu_ns = thread_cpu();
    let ns = read(libc::CLOCK_MONOTONIC);
    Moment {
        ticks: ticks(clocks()),
        ns,
        cpu_ns,
    }
}
