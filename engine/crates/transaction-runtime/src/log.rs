//! The process's log: the mapped file, its header, and its chunks.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::sys;
use fulcrum_wire::transactions::{
    CHUNK, CHUNK_HEADER, HEADER, LOG_SUFFIX, MAGIC, VERSION, state, word,
};

use crate::session::{self, Name, Session};

/// The first byte of the file, or null while there is no log.
static BASE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static LENGTH: AtomicU64 = AtomicU64::new(0);
static FULL: AtomicBool = AtomicBool::new(false);
/// The number of logs started by this process and its ancestors by forks.
static NUMBER: AtomicU32 = AtomicU32::new(0);
/// Whether the kernel can reserve space before it is written.
static RESERVES: AtomicBool = AtomicBool::new(true);

/// The most programs that one process may execute.
const MOST_TURNS: u32 = 1 << 16;

/// The process and thread that forked this process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Parent {
    /// The process, or 0 after `exec`.
    pub(crate) pid: u64,
    /// Its turn.
    pub(crate) turn: u64,
    /// The number of its thread.
    pub(crate) thread: u32,
}

/// A word of the header. Only valid while there is a log.
#[inline]
pub(crate) fn header(at: usize) -> &'static AtomicU64 {
    debug_assert!(at < word::COUNT);
    // SAFETY: within the mapped header, which is page-aligned. It is unmapped only in forked children, which then have
    // another one.
    unsafe { &*BASE.load(Ordering::Acquire).cast::<AtomicU64>().add(at) }
}

/// The lower half of a header word, to wait on.
pub(crate) fn low_half(at: usize) -> &'static AtomicU32 {
    // SAFETY: the first half of an aligned word, on a little-endian machine.
    unsafe { AtomicU32::from_ptr(header(at).as_ptr().cast()) }
}

/// The number of this log, increased in each forked child. Not 0.
#[inline]
pub(crate) fn number() -> u32 {
    NUMBER.load(Ordering::Relaxed)
}

/// This process as a parent.
pub(crate) fn as_parent(thread: u32) -> Parent {
    Parent {
        pid: header(word::PID).load(Ordering::Relaxed),
        turn: header(word::TURN).load(Ordering::Relaxed),
        thread,
    }
}

/// Creates the process's log, and stops writing to its parent's, if any. Returns `None` if there is no room.
pub(crate) fn create(session: &Session, parent: Parent) -> Option<()> {
    let length = session.limit().min(largest_file()) & !(sys::PAGE as u64 - 1);
    if length < HEADER + CHUNK {
        return None;
    }
    let pid = sys::process_id();
    let (turn, fd, name) = new_file(session.folder(), pid)?;
    let base = map_all(fd, length as usize);
    session::close(fd);
    let Some(base) = base else {
        unlink(&name);
        return None;
    };
    leave_old(BASE.swap(base, Ordering::AcqRel));
    LENGTH.store(length, Ordering::Relaxed);
    FULL.store(false, Ordering::Relaxed);
    NUMBER.fetch_add(1, Ordering::Relaxed);
    for place in &FREE {
        place.store(0, Ordering::Relaxed);
    }
    for (at, value) in [
        (word::VERSION, VERSION),
        (word::PID, u64::from(pid)),
        (word::TURN, u64::from(turn)),
        (word::PARENT, parent.pid),
        (word::PARENT_TURN, parent.turn),
        (word::PARENT_THREAD, u64::from(parent.thread)),
        (word::START_UNIX_NS, sys::clock(libc::CLOCK_REALTIME)),
        (word::START_NS, sys::now()),
        (word::LIMIT, length),
        (word::NEXT, HEADER),
        // Last, because a file without it is not a log yet.
        (word::MAGIC, MAGIC),
    ] {
        header(at).store(value.to_le(), Ordering::Release);
    }
    Some(())
}

/// The first turn without a file, its new file, and the file's name.
fn new_file(folder: &str, pid: u32) -> Option<(u32, usize, Name)> {
    for turn in 0..MOST_TURNS {
        let name = Name::new(format_args!("{folder}/{pid}-{turn}{LOG_SUFFIX}"))?;
        match session::open(&name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL) {
            Ok(fd) => return Some((turn, fd, name)),
            Err(error) if error == -(libc::EEXIST as isize) => {}
            Err(_) => return None,
        }
    }
    None
}

fn unlink(name: &Name) {
    // SAFETY: the name is a C string.
    unsafe { sys::call(libc::SYS_unlink, [name.address(), 0, 0, 0, 0, 0]) };
}

/// Creates a new sparse file of this length and maps it. Its first page is backed by disk space. Returns `None` if there is
/// no room.
pub(crate) fn make_file(name: &Name, length: usize) -> Option<*mut u8> {
    if length as u64 > largest_file() {
        return None;
    }
    let fd = session::open(name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL).ok()?;
    let base = map_all(fd, length);
    session::close(fd);
    if base.is_none() {
        unlink(name);
    }
    base
}

/// Sets the file's length, maps it, and reserves its header.
fn map_all(fd: usize, length: usize) -> Option<*mut u8> {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_SHARED | libc::MAP_NORESERVE) as usize;
    // SAFETY: plain system calls on a descriptor that we own.
    let at = unsafe {
        if sys::call(libc::SYS_ftruncate, [fd, length, 0, 0, 0, 0]) < 0 {
            return None;
        }
        sys::call(libc::SYS_mmap, [0, length, protection, flags, fd, 0])
    };
    if at <= 0 {
        return None;
    }
    let base = at as *mut u8;
    // SAFETY: advice on our own new mapping. Without it the kernel would read ahead and fill megabytes of an empty file,
    // which takes milliseconds for each process.
    unsafe {
        let args = [base.addr(), length, libc::MADV_RANDOM as usize, 0, 0, 0];
        sys::call(libc::SYS_madvise, args);
    }
    if reserve(base, HEADER as usize).is_none() {
        unmap(base, length);
        return None;
    }
    Some(base)
}

/// Unmaps a mapping of ours.
pub(crate) fn unmap(base: *mut u8, length: usize) {
    // SAFETY: the mapping is ours, and nobody uses it any more.
    unsafe { sys::call(libc::SYS_munmap, [base.addr(), length, 0, 0, 0, 0]) };
}

/// In a forked child: lets go of the parent's log.
fn leave_old(base: *mut u8) {
    if !base.is_null() {
        unmap(base, LENGTH.load(Ordering::Relaxed) as usize);
    }
}

/// The file size limit (`ulimit -f`). A program that exceeds it is killed.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the struct is ours and outlives the call.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}

/// Reserves disk space for pages of the mapping, because writing without it would kill the program when the disk is full.
/// Returns `None` if there is none. Kernels before 5.14 cannot tell in advance.
pub(crate) fn reserve(at: *mut u8, length: usize) -> Option<()> {
    const POPULATE_WRITE: usize = 23;
    if !RESERVES.load(Ordering::Relaxed) {
        return Some(());
    }
    loop {
        // SAFETY: advice on our own mapping, page-aligned.
        let result = unsafe {
            let args = [at.addr(), length, POPULATE_WRITE, 0, 0, 0];
            sys::call(libc::SYS_madvise, args)
        };
        match -result as i32 {
            0 => return Some(()),
            libc::EINVAL => {
                RESERVES.store(false, Ordering::Relaxed);
                return Some(());
            }
            libc::EINTR | libc::EAGAIN => {}
            _ => return None,
        }
    }
}

/// The log is full: it ends although the process continues.
fn fill() {
    if !FULL.swap(true, Ordering::AcqRel) {
        header(word::END_NS).store(sys::now(), Ordering::Release);
        let _ = change_state(state::OPEN, state::FULL);
    }
}

/// Counts something that was sent.
#[inline]
pub(crate) fn count_message() {
    header(word::MESSAGES).fetch_add(1, Ordering::Relaxed);
}

/// Counts a record that did not fit.
pub(crate) fn drop_record() {
    header(word::DROPPED).fetch_add(1, Ordering::Relaxed);
}

fn change_state(from: u64, to: u64) -> bool {
    let states = (Ordering::AcqRel, Ordering::Relaxed);
    let changed = header(word::STATE).compare_exchange(from, to, states.0, states.1);
    changed.is_ok()
}

/// Ends the log in an orderly way, now. Records that other threads still write are kept.
pub(crate) fn end(how: u64) {
    // A full log has already ended.
    if change_state(state::OPEN, how) {
        header(word::END_NS).store(sys::now(), Ordering::Release);
    }
}

/// The log continues after all.
pub(crate) fn reopen(how: u64) {
    change_state(how, state::OPEN);
}

/// The unused parts of chunks of ended threads: places in the file, or 0 for none.
static FREE: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// No chunk begins where there is less room than this.
const LEAST: u64 = 1024;

/// The end of the space that contains a place. Spaces have [`CHUNK`] bytes.
fn space_end(offset: u64) -> u64 {
    HEADER + ((offset - HEADER) / CHUNK + 1) * CHUNK
}

/// A new chunk of at least `least` bytes for the caller alone. Returns `None` if the log is full.
pub(crate) fn take_chunk(least: usize) -> Option<Chunk> {
    if FULL.load(Ordering::Relaxed) {
        return None;
    }
    let taken = |place: &AtomicU64| {
        let offset = place.load(Ordering::Relaxed);
        let fits = offset != 0 && offset + least as u64 <= space_end(offset);
        let order = (Ordering::Acquire, Ordering::Relaxed);
        let take = || place.compare_exchange(offset, 0, order.0, order.1).ok();
        fits.then(take).flatten()
    };
    let Some(offset) = FREE.iter().find_map(taken).or_else(take_space) else {
        fill();
        return None;
    };
    // SAFETY: within the mapping, which covers all of the file that was taken.
    let at = unsafe { BASE.load(Ordering::Acquire).add(offset as usize) };
    let mut chunk = Chunk {
        at,
        offset,
        size: (space_end(offset) - offset) as usize,
        reserved: 0,
    };
    chunk.reserve(1)?;
    Some(chunk)
}

/// The start of a newly used space. Returns `None` if the file has no more.
fn take_space() -> Option<u64> {
    let limit = LENGTH.load(Ordering::Relaxed);
    let taken = header(word::NEXT).fetch_update(Ordering::AcqRel, Ordering::Relaxed, |next| {
        (next + CHUNK <= limit).then_some(next + CHUNK)
    });
    taken.ok()
}

/// Returns what an ending thread leaves of its chunk after `used` bytes. If there is no place to note it, it stays unused.
pub(crate) fn give_back(chunk: &Chunk, used: usize) {
    let offset = (chunk.offset + used as u64).next_multiple_of(CHUNK_HEADER as u64);
    if offset + LEAST > space_end(chunk.offset) {
        return;
    }
    let order = (Ordering::Release, Ordering::Relaxed);
    let mut places = FREE.iter();
    places.find(|place| place.compare_exchange(0, offset, order.0, order.1).is_ok());
}

/// A part of the file that one thread writes.
#[derive(Clone, Copy)]
pub(crate) struct Chunk {
    at: *mut u8,
    /// Its offset in the file.
    pub(crate) offset: u64,
    /// Its size in bytes, including its header.
    pub(crate) size: usize,
    /// How many of these bytes are known to have disk space.
    reserved: usize,
}

impl Chunk {
    /// Its words.
    pub(crate) fn words(&self) -> *mut AtomicU64 {
        self.at.cast()
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> *mut u8 {
        self.at
    }

    /// Ensures that its first `end` bytes can be written. Returns `None` if the disk is full; then the log is full too.
    #[inline]
    pub(crate) fn reserve(&mut self, end: usize) -> Option<()> {
        if end <= self.reserved {
            return Some(());
        }
        self.reserve_more(end)
    }

    /// A chunk first gets one page of disk space, for threads that write little, and then all that it needs.
    #[cold]
    fn reserve_more(&mut self, end: usize) -> Option<()> {
        let before = self.at.addr() % sys::PAGE;
        let first = sys::PAGE - before;
        let to = if end <= first { first } else { self.size };
        let to = to.min(self.size);
        // SAFETY: from the start of the page that contains the chunk's start, so within the mapping.
        let from = unsafe { self.at.sub(before) };
        let length = (before + to).next_multiple_of(sys::PAGE);
        if reserve(from, length).is_none() {
            fill();
            return None;
        }
        self.reserved = to;
        Some(())
    }
}

/// Whether nothing is written any more.
pub(crate) fn is_full() -> bool {
    FULL.load(Ordering::Relaxed)
}
