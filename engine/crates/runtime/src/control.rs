//! Our end of the control block (`fulcrum-wire`): attach to the session, announce the process, map the answer.

use core::ffi::CStr;
use core::fmt::Write;
use core::mem::size_of;
use core::slice;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use fulcrum_runtime_core::record::Text;
use fulcrum_wire::{
    HEARTBEAT_LIMIT_NS, MAP_MAGIC, MapHeader, PROCESS_MAGIC, Process, Range, SESSION_FILE,
    SESSION_MAGIC, SESSION_VARIABLE, Session, VERSION, state,
};

use crate::sys;

/// Longest path of a file in the run folder.
pub const PATH: usize = libc::PATH_MAX as usize;

static SESSION: AtomicPtr<Session> = AtomicPtr::new(core::ptr::null_mut());
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(core::ptr::null_mut());
static MAP: AtomicPtr<MapHeader> = AtomicPtr::new(core::ptr::null_mut());

/// The session's settings and commands. Only after [`attach`] succeeded.
pub fn session() -> &'static Session {
    // SAFETY: mapped for the life of the process before anything else runs.
    unsafe { &*SESSION.load(Ordering::Acquire) }
}

/// What we tell the engine. Only after [`attach`] succeeded.
pub fn process() -> &'static Process {
    // SAFETY: as for the session.
    unsafe { &*PROCESS.load(Ordering::Acquire) }
}

fn map() -> &'static MapHeader {
    // SAFETY: set and checked by `map_answer`, mapped for the life of the process.
    unsafe { &*MAP.load(Ordering::Acquire) }
}

fn part<T>(at: u64, count: u32) -> &'static [T] {
    let base = MAP.load(Ordering::Acquire).cast::<u8>();
    // SAFETY: `map_answer` has checked that every part lies within the mapping; parts are 8-aligned.
    unsafe { slice::from_raw_parts(base.add(at as usize).cast::<T>(), count as usize) }
}

/// The address ranges of the lines in scope.
pub fn ranges() -> &'static [Range] {
    part(map().ranges_at, map().range_count)
}

/// One sample counter a line.
pub fn counts() -> &'static [AtomicU64] {
    part(map().counts_at, map().line_count)
}

/// The only line that may be selected, or `NONE`.
pub fn fixed_line() -> u32 {
    map().fixed_line
}

/// A line's `FILE:LINE`, JSON-escaped.
pub fn line_name(line: u32) -> &'static [u8] {
    let names: &[fulcrum_wire::Text] = part(map().names_at, map().line_count);
    let Some(name) = names.get(line as usize) else {
        return b"?";
    };
    if name.at.saturating_add(name.length) > map().length {
        return b"?";
    }
    part::<u8>(name.at, name.length as u32)
}

/// A file of the run folder, as a C path.
pub struct Name {
    bytes: [u8; PATH],
    length: usize,
}

impl Name {
    /// `None` when the path is too long.
    pub fn new(format: core::fmt::Arguments<'_>) -> Option<Name> {
        let mut name = Name {
            bytes: [0; PATH],
            length: 0,
        };
        let mut text = Text::new(&mut name.bytes[..PATH - 1]);
        let _ = text.write_fmt(format);
        name.length = text.finish()?.len();
        Some(name)
    }

    /// The path.
    pub fn as_c(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}

/// Maps a whole file shared; the descriptor is closed again. `None` when it is missing or shorter than `least`.
fn map_file(path: &CStr, flags: i32, grow_to: usize, least: usize) -> Option<(*mut u8, usize)> {
    // SAFETY: plain system calls on a descriptor that we own.
    unsafe {
        let flags = (libc::O_RDWR | libc::O_CLOEXEC | flags) as usize;
        let fd = sys::call(
            libc::SYS_open,
            [path.as_ptr() as usize, flags, 0o600, 0, 0, 0],
        );
        if fd < 0 {
            return None;
        }
        let mut length = 0;
        if grow_to > 0 {
            sys::call(libc::SYS_ftruncate, [fd as usize, grow_to, 0, 0, 0, 0]);
        }
        let end = sys::call(
            libc::SYS_lseek,
            [fd as usize, 0, libc::SEEK_END as usize, 0, 0, 0],
        );
        let mut at = -1;
        if end >= least as isize {
            length = end as usize;
            let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
            let args = [
                0,
                length,
                protection,
                libc::MAP_SHARED as usize,
                fd as usize,
                0,
            ];
            at = sys::call(libc::SYS_mmap, args);
        }
        sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
        (at > 0).then_some((at as *mut u8, length))
    }
}

/// How a process came into the session.
pub struct Attached {
    /// The run folder.
    pub folder: &'static str,
    /// Tells apart the programs that one process executes in turn.
    pub turn: u32,
}

/// Finds the session in the environment and waits for the engine to read this process's debug information.
/// `None`: not under Fulcrum, engine gone, or nothing to profile here.
pub fn attach() -> Option<Attached> {
    let mut variable = [0; 64];
    variable[..SESSION_VARIABLE.len()].copy_from_slice(SESSION_VARIABLE.as_bytes());
    // SAFETY: a C string; the environment is not changed by anybody this early.
    let folder = unsafe {
        let value = libc::getenv(variable.as_ptr().cast());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value).to_str().ok()?
    };
    let name = Name::new(format_args!("{folder}/{SESSION_FILE}"))?;
    let (at, _) = map_file(name.as_c(), 0, 0, size_of::<Session>())?;
    SESSION.store(at.cast(), Ordering::Release);
    if session().magic != SESSION_MAGIC || session().version != VERSION || engine_is_late() {
        return None;
    }
    let turn = announce(folder)?;
    wait_for_answer();
    if process().state.load(Ordering::Acquire) != state::READY {
        return None;
    }
    let name = Name::new(format_args!("{folder}/{}-{turn}.map", process().pid))?;
    map_answer(&name)?;
    // The environment's memory may be moved by setenv: keep our own copy of the folder.
    let copy = sys::map_anonymous(folder.len().max(1))?;
    // SAFETY: fresh memory of that length; the bytes were UTF-8.
    let folder = unsafe {
        copy.copy_from_nonoverlapping(folder.as_ptr(), folder.len());
        str::from_utf8_unchecked(slice::from_raw_parts(copy, folder.len()))
    };
    Some(Attached { folder, turn })
}

/// Creates this process's `.proc` file under the first free turn.
fn announce(folder: &str) -> Option<u32> {
    // SAFETY: takes no arguments.
    let pid = unsafe { sys::call(libc::SYS_getpid, [0; 6]) } as u32;
    for turn in 0..1000 {
        let name = Name::new(format_args!("{folder}/{pid}-{turn}.proc"))?;
        let flags = libc::O_CREAT | libc::O_EXCL;
        let Some((at, _)) = map_file(
            name.as_c(),
            flags,
            size_of::<Process>(),
            size_of::<Process>(),
        ) else {
            continue;
        };
        let block = at.cast::<Process>();
        // SAFETY: a fresh mapping of the right size, not shared with anybody before `hellos` moves.
        unsafe {
            (*block).version = VERSION;
            (*block).pid = pid;
            (*block).start_ns = sys::now();
            (*block)
                .selected
                .store(fulcrum_wire::NONE, Ordering::Relaxed);
            (*block).state.store(state::HELLO, Ordering::Relaxed);
            (*block).magic = PROCESS_MAGIC;
        }
        PROCESS.store(block, Ordering::Release);
        session().hellos.fetch_add(1, Ordering::AcqRel);
        return Some(turn);
    }
    None
}

fn wait_for_answer() {
    while process().state.load(Ordering::Acquire) == state::HELLO && !engine_is_gone() {
        sys::futex_wait(&process().state, state::HELLO, 100_000_000);
    }
}

fn map_answer(name: &Name) -> Option<()> {
    let (at, length) = map_file(name.as_c(), 0, 0, size_of::<MapHeader>())?;
    let header = at.cast::<MapHeader>();
    // SAFETY: mapped, and at least as long as the header.
    let head = unsafe { &*header };
    let fits = |at: u64, count: u32, size: usize| {
        at.is_multiple_of(8) && u64::from(count) * size as u64 + at <= length as u64
    };
    let sound = head.magic == MAP_MAGIC
        && head.version == VERSION
        && head.length == length as u64
        && fits(head.ranges_at, head.range_count, size_of::<Range>())
        && fits(
            head.names_at,
            head.line_count,
            size_of::<fulcrum_wire::Text>(),
        )
        && fits(head.counts_at, head.line_count, size_of::<AtomicU64>());
    sound.then(|| MAP.store(header, Ordering::Release))
}

fn engine_is_late() -> bool {
    let heartbeat = session().heartbeat_ns.load(Ordering::Acquire);
    sys::now().saturating_sub(heartbeat) > HEARTBEAT_LIMIT_NS
}

/// Whether the engine has died. A late heartbeat alone does not say so: both sides may have been stopped (job
/// control) and this one may have woken first.
pub fn engine_is_gone() -> bool {
    if !engine_is_late() {
        return false;
    }
    sys::sleep_until(sys::now() + 500_000_000);
    engine_is_late()
}
