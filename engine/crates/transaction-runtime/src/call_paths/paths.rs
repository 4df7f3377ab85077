//! Call paths (Whodunit §5): the callers of a hook, as a number that stands for a [`Record::Path`].
//!
//! Each thread caches its latest paths. If the return addresses on the stack have the hash of those of a cached path, the path is
//! the same.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use core::{iter, slice};

use fulcrum_preload::sys;
use fulcrum_unwind::{Registers, walk};
use fulcrum_wire::transactions::{Record, word};

use super::memory::{Memo, Memory, READS, SETS, WINDOW};
use super::{callers, modules};
use crate::hooks::frame::Called;
use crate::log;
use crate::threads::thread::{Inside, Stack};

/// The most paths of one process that are told apart.
const MOST: u32 = 1 << 16;
/// The size of the table, which stays at least half empty.
const PLACES: usize = 2 * MOST as usize;
/// The most addresses of all paths together.
const POOL: usize = 4 << 20;
/// The most places probed for one path.
const PROBES: usize = 64;

/// A path. Zeroed, there is none.
struct Entry {
    /// The hash of its addresses, not 0. Set by the thread that takes the place.
    hash: AtomicU64,
    /// Its number, once it can be used.
    id: AtomicU32,
    /// The log that it was last written to.
    written: AtomicU32,
    /// The index of its first address in the pool.
    begin: AtomicU32,
    /// The number of its addresses.
    length: AtomicU32,
}

static TABLE: AtomicPtr<Entry> = AtomicPtr::new(null_mut());
static ADDRESSES: AtomicPtr<u64> = AtomicPtr::new(null_mut());
static LAST_ID: AtomicU32 = AtomicU32::new(0);
static POOL_USED: AtomicUsize = AtomicUsize::new(0);

/// Makes room for paths. Call this before any other function of this module.
pub(crate) fn prepare() -> Option<()> {
    let table = sys::map_anonymous(PLACES * size_of::<Entry>())?;
    let pool = sys::map_anonymous(POOL * size_of::<u64>())?;
    TABLE.store(table.cast(), Ordering::Release);
    ADDRESSES.store(pool.cast(), Ordering::Release);
    Some(())
}

fn table() -> &'static [Entry] {
    // SAFETY: the table has `PLACES` entries and is never unmapped. Zeroed entries are valid. `prepare` has run.
    unsafe { slice::from_raw_parts(TABLE.load(Ordering::Acquire), PLACES) }
}

impl Entry {
    fn addresses(&self) -> &'static [u64] {
        let begin = self.begin.load(Ordering::Relaxed) as usize;
        let length = self.length.load(Ordering::Relaxed) as usize;
        // SAFETY: within the pool. The addresses were written before the entry's number, which the caller has read.
        unsafe { slice::from_raw_parts(ADDRESSES.load(Ordering::Relaxed).add(begin), length) }
    }
}

impl Inside {
    /// The number of the call path of a hook, or 0 if it is unknown.
    #[inline]
    pub(crate) fn path(&self, called: &impl Called) -> u32 {
        self.path_at(called.caller())
    }

    /// The number of the call path of a caller with these registers after the call, or 0 if it is unknown.
    pub(crate) fn path_at(&self, caller: Registers) -> u32 {
        // SAFETY: the memory belongs to this thread, which alone uses it while it is in our code.
        let memory = unsafe { &mut *self.memory() };
        path(self, memory, caller, self.thread().stack())
    }
}

/// The number of the call path starting at these registers, or 0 if it is unknown. `stack` is the thread's own.
fn path(inside: &Inside, memory: &mut Memory, at: Registers, stack: Stack) -> u32 {
    let (rows, number) = callers::rows();
    let own = stack.has(at.rsp);
    let log = log::number();
    let key = (at.rip ^ at.rsp >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let set = &mut memory.memos[key as usize % SETS];
    let owner = memory.owner;
    let is_it = |memo: &&Memo| {
        memo.path != 0
            && (memo.owner, memo.log) == (owner, log)
            && (memo.return_address, memo.sp, memo.table) == (at.rip, at.rsp, number)
            && is_unchanged(memo)
    };
    if own && let Some(memo) = set.iter().find(is_it) {
        return memo.path;
    }
    // Rules are looked up one byte before the return address, because a call may be the last instruction of its function.
    let start = Registers {
        rip: at.rip.wrapping_sub(1),
        ..at
    };
    let mut reader = Reader {
        at: start.rsp,
        own: own.then_some(stack.high),
        reads: &mut memory.reads,
        count: 0,
        window: &mut memory.window,
        window_at: 0,
        window_length: 0,
    };
    let read = |address| reader.read(address);
    let depth = walk(rows, start, read, &mut memory.addresses);
    let count = reader.count;
    memory.addresses[0] = at.rip;
    let addresses = &memory.addresses[..depth];
    let Some(place) = place_of(inside, addresses) else {
        log::header(word::PATHS_LOST).fetch_add(1, Ordering::Relaxed);
        return 0;
    };
    let path = use_entry(inside, &table()[place]);
    if own {
        // The oldest is evicted.
        set.rotate_right(1);
        let memo = &mut set[0];
        memo.path = path;
        (memo.owner, memo.log) = (owner, log);
        (memo.return_address, memo.sp, memo.table) = (at.rip, at.rsp, number);
        remember(memo, addresses, &memory.reads[..count]);
    }
    path
}

/// Whether all return addresses are unchanged on the thread's own stack.
fn is_unchanged(memo: &Memo) -> bool {
    let others = memo
        .slots
        .iter()
        .take(usize::from(memo.depth).saturating_sub(1));
    let others = others.map(|slot| {
        let at = (memo.sp + 8 * u64::from(*slot)) as *const u64;
        // SAFETY: above the stack pointer, on the thread's own stack, at a place that the walk has read.
        unsafe { at.read_volatile() }
    });
    hash(iter::once(memo.return_address).chain(others)) == memo.hash
}

/// Records where the walk read the return addresses. It also read other words in between.
fn remember(memo: &mut Memo, addresses: &[u64], reads: &[(u64, u64)]) {
    let mut reads = reads.iter();
    memo.depth = addresses.len() as u16;
    memo.hash = hash(addresses.iter().copied());
    for (address, slot) in addresses.iter().skip(1).zip(&mut memo.slots) {
        let found = reads.find(|(_, value)| value == address);
        let words = found
            .map(|(at, _)| at - memo.sp)
            .filter(|offset| offset.is_multiple_of(8))
            .and_then(|offset| u16::try_from(offset / 8).ok());
        let Some(words) = words else {
            memo.path = 0;
            return;
        };
        *slot = words;
    }
}

/// Reads a thread's stack, and records what it reads.
struct Reader<'a> {
    /// Nothing below this is valid.
    at: u64,
    /// The end of the thread's own stack, if the stack pointer is on it.
    own: Option<u64>,
    reads: &'a mut [(u64, u64); READS],
    count: usize,
    window: &'a mut [u64; WINDOW],
    window_at: u64,
    window_length: usize,
}

impl Reader<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) {
            return None;
        }
        let value = match self.own {
            Some(high) if self.at <= address && address < high => {
                // SAFETY: between the stack pointer and the top of the thread's own stack, and aligned.
                unsafe { (address as *const u64).read_volatile() }
            }
            Some(_) => return None,
            None => self.read_checked(address)?,
        };
        if let Some(place) = self.reads.get_mut(self.count) {
            *place = (address, value);
            self.count += 1;
        }
        Some(value)
    }

    /// Reads through the kernel, because the address may be invalid. Reads as much as there is up to the end of the page.
    fn read_checked(&mut self, address: u64) -> Option<u64> {
        let inside = |reader: &Self| {
            let index = address.checked_sub(reader.window_at)? as usize / 8;
            reader
                .window
                .get(..reader.window_length)?
                .get(index)
                .copied()
        };
        if let Some(value) = inside(self) {
            return Some(value);
        }
        let page = sys::PAGE as u64;
        let wanted = (page - address % page).min(8 * WINDOW as u64) as usize;
        let local = libc::iovec {
            iov_base: self.window.as_mut_ptr().cast(),
            iov_len: wanted,
        };
        let remote = libc::iovec {
            iov_base: core::ptr::without_provenance_mut(address as usize),
            iov_len: wanted,
        };
        // SAFETY: the kernel checks the remote address, and writes at most the window's length into the window.
        let read = unsafe {
            let pid = sys::process_id() as usize;
            let (local, remote) = ((&raw const local).addr(), (&raw const remote).addr());
            sys::call(libc::SYS_process_vm_readv, [pid, local, 1, remote, 1, 0])
        };
        self.window_at = address;
        self.window_length = read.max(0) as usize / 8;
        inside(self)
    }
}

/// A hash of a path, not 0.
fn hash(addresses: impl Iterator<Item = u64>) -> u64 {
    // The products do not wait for each other.
    let hash = addresses.fold(0_u64, |hash, address| {
        hash.rotate_left(7) ^ address.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    hash ^ hash >> 29 | 1
}

/// The place of a path in the table. Adds it if it is new. Returns `None` if there is no room.
fn place_of(inside: &Inside, addresses: &[u64]) -> Option<usize> {
    let hash = hash(addresses.iter().copied());
    let table = table();
    let first = (hash >> 1) as usize;
    for probe in 0..PROBES {
        let place = (first + probe) % PLACES;
        let entry = &table[place];
        let mut found = entry.hash.load(Ordering::Acquire);
        if found == 0 {
            if LAST_ID.load(Ordering::Relaxed) >= MOST {
                return None;
            }
            let taken = entry
                .hash
                .compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire);
            match taken {
                Ok(_) => return fill(inside, entry, addresses).map(|()| place),
                Err(other) => found = other,
            }
        }
        // Skips an entry that another thread is still filling: the path gets a second number.
        if found == hash && entry.id.load(Ordering::Acquire) != 0 && entry.addresses() == addresses
        {
            return Some(place);
        }
    }
    None
}

/// Fills an entry that belongs to this thread. Publishes its number once its record has been written.
fn fill(inside: &Inside, entry: &Entry, addresses: &[u64]) -> Option<()> {
    let begin = POOL_USED.fetch_add(addresses.len(), Ordering::Relaxed);
    if begin + addresses.len() > POOL {
        return None;
    }
    let id = LAST_ID.fetch_add(1, Ordering::Relaxed) + 1;
    if id > MOST {
        return None;
    }
    // SAFETY: this part of the pool belongs to this entry alone.
    unsafe {
        let place = ADDRESSES.load(Ordering::Relaxed).add(begin);
        place.copy_from_nonoverlapping(addresses.as_ptr(), addresses.len());
    }
    entry.begin.store(begin as u32, Ordering::Relaxed);
    entry
        .length
        .store(addresses.len() as u32, Ordering::Relaxed);
    modules::log_unknown(inside, addresses);
    write(inside, entry, id);
    entry.id.store(id, Ordering::Release);
    Some(())
}

fn write(inside: &Inside, entry: &Entry, id: u32) {
    entry.written.store(log::number(), Ordering::Relaxed);
    let addresses = entry.addresses();
    // SAFETY: the addresses are plain initialised words; the machine is little-endian, as the log is.
    let addresses =
        unsafe { slice::from_raw_parts(addresses.as_ptr().cast::<u8>(), size_of_val(addresses)) };
    inside.write(0, &Record::Path { id, addresses });
}

/// The number of a path. In a forked child's log, writes its record on first use.
#[inline]
fn use_entry(inside: &Inside, entry: &Entry) -> u32 {
    let id = entry.id.load(Ordering::Acquire);
    if entry.written.load(Ordering::Relaxed) != log::number() {
        write(inside, entry, id);
    }
    id
}

/// In a forked child: entries that other threads were adding are never completed, and are skipped.
pub(crate) fn begin_again() {
    modules::begin_again();
}
