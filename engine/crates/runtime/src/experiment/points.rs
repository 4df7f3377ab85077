//! Progress points (COZ §3.3): counters that the program's macros find by `dlsym`.
//!
//! The counter's layout and `_coz_get_counter` are what programs built with `coz.h` expect, so those work unchanged. `fulcrum.h`
//! and the `fulcrum-progress` crate use the same.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int};
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fulcrum_preload::sys;
use fulcrum_wire::flag;

use crate::process::{activity, control, thread};
use crate::sampling::breakpoints;

/// A counter, which the macros add to.
#[repr(C)]
pub(crate) struct Counter {
    count: AtomicUsize,
    backoff: AtomicUsize,
}

impl Counter {
    /// Counts a visit.
    pub(crate) fn visit(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

/// One counter with its name. A latency point is two of them.
struct Slot {
    counter: Counter,
    /// Index + 1 of a breakpoint that counts the visits; 0 when the program itself counts them.
    breakpoint: AtomicUsize,
    kind: AtomicUsize,
    length: AtomicUsize,
    name: UnsafeCell<[u8; LONGEST]>,
}

/// Longer names are cut, bytes.
const LONGEST: usize = 200;
/// The most counters.
pub(crate) const SLOTS: usize = 256;

/// What a counter counts, by the numbers of coz's macros.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Throughput = 1,
    Begin = 2,
    End = 3,
}

impl Kind {
    fn of(number: usize) -> Option<Kind> {
        match number {
            1 => Some(Kind::Throughput),
            2 => Some(Kind::Begin),
            3 => Some(Kind::End),
            _ => None,
        }
    }
}

// SAFETY: a slot's name is written once, before USED publishes it.
unsafe impl Sync for Slot {}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        counter: Counter {
            count: AtomicUsize::new(0),
            backoff: AtomicUsize::new(0),
        },
        breakpoint: AtomicUsize::new(0),
        kind: AtomicUsize::new(0),
        length: AtomicUsize::new(0),
        name: UnsafeCell::new([0; LONGEST]),
    }
}; SLOTS];
static USED: AtomicUsize = AtomicUsize::new(0);
static LOCK: AtomicBool = AtomicBool::new(false);
static UNCOUNTED: Counter = Counter {
    count: AtomicUsize::new(0),
    backoff: AtomicUsize::new(0),
};

impl Slot {
    fn name(&self) -> &[u8] {
        // SAFETY: published slots do not change.
        unsafe { (&*self.name.get()).get_unchecked(..self.length.load(Ordering::Relaxed)) }
    }

    /// `None` only before the slot is published.
    fn kind(&self) -> Option<Kind> {
        Kind::of(self.kind.load(Ordering::Relaxed))
    }

    fn count(&self) -> usize {
        let own = self.counter.count.load(Ordering::Relaxed);
        match self.breakpoint.load(Ordering::Relaxed) {
            0 => own,
            point => own + breakpoints::count(point as u32 - 1),
        }
    }
}

fn used() -> &'static [Slot] {
    &TABLE[..USED.load(Ordering::Acquire)]
}

/// The counter of kind 1 (throughput), 2 (begin) or 3 (end) with this name. Never null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _coz_get_counter(
    kind: c_int,
    name: *const c_char,
) -> *const Counter {
    let kind = usize::try_from(kind).ok().and_then(Kind::of);
    let Some(kind) = kind.filter(|_| !name.is_null()) else {
        return &UNCOUNTED;
    };
    // SAFETY: the macros pass a C string.
    let full = unsafe { CStr::from_ptr(name) }.to_bytes();
    let name = &full[..full.len().min(LONGEST)];
    slot(kind, name).map_or(&raw const UNCOUNTED, |slot| &raw const slot.counter)
}

/// Registers a throughput point whose visits a breakpoint counts (`breakpoints`).
pub(crate) fn register(name: &[u8], point: u32) {
    if let Some(slot) = slot(Kind::Throughput, &name[..name.len().min(LONGEST)]) {
        slot.breakpoint.store(point as usize + 1, Ordering::Release);
    }
}

/// The two counters of a latency point: where requests begin and where they end. `None` when all counters are taken.
pub(crate) fn latency(name: &[u8]) -> Option<(&'static Counter, &'static Counter)> {
    let name = &name[..name.len().min(LONGEST)];
    let begin = slot(Kind::Begin, name)?;
    Some((&begin.counter, &slot(Kind::End, name)?.counter))
}

/// The slot of this kind and name, or a new one. `None` when all are taken.
fn slot(kind: Kind, name: &[u8]) -> Option<&'static Slot> {
    while LOCK.swap(true, Ordering::Acquire) {
        core::hint::spin_loop();
    }
    let count = USED.load(Ordering::Relaxed);
    let known = used()
        .iter()
        .find(|slot| slot.kind() == Some(kind) && are_equal(slot.name(), name));
    let slot = known.or_else(|| {
        let slot = TABLE.get(count)?;
        // SAFETY: the lock is held and the slot not published yet.
        copy(name, unsafe { &mut *slot.name.get() });
        slot.length.store(name.len(), Ordering::Relaxed);
        slot.kind.store(kind as usize, Ordering::Relaxed);
        USED.store(count + 1, Ordering::Release);
        Some(slot)
    });
    LOCK.store(false, Ordering::Release);
    if activity::is_active() {
        control::process()
            .points
            .store(used().len() as u32, Ordering::Relaxed);
        if slot.is_none() {
            control::process()
                .flags
                .fetch_or(flag::TOO_MANY_POINTS, Ordering::Relaxed);
        }
    }
    slot
}

/// Whether two names are equal; without libc, as [`copy`].
fn are_equal(one: &[u8], other: &[u8]) -> bool {
    let mut pairs = one.iter().zip(other);
    // SAFETY: both are references.
    one.len() == other.len() && pairs.all(|(one, other)| unsafe { read_volatile(one) == *other })
}

/// Copies a name byte by byte. ThreadSanitizer watches what libc's functions copy and compare: it would see the program's
/// threads share the table, but not our lock.
fn copy(name: &[u8], into: &mut [u8]) {
    for (from, to) in name.iter().zip(into) {
        // SAFETY: a reference.
        unsafe { write_volatile(to, *from) };
    }
}

/// `COZ_PRE_BLOCK`: the program is about to block in a way that no hook sees.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn _coz_pre_block() {
    thread::before();
}

/// `COZ_POST_BLOCK`: it has unblocked; `skip` when another thread woke it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn _coz_post_block(skip: c_int) {
    if skip != 0 {
        thread::after_wake(None);
    } else {
        thread::before();
    }
}

/// `fulcrum.h` and `fulcrum-progress`: a request is about to begin or to end.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn fulcrum_settle() {
    let _errno = sys::KeepErrno::new();
    thread::before();
}

/// `COZ_CATCH_UP`: the program is about to wake others in a way that no hook sees.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn _coz_add_delays() {
    fulcrum_settle();
}

/// All counters at one moment.
pub(crate) struct Snapshot {
    counts: [usize; SLOTS],
    used: usize,
}

impl Snapshot {
    /// Nothing visited yet.
    pub(crate) const EMPTY: Snapshot = Snapshot {
        counts: [0; SLOTS],
        used: 0,
    };

    /// Reads the counters.
    pub(crate) fn take(&mut self) {
        self.used = used().len();
        for (count, slot) in self.counts.iter_mut().zip(used()) {
            *count = slot.count();
        }
    }

    /// A counter's value; 0 for one that the program had not reached yet.
    fn at(&self, index: usize) -> usize {
        if index < self.used {
            self.counts[index]
        } else {
            0
        }
    }
}

/// Visits to all counters so far.
pub(crate) fn visits() -> u64 {
    used().iter().map(|slot| slot.count() as u64).sum()
}

/// Visits so far to the counters that end a unit of work.
pub(crate) fn completions_now() -> u64 {
    let ends = used()
        .iter()
        .filter(|slot| slot.kind() != Some(Kind::Begin));
    ends.map(|slot| slot.count() as u64).sum()
}

/// Whether the program counts requests in progress.
pub(crate) fn have_begins() -> bool {
    used().iter().any(|slot| slot.kind() == Some(Kind::Begin))
}

/// Counts the visit that ends an end-to-end experiment.
pub(crate) fn complete_end_to_end() {
    // SAFETY: a C string.
    let counter = unsafe { &*_coz_get_counter(Kind::Throughput as c_int, c"end-to-end".as_ptr()) };
    counter.count.fetch_add(1, Ordering::Relaxed);
}

/// Requests in progress, averaged over the observations made during an experiment (`L` of Little's law, COZ §3.3).
pub(crate) struct Pending {
    // Requests times nanoseconds.
    sums: [f64; SLOTS],
    counts: [i64; SLOTS],
    first_ns: u64,
    last_ns: u64,
}

impl Pending {
    /// Nothing observed yet.
    pub(crate) const NONE: Pending = Pending {
        sums: [0.0; SLOTS],
        counts: [0; SLOTS],
        first_ns: 0,
        last_ns: 0,
    };

    /// Starts over for another experiment.
    pub(crate) fn clear(&mut self) {
        *self = Pending::NONE;
    }

    /// Observes once: what is in progress now counts for the time until the next observation.
    pub(crate) fn sample(&mut self) {
        if !have_begins() {
            return;
        }
        let now = sys::now();
        let passed = match self.last_ns {
            0 => 0.0,
            last => (now - last) as f64,
        };
        self.last_ns = now;
        if self.first_ns == 0 {
            self.first_ns = now;
        }
        let counted = self.sums.iter_mut().zip(&mut self.counts);
        for ((sum, in_progress), slot) in counted.zip(used()) {
            if slot.kind() == Some(Kind::Begin) {
                *sum += *in_progress as f64 * passed;
                let count = |slot: &Slot| slot.counter.count.load(Ordering::Relaxed) as i64;
                // The end first: a request that ends in between counts as in progress, never as minus one.
                let ended = partner(used(), slot, Kind::End).map_or(0, |end| count(&used()[end]));
                *in_progress = count(slot) - ended;
            }
        }
    }

    fn mean(&self, index: usize) -> Option<f64> {
        let time = self.last_ns.saturating_sub(self.first_ns) as f64;
        (time > 0.0).then(|| self.sums[index] / time)
    }
}

fn partner(slots: &[Slot], slot: &Slot, kind: Kind) -> Option<usize> {
    slots
        .iter()
        .position(|other| other.kind() == Some(kind) && other.name() == slot.name())
}

/// Visits to the busiest counter between two moments.
pub(crate) fn busiest(before: &Snapshot, after: &Snapshot) -> u64 {
    (0..after.used)
        .map(|i| after.at(i).wrapping_sub(before.at(i)) as u64)
        .max()
        .unwrap_or(0)
}

/// What every progress point counted between two moments, and until one in between, in the order in which the program reached
/// them. A begin without an end, or the reverse, counts zero for what is missing.
pub(crate) fn between<'a>(
    before: &'a Snapshot,
    middle: Option<&'a Snapshot>,
    after: &'a Snapshot,
    pending: &'a Pending,
) -> impl Iterator<Item = fulcrum_runtime_core::record::Point<'static>> + 'a {
    use fulcrum_runtime_core::record::{Count, Point};
    let slots = &used()[..after.used];
    slots.iter().enumerate().filter_map(move |(index, slot)| {
        let until =
            |at: &Snapshot, index: usize| at.at(index).wrapping_sub(before.at(index)) as u64;
        let delta = |index: usize| until(after, index);
        let end_of = |slot: &Slot| partner(slots, slot, Kind::End);
        let kind = slot.kind()?;
        let completes = if kind == Kind::Begin {
            end_of(slot)
        } else {
            Some(index)
        };
        let half = middle.zip(completes).map(|(middle, at)| until(middle, at));
        let count = match kind {
            Kind::Throughput => Count::Throughput(delta(index)),
            Kind::Begin => {
                let end = end_of(slot);
                let begun = |snapshot: &Snapshot| {
                    snapshot.at(index) as i64 - end.map_or(0, |end| snapshot.at(end) as i64)
                };
                Count::Latency {
                    arrivals: delta(index),
                    departures: end.map_or(0, delta),
                    pending_before: begun(before),
                    pending_after: begun(after),
                    mean: pending
                        .mean(index)
                        .unwrap_or((begun(before) + begun(after)) as f64 / 2.0),
                }
            }
            Kind::End if partner(slots, slot, Kind::Begin).is_some() => return None,
            Kind::End => Count::Latency {
                arrivals: 0,
                departures: delta(index),
                pending_before: 0,
                pending_after: 0,
                mean: 0.0,
            },
        };
        Some(Point {
            name: slot.name(),
            count,
            half,
        })
    })
}
