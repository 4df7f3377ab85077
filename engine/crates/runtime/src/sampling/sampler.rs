//! Sampling one thread (COZ §3.1): perf's task clock where the kernel allows it, otherwise a CPU-time timer.

use core::cell::Cell;
use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use fulcrum_preload::{descriptors, sys};
use fulcrum_runtime_core::attribute::{Found, frames};
use fulcrum_runtime_core::calls::Spent;
use fulcrum_runtime_core::first::First;
use fulcrum_runtime_core::ring::Ring;
use fulcrum_runtime_core::spread::Taken;
use fulcrum_unwind::Registers;
use fulcrum_wire::perf::Attributes;
use fulcrum_wire::{KERNEL, flag, sampler};

use crate::experiment::{choice, section};
use crate::process::control::Map;
use crate::process::{activity, control};
use crate::sampling::perf::open_event;
use crate::sampling::stack::Stack;
use crate::sampling::walk::{DEEPEST_WALK, walk};
use crate::sampling::{breakpoints, resting};
use crate::sys::allowed::{self, Purpose};

/// How one thread is sampled. Other threads may only hold and resume it; everything else is for its own thread, or after a fork
/// for the child.
pub(crate) struct Sampling {
    perf: AtomicI32,
    ring: Cell<*mut u8>,
    timer: AtomicI32,
    cpu_ns: Cell<u64>,
    remainder_ns: Cell<u64>,
    first: First,
}

/// Data pages of a ring: room for 18 full callchains. With the head page, it stays small against the memory that unprivileged
/// users may lock.
const RING_PAGES: usize = 2;
const RING_BYTES: usize = (1 + RING_PAGES) * sys::PAGE;
/// How much of the call chain the kernel collects: only the innermost frame. We find its callers ourselves, from the interrupted
/// registers, and only when the sample is not in scope.
const DEEPEST: u16 = 1;

const IP_TIME_CALLCHAIN: u64 = 1 | 4 | 32;
const EXCLUDE_CALLCHAIN_KERNEL: u64 = 1 << 21;

/// Starts to sample the calling thread. A thread that cannot be sampled runs on without samples.
pub(crate) fn start(sampling: &Sampling) {
    if !activity::is_sampling() {
        return;
    }
    let wanted = control::session().sampler;
    let flags = &control::process().flags;
    sampling
        .first
        .begin(control::session().period_ns, sys::thread_id());
    let (may_perf, may_timer) = (allowed::may(Purpose::Perf), allowed::may(Purpose::Timer));
    if wanted != sampler::TIMER && may_perf && start_perf(sampling) {
        flags.fetch_or(flag::PERF, Ordering::Relaxed);
    } else if wanted != sampler::PERF && may_timer && start_timer(sampling) {
        flags.fetch_or(flag::TIMER, Ordering::Relaxed);
    } else {
        flags.fetch_or(flag::NOT_SAMPLED, Ordering::Relaxed);
    }
}

fn start_perf(sampling: &Sampling) -> bool {
    // Samples in the kernel belong to the line that called it. Without the privilege, only user time is sampled.
    let first_ns = sampling.first.after_ns();
    let whole = open_perf(first_ns, EXCLUDE_CALLCHAIN_KERNEL);
    let sees_kernel = whole.is_some();
    let Some(fd) = whole.or_else(|| open_perf(first_ns, Attributes::EXCLUDE_KERNEL)) else {
        return false;
    };
    if !sees_kernel {
        let flags = &control::process().flags;
        flags.fetch_or(flag::KERNEL_UNSEEN, Ordering::Relaxed);
    }
    let fd = descriptors::protect(fd);
    // SAFETY: maps the ring of a descriptor that we own; the arguments are as perf_event_open(2) says.
    unsafe {
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let args = [
            0,
            RING_BYTES,
            protection,
            libc::MAP_SHARED as usize,
            fd as usize,
            0,
        ];
        let ring = sys::call(libc::SYS_mmap, args);
        let owner = [0 /* F_OWNER_TID */, sys::thread_id()];
        let signal = control::session().signal as usize;
        let control = |command: i32, argument: usize| {
            sys::call(
                libc::SYS_fcntl,
                [fd as usize, command as usize, argument, 0, 0, 0],
            ) >= 0
        };
        const SET_OWNER_EX: i32 = 15;
        const SET_SIGNAL: i32 = 10;
        note_signalling(fd);
        let ready = ring > 0
            && control(SET_OWNER_EX, owner.as_ptr() as usize)
            && control(SET_SIGNAL, signal)
            && control(libc::F_SETFL, (libc::O_ASYNC | libc::O_NONBLOCK) as usize);
        if !ready {
            if ring > 0 {
                sys::call(libc::SYS_munmap, [ring as usize, RING_BYTES, 0, 0, 0, 0]);
            }
            descriptors::close(fd);
            return false;
        }
        sampling.perf.store(fd, Ordering::Release);
        sampling.ring.set(ring as *mut u8);
    }
    if resting::may_sample() {
        sampling.resume();
    }
    true
}

/// Bits of the descriptors that have been perf events of ours. They are never cleared: a signal may still be on its way.
static SIGNALLING: [AtomicU64; DESCRIPTORS / 64] = [const { AtomicU64::new(0) }; DESCRIPTORS / 64];
const DESCRIPTORS: usize = 65_536;

fn note_signalling(fd: i32) {
    if let Some(bits) = SIGNALLING.get(fd as usize / 64) {
        bits.fetch_or(1 << (fd % 64), Ordering::Relaxed);
    }
}

/// Whether a signal that names this descriptor is from a perf event of ours. Async-signal-safe.
pub(crate) fn is_signalling(fd: i32) -> bool {
    SIGNALLING
        .get(fd as usize / 64)
        .is_none_or(|bits| bits.load(Ordering::Relaxed) & 1 << (fd % 64) != 0)
}

fn open_perf(period: u64, exclude: u64) -> Option<i32> {
    let session = control::session();
    let attributes = Attributes {
        kind: Attributes::SOFTWARE,
        size: size_of::<Attributes>() as u32,
        config: Attributes::TASK_CLOCK,
        period,
        sample_type: IP_TIME_CALLCHAIN,
        flags: Attributes::DISABLED
            | Attributes::EXCLUDE_HYPERVISOR
            | Attributes::USE_CLOCK
            | exclude,
        wakeup: session.batch.max(1),
        clock: libc::CLOCK_MONOTONIC,
        deepest: DEEPEST,
        ..Attributes::default()
    };
    open_event(&attributes)
}

/// Marks the ticks of our timers.
pub(crate) const TIMER_MARK: usize = 0x66_75_6c_63;

fn start_timer(sampling: &Sampling) -> bool {
    // SAFETY: zeroed is a valid sigevent; the kernel reads it during the call and writes the timer's id.
    unsafe {
        let mut event: libc::sigevent = core::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = control::session().signal;
        event.sigev_value.sival_ptr = TIMER_MARK as *mut _;
        event.sigev_notify_thread_id = sys::thread_id();
        let mut timer = 0_i32;
        let clock = libc::CLOCK_THREAD_CPUTIME_ID as usize;
        let args = [
            clock,
            &raw mut event as usize,
            &raw mut timer as usize,
            0,
            0,
            0,
        ];
        if sys::call(libc::SYS_timer_create, args) < 0 {
            return false;
        }
        sampling.timer.store(timer, Ordering::Release);
    }
    sampling
        .cpu_ns
        .set(sys::clock(libc::CLOCK_THREAD_CPUTIME_ID));
    if resting::may_sample() {
        sampling.resume();
    }
    true
}

/// When a CPU-time timer fires: the kernel checks it only at its own clock's ticks.
struct Ticking {
    /// Setting of the timer, nanoseconds.
    interval_ns: u64,
    /// What each tick stands for, nanoseconds; `None` when that is the CPU time since the one before.
    weight_ns: Option<u64>,
    /// The most that a tick can stand for.
    most_ns: u64,
}

impl Ticking {
    /// Where the kernel's ticks are no finer than the period, every tick is a sample of the thread that runs, however briefly it
    /// has been running. Waiting until a thread has run for a period would miss threads that live or run for less.
    fn now() -> Ticking {
        let period = control::session().period_ns.max(1);
        let tick = sys::clock_resolution(libc::CLOCK_MONOTONIC_COARSE);
        let coarse = tick >= period;
        Ticking {
            interval_ns: if coarse { 1 } else { period },
            weight_ns: coarse.then_some(tick),
            most_ns: period + 2 * tick,
        }
    }
}

impl Sampling {
    /// Resets it, as in a slot that was never used.
    pub(crate) fn clear(&self) {
        self.perf.store(-1, Ordering::Release);
        self.ring.set(null_mut());
        self.timer.store(-1, Ordering::Release);
        self.remainder_ns.set(0);
        self.first.end();
    }

    /// Positions in the ring: of the kernel's next record, and of the first that we have not read. `None` without a ring.
    #[inline(always)]
    fn ends(&self) -> Option<(&AtomicU64, &AtomicU64)> {
        let ring = self.ring.get();
        // SAFETY: the head page of a mapped ring; both words are aligned and shared with the kernel.
        (!ring.is_null()).then(|| unsafe {
            (
                &*ring.add(Attributes::HEAD_AT).cast::<AtomicU64>(),
                &*ring.add(Attributes::TAIL_AT).cast::<AtomicU64>(),
            )
        })
    }

    /// Whether [`Sampling::drain`] would find nothing.
    #[inline(always)]
    pub(crate) fn is_drained(&self) -> bool {
        self.ends()
            .is_none_or(|(head, tail)| head.load(Ordering::Relaxed) == tail.load(Ordering::Relaxed))
    }

    /// Reads what the ring holds. `inside` is the libc function that the thread is in. Returns the delay earned by samples in the
    /// selected line, nanoseconds.
    #[inline]
    pub(crate) fn drain(&self, stack: Stack, at: Option<Registers>, inside: Option<u8>) -> Taken {
        let Some((head, tail)) = self.ends() else {
            return Taken::default();
        };
        let (from, to) = (tail.load(Ordering::Relaxed), head.load(Ordering::Acquire));
        if from == to {
            return Taken::default();
        }
        let words = RING_PAGES * sys::PAGE / 8;
        // SAFETY: the data pages follow the head page.
        let data = unsafe {
            let data = self.ring.get().add(sys::PAGE).cast::<AtomicU64>();
            slice::from_raw_parts(data, words)
        };
        let mut earned = 0;
        let period = control::session().period_ns;
        let map = control::map();
        let mut samples = 0;
        Ring::new(data).read(from, to, |sample| {
            if !self.first.counts(period) {
                return;
            }
            samples += 1;
            breakpoints::sample(sample.ip, 1);
            let found = if map.targets.is_leaf(sample.ip) {
                map.targets.of(core::iter::once(sample.ip))
            } else {
                // The registers belong to the newest sample; an older one only has the kernel's view of its callers.
                let innermost = frames(sample.chain()).next();
                // Samples that a call does not let through arrive at its end; the callers are still the same.
                let has_callers = |at: &Registers| {
                    inside.is_some() || innermost == Some(at.rip) || sample.ip == at.rip
                };
                let found = match at.filter(has_callers) {
                    Some(at) if !control::unwind_rows().is_empty() => found_at(map, stack, at),
                    _ => map.targets.of(frames(sample.chain())),
                };
                let kernel = is_kernel(sample.ip).then_some(KERNEL);
                let called = inside.filter(|_| innermost.is_none_or(|it| !map.targets.is_leaf(it)));
                in_call(map, &found, called.or(kernel), 1);
                found
            };
            earned += choice::on_sample(map, &in_section(found), sample.time, 1, period);
        });
        tail.store(to, Ordering::Release);
        self.take_whole_periods();
        control::process()
            .samples
            .fetch_add(samples, Ordering::Relaxed);
        Taken {
            time_ns: samples * period,
            earned_ns: earned,
        }
    }

    /// After the first sample, the others follow at whole periods.
    fn take_whole_periods(&self) {
        let (perf, _) = self.sources();
        if perf >= 0 && self.first.is_on() && allowed::may(Purpose::Perf) {
            let period = control::session().period_ns;
            // SAFETY: a plain system call on a descriptor that we own; the kernel reads the period during it.
            let set = unsafe {
                let period = &raw const period as usize;
                sys::call(
                    libc::SYS_ioctl,
                    [perf as usize, Attributes::SET_PERIOD, period, 0, 0, 0],
                )
            };
            if set >= 0 {
                self.first.end();
            }
        }
    }

    /// The thread has just paused: drops samples of the pause, which are not the program's.
    pub(crate) fn forget_pause(&self) {
        if let Some((head, tail)) = self.ends() {
            tail.store(head.load(Ordering::Acquire), Ordering::Release);
        }
        if self.timer.load(Ordering::Acquire) >= 0 {
            self.cpu_ns.set(sys::clock(libc::CLOCK_THREAD_CPUTIME_ID));
        }
    }

    /// Handles a tick of this thread's timer, which interrupted the program `at` these registers, `inside` a libc function.
    pub(crate) fn tick(&self, stack: Stack, at: Registers, inside: Option<u8>) -> Taken {
        let ticking = Ticking::now();
        let weight = ticking.weight_ns.unwrap_or_else(|| {
            let cpu = sys::clock(libc::CLOCK_THREAD_CPUTIME_ID);
            // After a rest, more than a tick's time may have passed.
            let passed = cpu.saturating_sub(self.cpu_ns.replace(cpu));
            passed.min(ticking.most_ns) + self.first.take_ahead()
        });
        let period = control::session().period_ns.max(1);
        let whole = weight + self.remainder_ns.get();
        self.remainder_ns.set(whole % period);
        breakpoints::sample(at.rip, whole / period);
        let map = control::map();
        let found = if map.targets.is_leaf(at.rip) {
            map.targets.of(core::iter::once(at.rip))
        } else {
            let found = found_at(map, stack, at);
            in_call(map, &found, inside, whole / period);
            found
        };
        control::process()
            .samples
            .fetch_add(whole / period, Ordering::Relaxed);
        let earned_ns =
            choice::on_sample(map, &in_section(found), sys::now(), whole / period, weight);
        Taken {
            time_ns: weight,
            earned_ns,
        }
    }

    /// Stops sampling; what the ring holds can still be read.
    pub(crate) fn silence(&self) {
        self.control_perf(Attributes::DISABLE);
        self.stop_timer();
    }

    /// Stops the timer. Any thread may call this.
    pub(crate) fn stop_timer(&self) {
        let timer = self.timer.swap(-1, Ordering::AcqRel);
        if timer >= 0 {
            // SAFETY: a plain system call on a timer that we own, and that nobody deletes besides.
            unsafe { sys::call(libc::SYS_timer_delete, [timer as usize, 0, 0, 0, 0, 0]) };
        }
    }

    /// Suspends sampling until [`Sampling::resume`]. Any thread may call this.
    pub(crate) fn hold(&self) {
        self.arm(Attributes::DISABLE, 0, 0);
    }

    /// Starts or resumes sampling.
    pub(crate) fn resume(&self) {
        let interval = Ticking::now().interval_ns;
        let first = self.first.after_ns();
        self.arm(
            Attributes::ENABLE,
            if first == 0 {
                interval
            } else {
                interval.min(first)
            },
            interval,
        );
    }

    /// The calling thread is about to pause: what it spins there is no part of a sampling period. Pauses begin at samples, so the
    /// next sample would always come that much too early, and the target would have more hits than its time.
    pub(crate) fn hold_for_pause(&self) {
        // Without the right to enable it again, it stays as it is.
        if allowed::may(Purpose::Perf) {
            self.control_perf(Attributes::DISABLE);
        }
    }

    /// The pause has ended.
    pub(crate) fn resume_after_pause(&self) {
        if !allowed::may(Purpose::Perf) || !resting::may_sample() {
            return;
        }
        self.control_perf(Attributes::ENABLE);
        // A rest may have begun meanwhile.
        if !resting::may_sample() {
            self.control_perf(Attributes::DISABLE);
        }
    }

    fn control_perf(&self, request: usize) {
        let (perf, _) = self.sources();
        if perf >= 0 {
            // SAFETY: a plain system call on a descriptor that we own.
            unsafe { sys::call(libc::SYS_ioctl, [perf as usize, request, 0, 0, 0, 0]) };
        }
    }

    fn arm(&self, request: usize, first_ns: u64, interval_ns: u64) {
        let after = |ns: u64| libc::timespec {
            tv_sec: 0,
            tv_nsec: ns as i64,
        };
        let setting = libc::itimerspec {
            it_interval: after(interval_ns),
            it_value: after(first_ns),
        };
        self.control_perf(request);
        // SAFETY: a plain system call on a timer that we own.
        unsafe {
            let (_, timer) = self.sources();
            if timer >= 0 {
                let setting = &raw const setting as usize;
                sys::call(
                    libc::SYS_timer_settime,
                    [timer as usize, 0, setting, 0, 0, 0],
                );
            }
        }
    }

    /// Descriptor of the perf event and id of the timer; negative where there is none.
    fn sources(&self) -> (i32, i32) {
        (
            self.perf.load(Ordering::Acquire),
            self.timer.load(Ordering::Acquire),
        )
    }

    /// Ends the sampling of the calling thread, which this belongs to.
    pub(crate) fn stop(&self) {
        self.silence();
        let ring = self.ring.replace(null_mut());
        if !ring.is_null() {
            // SAFETY: our mapping, and nobody reads it any more.
            unsafe { sys::call(libc::SYS_munmap, [ring as usize, RING_BYTES, 0, 0, 0, 0]) };
        }
        let fd = self.perf.swap(-1, Ordering::AcqRel);
        if fd >= 0 {
            descriptors::close(fd);
        }
    }

    /// Gives up the parent's sampling in a forked child, which has its descriptors but neither its rings nor its timers.
    pub(crate) fn abandon(&self) {
        let fd = self.perf.swap(-1, Ordering::AcqRel);
        if fd >= 0 {
            descriptors::close(fd);
        }
        self.ring.set(null_mut());
        self.timer.store(-1, Ordering::Release);
    }
}

/// The targets of a sample taken `at` these registers, of a thread with this stack.
fn found_at(map: &Map, stack: Stack, at: Registers) -> Found {
    let mut chain = [0; DEEPEST_WALK];
    let depth = walk(stack, at, &mut chain);
    map.targets.of(frames(chain[..depth].iter().copied()))
}

/// The same targets if the calling thread's samples count now; otherwise none.
fn in_section(found: Found) -> Found {
    if section::sample_counts() {
        found
    } else {
        Found::NOTHING
    }
}

/// Whether an address is the kernel's.
const fn is_kernel(address: u64) -> bool {
    address >> 63 != 0
}

/// Counts samples of the target `found` that were taken in a function that it calls.
fn in_call(map: &Map, found: &Found, function: Option<u8>, count: u64) {
    if let (true, Some(function)) = (control::records_calls() && count > 0, function)
        && let Some(target) = found.targets().first()
    {
        let spent = Spent {
            processor: count,
            whole: 0,
        };
        map.calls.add(*target, function, spent);
    }
}

/// Whether the runtime still samples. Otherwise stops the sampling of the thread that got this sample.
pub(crate) fn keep_sampling(sampling: &Sampling) -> bool {
    if activity::is_sampling() {
        return true;
    }
    sampling.silence();
    false
}
