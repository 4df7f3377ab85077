//! The engine's unwind table, which finds callers in code without frame pointers.

use core::slice;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::descriptors::apart;
use fulcrum_preload::kept::Kept;
use fulcrum_preload::quiet::{Lock, uninterrupted};
use fulcrum_preload::sys;
use fulcrum_wire::transactions::{UNWIND_SUFFIX, word};
use fulcrum_wire::{UNWIND_MAGIC, Unwind, UnwindHeader, VERSION};

use crate::log;
use crate::session::{self, Name};

/// A table, with its number in this process.
struct Table {
    rows: &'static [Unwind],
    number: u32,
}

static TABLE: Kept<Table> = Kept::new();
/// The newest generation of this log that was examined.
static SEEN: AtomicU64 = AtomicU64::new(0);
static TAKING: Lock = Lock::new();
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// How long the engine has to answer at program start, in nanoseconds.
const TIMEOUT_NS: u64 = 3_000_000_000;
/// How often the engine's existence is checked, in nanoseconds.
const CHECK_NS: u64 = 100_000_000;

/// The newest table, and its number, which is 0 while there is none. Old tables stay mapped, because other threads may be
/// reading them.
#[inline]
pub(crate) fn rows() -> (&'static [Unwind], u32) {
    let ready = log::header(word::UNWIND_READY).load(Ordering::Acquire);
    if ready != SEEN.load(Ordering::Relaxed) {
        take(ready);
    }
    TABLE
        .get()
        .map_or((&[], 0), |table| (table.rows, table.number))
}

/// Maps a table that the engine has written. Runs in a thread without descriptors, so it takes no descriptor number that
/// the program expects for itself.
#[cold]
fn take(generation: u64) {
    if !TAKING.try_take() {
        return;
    }
    SEEN.store(generation, Ordering::Relaxed);
    let number = TAKEN.fetch_add(1, Ordering::Relaxed) + 1;
    let rows = uninterrupted(|| apart(|| map(generation)));
    let table = rows.and_then(|rows| session::keep(Table { rows, number }));
    if let Some(table) = table {
        TABLE.set(table);
    }
    TAKING.free();
}

fn map(generation: u64) -> Option<&'static [Unwind]> {
    let folder = session::session()?.folder();
    let [pid, turn] = [word::PID, word::TURN].map(|at| log::header(at).load(Ordering::Relaxed));
    let name = Name::new(format_args!(
        "{folder}/{pid}-{turn}.{generation}{UNWIND_SUFFIX}"
    ))?;
    let header = size_of::<UnwindHeader>();
    let (base, length) = session::map(&name, libc::PROT_READ, header)?;
    // SAFETY: the mapping is at least as long as the header.
    let head = unsafe { &*base.cast::<UnwindHeader>() };
    let count = head.row_count as usize;
    let fits = count
        .checked_mul(size_of::<Unwind>())
        .is_some_and(|bytes| header + bytes <= length);
    if head.magic != UNWIND_MAGIC || head.version != VERSION || !fits {
        return None;
    }
    // SAFETY: the rows are within a mapping that is never unmapped. The header's size keeps them aligned, and they are
    // plain words.
    Some(unsafe { slice::from_raw_parts(base.add(header).cast(), count) })
}

/// Asks the engine for a table of all code that is currently mapped.
pub(crate) fn ask() {
    log::header(word::UNWIND_WANTED).fetch_add(1, Ordering::AcqRel);
    sys::futex_wake(log::low_half(word::UNWIND_WANTED));
}

/// Waits for the first table, so that the first call paths are complete. Does not wait long, nor for an engine that has
/// gone.
pub(crate) fn wait() {
    let end = sys::now() + TIMEOUT_NS;
    let ready = log::low_half(word::UNWIND_READY);
    while ready.load(Ordering::Acquire) == 0
        && sys::now() < end
        && session::session().is_some_and(|session| session.has_engine())
    {
        sys::futex_wait(ready, 0, CHECK_NS);
    }
}

/// In a forked child, which has its parent's code and table: generations start anew.
pub(crate) fn begin_again() {
    SEEN.store(0, Ordering::Relaxed);
    TAKING.free();
}
