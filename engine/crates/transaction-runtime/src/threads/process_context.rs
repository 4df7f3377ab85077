//! The names of attributes of spans: a table that the SDK publishes for the whole process (OTEP 4719), logged when it is needed. It
//! is read through the kernel, as from outside: what is wrong with it hurts nobody.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_preload::descriptors::apart;
use fulcrum_preload::quiet::{Lock, uninterrupted};
use fulcrum_preload::sys;
use fulcrum_wire::transactions::{MAX_CONTEXT, Record};

use super::thread::Inside;
use super::thread_context;
use crate::call_paths::modules;
use crate::session::{self, Name};

/// What a mapping is called that begins with the header.
const NAMES: [&[u8]; 3] = [
    b"/memfd:OTEL_CTX",
    b"[anon_shmem:OTEL_CTX",
    b"[anon:OTEL_CTX",
];
const SIGNATURE: u64 = u64::from_le_bytes(*b"OTEL_CTX");
/// Of the header: signature; version and size; when it was published; where the table is.
const HEADER: usize = 32;
/// So often a table is looked for that is not there.
const MOST_LOOKS: u32 = 32;
/// It is read again when it was being written.
const TRIES: usize = 3;

/// Attributes that had names when the table was last logged.
static KNOWN: AtomicU32 = AtomicU32::new(0);
static LOOKS: AtomicU32 = AtomicU32::new(0);
static LOCK: Lock = Lock::new();

/// Logs the table, if spans have attributes that were not there when it was last logged.
#[inline]
pub(crate) fn tell(inside: &Inside) {
    let needed = thread_context::named();
    if needed > KNOWN.load(Ordering::Relaxed) {
        look(inside, needed);
    }
}

#[cold]
fn look(inside: &Inside, needed: u32) {
    if LOOKS.load(Ordering::Relaxed) >= MOST_LOOKS || !LOCK.try_take() {
        return;
    }
    LOOKS.fetch_add(1, Ordering::Relaxed);
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
    let told = (0..TRIES).find_map(|_| table(inside, memory, at));
    session::close(memory);
    told
}

/// Reads the table and logs it; `None` when it is none, or is being written.
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

/// Reads as many bytes as there is room for.
fn read_at(memory: usize, at: u64, into: &mut [u8]) -> Option<()> {
    // SAFETY: the kernel writes so many bytes at most.
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

/// In a forked child: it has none of what its parent published.
pub(crate) fn begin_again() {
    KNOWN.store(0, Ordering::Relaxed);
    LOCK.free();
}
