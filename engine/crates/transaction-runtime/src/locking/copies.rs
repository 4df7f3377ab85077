//! Records where translated copies of critical sections come from. The engine samples from outside and finds threads in
//! them.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use fulcrum_critical_sections::Translated;
use fulcrum_preload::sys;
use fulcrum_wire::transactions::copies::{COUNT, ENTRY, HEADER, LENGTH};
use fulcrum_wire::transactions::{COPIES_MODULE, COPIES_SUFFIX, Record, word};

use crate::session::{self, Name};
use crate::threads::thread;
use crate::{active, log};

/// The first byte of this process's file, or null while there is none.
static BASE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
/// Whether the file exists or cannot be created.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Logs where copies will be.
pub(crate) fn begin() {
    let code = fulcrum_critical_sections::code_memory();
    if let Some(inside) = thread::enter() {
        inside.write(
            0,
            &Record::Module {
                start: code.start,
                end: code.end,
                offset: 0,
                file: COPIES_MODULE.as_bytes(),
            },
        );
    }
}

/// In a forked child, before it has a log. The file belongs to the parent; both processes have the copies in it.
pub(crate) fn begin_again() {
    let base = BASE.swap(null_mut(), Ordering::Relaxed);
    ASKED.store(false, Ordering::Relaxed);
    if !base.is_null() {
        log::unmap(base, LENGTH);
    }
}

/// Records what a copy consists of. One call at a time.
pub(crate) fn add(copy: &Translated<'_>) {
    let Some(base) = file() else {
        return;
    };
    let entries = copy.instructions.iter();
    let entries = entries.map(|&(offset, ip)| (copy.start + u64::from(offset), ip));
    let end = copy.start + u64::from(copy.length);
    for entry in entries.chain([(end, 0)]) {
        if write(base, entry).is_none() {
            return;
        }
    }
}

/// Writes an entry. Returns `None` if there is no room.
fn write(base: *mut u8, (copy, original): (u64, u64)) -> Option<()> {
    // SAFETY: the header's page is mapped, and the word is aligned.
    let count = unsafe { &*base.cast::<AtomicU64>().add(COUNT) };
    let known = count.load(Ordering::Relaxed);
    let at = HEADER + usize::try_from(known).ok()?.checked_mul(ENTRY)?;
    if at + ENTRY > LENGTH {
        return None;
    }
    // SAFETY: both words are within the mapping.
    let words = unsafe { base.add(at) };
    if at.is_multiple_of(sys::PAGE) {
        log::reserve(words, sys::PAGE)?;
    }
    let words = words.cast::<AtomicU64>();
    // SAFETY: within the mapping; entries are aligned to their length.
    unsafe {
        (*words).store(copy.to_le(), Ordering::Relaxed);
        (*words.add(1)).store(original.to_le(), Ordering::Relaxed);
    }
    count.store((known + 1).to_le(), Ordering::Release);
    Some(())
}

/// The file, created on first use: many forked children make no copies of their own.
fn file() -> Option<*mut u8> {
    // A child without a log still has its parent's log mapped.
    if !active::is_active() {
        return None;
    }
    if !ASKED.swap(true, Ordering::Relaxed)
        && let Some(base) = make()
    {
        BASE.store(base, Ordering::Release);
        log::header(word::COPIES).store(1_u64.to_le(), Ordering::Release);
    }
    let base = BASE.load(Ordering::Acquire);
    (!base.is_null()).then_some(base)
}

fn make() -> Option<*mut u8> {
    let folder = session::session()?.folder();
    let [pid, turn] = [word::PID, word::TURN].map(|at| log::header(at).load(Ordering::Relaxed));
    let name = Name::new(format_args!("{folder}/{pid}-{turn}{COPIES_SUFFIX}"))?;
    log::make_file(&name, LENGTH)
}
