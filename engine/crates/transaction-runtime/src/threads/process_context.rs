//! The attribute names of spans: a table that the SDK publishes for the whole process (OTEP 4719), logged when it is
//! needed. It is read through the kernel, as if from outside, so an invalid table does no harm.
//!
//! Only the header is read here; the message itself is logged as it is, and decoded by the engine.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_preload::descriptors::apart;
use fulcrum_preload::quiet::{Lock, uninterrupted};
use fulcrum_preload::sys;
use fulcrum_wire::transactions::{MAX_CONTEXT, Record};

use super::thread::Inside;
use super::thread_context;
use crate::call_paths::modules;
use crate::session::{self, Name};

/// Names of mappings that begin with the header.
const NAMES: [&[u8]; 3] = [
    b"/memfd:OTEL_CTX",
    b"[anon_shmem:OTEL_CTX",
    b"[anon:OTEL_CTX",
];
const SIGNATURE: u64 = u64::from_le_bytes(*b"OTEL_CTX");
/// The length of the header: signature; version and size; time of publication; address of the table.
const HEADER: usize = 32;
/// How often a missing table is searched for.
const MOST_SEARCHES: u32 = 32;
/// How often it is read again if it was being written.
const TRIES: usize = 3;

/// The number of attributes that had names when the table was last logged.
static KNOWN: AtomicU32 = AtomicU32::new(0);
static SEARCHES: AtomicU32 = AtomicU32::new(0);
static LOCK: Lock = Lock::new();

/// Logs the table if spans have attributes that it did not have when it was last logged.
#[inline]
pub(crate) fn log(inside: &Inside) {
    let needed = thread_context::named();
    if needed > KNOWN.load(Ordering::Relaxed) {
        search(inside, needed);
    }
}

#[cold]
fn search(inside: &Inside, needed: u32) {
    if SEARCHES.load(Ordering::Relaxed) >= MOST_SEARCHES || !LOCK.try_take() {
        return;
    }
    SEARCHES.fetch_add(1, Ordering::Relaxed);
    if uninterrupted(|| apart(|| read(inside))).is_some() {
        KNOWN.store(needed, Ordering::Relaxed);
    }
    LOCK.free();
}

fn read(inside: &Inside) -> Option<()> {
    let mut at = 0;
    modules::each_line(|line| {
        let path = line.splitn(6, |byte| *byte == b' ').nth(5).unwrap_or(&[]);
        let path = path.trim_ascii();
        if at == 0 && NAMES.iter().any(|it| path.starts_with(it)) {
            at = modules::start(line);
        }
    })?;
    if at == 0 {
        return None;
    }
    let name = Name::new(format_args!("/proc/self/mem"))?;
    let memory = session::open(&name, libc::O_RDONLY).ok()?;
    let logged = (0..TRIES).find_map(|_| table(inside, memory, at));
    session::close(memory);
    logged
}

/// Reads and logs the table. Returns `None` if it is invalid or being written.
fn table(inside: &Inside, memory: usize, at: u64) -> Option<()> {
    let mut header = [0; HEADER];
    read_at(memory, at, &mut header)?;
    let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
    let (version, size) = (word(8) as u32, (word(8) >> 32) as usize);
    let published = word(16);
    if word(0) != SIGNATURE || !(1..=2).contains(&version) || published == 0 {
        return None;
    }
    let mut bytes = [0; MAX_CONTEXT];
    let bytes = bytes.get_mut(..size)?;
    read_at(memory, word(24), bytes)?;
    let mut again = [0; HEADER];
    read_at(memory, at, &mut again)?;
    if again != header {
        return None;
    }
    inside.write(0, &Record::Context(bytes));
    Some(())
}

/// Fills the buffer.
fn read_at(memory: usize, at: u64, into: &mut [u8]) -> Option<()> {
    // SAFETY: the kernel writes at most the buffer's length.
    let read = unsafe {
        let args = [
            memory,
            into.as_mut_ptr().addr(),
            into.len(),
            at as usize,
            0,
            0,
        ];
        sys::call(libc::SYS_pread64, args)
    };
    (read == into.len() as isize).then_some(())
}

/// In a forked child, which has none of what its parent published.
pub(crate) fn begin_again() {
    KNOWN.store(0, Ordering::Relaxed);
    LOCK.free();
}
