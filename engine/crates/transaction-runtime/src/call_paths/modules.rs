//! Which files' code is mapped where. Logged at the start, and again when a call path goes through unknown code. `dlopen`
//! is not hooked for this, because libc checks who calls it.
//!
//! The kernel's map is parsed by hand: `procfs` allocates a list of all mappings, and nothing may be allocated here.

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use fulcrum_preload::descriptors::apart;
use fulcrum_preload::quiet::{Lock, uninterrupted};
use fulcrum_preload::{real, sys};
use fulcrum_wire::transactions::{Record, VIRTUAL_MACHINES};

use super::callers;
use crate::locking::watch;
use crate::session::{self, Name};
use crate::threads::thread::{self, Inside};
use crate::threads::thread_context;
use crate::{active, libraries};

/// The most pieces of executable memory that are told apart.
const MOST: usize = 4096;
/// Programs with a just-in-time compiler keep mapping new code. After this many reads, the map is not read any more.
const MOST_READS: usize = 1000;

/// Known executable memory: the first address, and the address after the last.
static KNOWN: [[AtomicU64; 2]; MOST] = [const { [const { AtomicU64::new(0) }; 2] }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static READS: AtomicUsize = AtomicUsize::new(0);
/// The parts of it that belong to virtual machines.
static MACHINES: [[AtomicU64; 2]; 4] = [const { [const { AtomicU64::new(0) }; 2] }; 4];
/// Known code may have been unmapped meanwhile.
static STALE: AtomicBool = AtomicBool::new(false);
static LOCK: Lock = Lock::new();

/// Reads the map again if one of these addresses is in no known code.
pub(crate) fn log_unknown(inside: &Inside, addresses: &[u64]) {
    let known = addresses.iter().all(|address| is_known(*address, *address));
    if (!known || STALE.load(Ordering::Relaxed)) && log_new(inside) {
        callers::ask();
    }
}

fn is_known(first: u64, last: u64) -> bool {
    let count = COUNT.load(Ordering::Acquire).min(MOST);
    KNOWN[..count].iter().any(|[start, end]| {
        start.load(Ordering::Relaxed) <= first && last < end.load(Ordering::Relaxed)
    })
}

/// Logs all mapped code that was unknown. Returns whether there was any.
pub(crate) fn log_new(inside: &Inside) -> bool {
    if READS.load(Ordering::Relaxed) >= MOST_READS || !LOCK.try_take() {
        return false;
    }
    READS.fetch_add(1, Ordering::Relaxed);
    if STALE.swap(false, Ordering::Relaxed) {
        COUNT.store(0, Ordering::Release);
    }
    let found = uninterrupted(|| apart(|| read(inside)));
    LOCK.free();
    let found = found.unwrap_or(false);
    if found {
        watch::loaded();
        thread_context::find_variable();
    }
    found
}

/// Reads the kernel's memory map of this process.
fn read(inside: &Inside) -> Option<bool> {
    let mut found = false;
    each_line(|line| found |= self::line(inside, line))?;
    Some(found)
}

/// Passes on each line of the kernel's memory map of this process. Returns `None` if there is none.
pub(crate) fn each_line(mut then: impl FnMut(&[u8])) -> Option<()> {
    let name = Name::new(format_args!("/proc/self/maps"))?;
    let fd = session::open(&name, libc::O_RDONLY).ok()?;
    let mut buffer = [0_u8; 16 << 10];
    let mut filled = 0;
    loop {
        let rest = &mut buffer[filled..];
        // SAFETY: the kernel writes at most as many bytes as the buffer holds.
        let read = unsafe {
            let args = [fd, rest.as_mut_ptr().addr(), rest.len(), 0, 0, 0];
            sys::call(libc::SYS_read, args)
        };
        if read <= 0 {
            break;
        }
        filled += read as usize;
        let mut begin = 0;
        while let Some(length) = buffer[begin..filled].iter().position(|byte| *byte == b'\n') {
            then(&buffer[begin..begin + length]);
            begin += length + 1;
        }
        buffer.copy_within(begin..filled, 0);
        filled -= begin;
        if filled == buffer.len() {
            break;
        }
    }
    session::close(fd);
    Some(())
}

/// A line: `start-end rwxp offset device inode   file`.
fn line(inside: &Inside, line: &[u8]) -> bool {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let mut next = || words.next().unwrap_or(&[]);
    let (range, access, offset) = (next(), next(), next());
    if access.get(2) != Some(&b'x') {
        return false;
    }
    let Some(dash) = range.iter().position(|byte| *byte == b'-') else {
        return false;
    };
    let (start, end) = (hexadecimal(&range[..dash]), hexadecimal(&range[dash + 1..]));
    if end <= start || is_known(start, end - 1) {
        return false;
    }
    let at = COUNT.load(Ordering::Relaxed);
    let Some([first, behind]) = KNOWN.get(at) else {
        return false;
    };
    first.store(start, Ordering::Relaxed);
    behind.store(end, Ordering::Relaxed);
    COUNT.store(at + 1, Ordering::Release);
    next();
    next();
    let file = next().trim_ascii();
    if !file.starts_with(b"/") {
        return false;
    }
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
    if VIRTUAL_MACHINES.iter().any(|it| it.as_bytes() == name) {
        note_machine(start, end);
    }
    inside.write(
        0,
        &Record::Module {
            start,
            end,
            offset: hexadecimal(offset),
            file,
        },
    );
    true
}

/// Whether an address is in the code of a virtual machine.
pub(crate) fn is_of_machine(address: u64) -> bool {
    MACHINES.iter().any(|[start, end]| {
        start.load(Ordering::Relaxed) <= address && address < end.load(Ordering::Relaxed)
    })
}

fn note_machine(first: u64, behind: u64) {
    let free = MACHINES
        .iter()
        .find(|it| it[1].load(Ordering::Relaxed) == 0);
    if let Some([start, end]) = free
        && !is_of_machine(first)
    {
        start.store(first, Ordering::Relaxed);
        end.store(behind, Ordering::Relaxed);
    }
}

/// The first address of a line.
pub(crate) fn start(line: &[u8]) -> u64 {
    let digits = line.iter().take_while(|byte| **byte != b'-').count();
    hexadecimal(&line[..digits])
}

fn hexadecimal(digits: &[u8]) -> u64 {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
    digits
        .iter()
        .fold(0, |number, byte| number << 4 | u64::from(digit(byte)))
}

/// `dlclose(3)`: known code may go, and other code may take its place.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn dlclose(
    library: *mut core::ffi::c_void,
) -> core::ffi::c_int {
    // SAFETY: passes on the program's argument.
    let result = unsafe { real!(dlclose: fn(*mut core::ffi::c_void) -> core::ffi::c_int)(library) };
    if active::is_active() && thread::current().is_some() {
        STALE.store(true, Ordering::Relaxed);
        libraries::forget();
        watch::unloaded();
    }
    result
}

/// In a forked child: a thread that was reading the map exists only in the parent.
pub(crate) fn begin_again() {
    LOCK.free();
}
