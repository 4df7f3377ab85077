//! Our side of the control block (`fulcrum-wire`): attaches to the session, announces the process, and maps the engine's answer.

use core::ffi::CStr;
use core::mem::{align_of, size_of};
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use fulcrum_preload::sys;
use fulcrum_runtime_core::attribute::Targets;
use fulcrum_runtime_core::calls::Calls;
use fulcrum_wire::{
    CALL_SLOTS, CallSlot, ControlBlock, HEARTBEAT_LIMIT_NS, MAP_MAGIC, MapHeader, Node,
    PROCESS_MAGIC, Process, Range, SESSION_FILE, SESSION_MAGIC, SESSION_VARIABLE, Steering,
    UNWIND_MAGIC, Unwind, UnwindHeader, VERSION, mode, state,
};

use crate::experiment::section;
use crate::process::folder::{self, Name, folder};
use crate::sys::allowed;

static SESSION: AtomicPtr<ControlBlock> = AtomicPtr::new(core::ptr::null_mut());
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(core::ptr::null_mut());
static MAP: AtomicPtr<Map> = AtomicPtr::new(core::ptr::null_mut());
static UNWIND: AtomicPtr<Rows> = AtomicPtr::new(core::ptr::null_mut());
/// Whether the newest map's mode is `BLOCKED`.
static BLOCKED: AtomicBool = AtomicBool::new(false);
/// Whether a sample belongs to one target in the newest map's mode.
static RECORDS_CALLS: AtomicBool = AtomicBool::new(false);
/// Whether the newest map names requests that are progress points.
static COUNTS_REQUESTS: AtomicBool = AtomicBool::new(false);

/// The session's settings and commands. Only after [`attach`] succeeded.
pub(crate) fn session() -> &'static ControlBlock {
    // SAFETY: mapped for the life of the process before anything else runs.
    unsafe { &*SESSION.load(Ordering::Acquire) }
}

/// What this process tells the engine. Only after [`attach`] succeeded.
pub(crate) fn process() -> &'static Process {
    // SAFETY: as for the session.
    unsafe { &*PROCESS.load(Ordering::Acquire) }
}

/// A map as the runtime uses it: what may be sped up, and how often each was sampled.
pub(crate) struct Map {
    /// Which of the process's maps this is.
    pub(crate) generation: u32,
    /// From addresses to targets.
    pub(crate) targets: Targets<'static>,
    /// One counter for each target (see [`fulcrum_wire::CALL_SHIFT`] for blocked calls).
    pub(crate) counts: &'static [AtomicU64],
    /// What targets spend in calls.
    pub(crate) calls: Calls<'static>,
    /// What the engine asks for each target.
    pub(crate) steering: &'static [Steering],
    /// The only target that may be selected, or `NONE`.
    pub(crate) fixed: u32,
    /// The type of the requests that are progress points; empty when none are.
    pub(crate) request: &'static [u8],
    names: &'static [fulcrum_wire::Text],
    base: *const u8,
    length: u64,
}

impl Map {
    /// A target's name, JSON-escaped. For a blocked call, its place.
    pub(crate) fn name(&self, target: u32) -> &'static [u8] {
        match self.names.get(target as usize) {
            Some(name) if name.at.saturating_add(name.length) <= self.length => {
                // SAFETY: within the mapping, which lives as long as the process.
                unsafe {
                    slice::from_raw_parts(self.base.add(name.at as usize), name.length as usize)
                }
            }
            _ => b"?",
        }
    }

    /// Bytes of all names together.
    pub(crate) fn text_length(&self) -> usize {
        self.names.iter().map(|name| name.length as usize).sum()
    }

    /// Bytes of the longest name.
    pub(crate) fn longest_name(&self) -> usize {
        let lengths = self.names.iter().map(|name| name.length as usize);
        lengths.max().unwrap_or(0)
    }
}

/// Whether experiments speed up the time that threads spend blocked in calls.
#[inline]
pub(crate) fn times_calls() -> bool {
    BLOCKED.load(Ordering::Relaxed)
}

/// Whether the time that targets spend in calls is recorded: not where one sample may belong to several targets.
#[inline]
pub(crate) fn records_calls() -> bool {
    RECORDS_CALLS.load(Ordering::Relaxed)
}

/// Whether requests are progress points.
#[inline]
pub(crate) fn counts_requests() -> bool {
    COUNTS_REQUESTS.load(Ordering::Relaxed)
}

/// The newest map. Only after [`attach`] succeeded.
pub(crate) fn map() -> &'static Map {
    // SAFETY: set by `adopt`, never freed.
    unsafe { &*MAP.load(Ordering::Acquire) }
}

/// The unwind table; empty until the engine has written it.
pub(crate) fn unwind_rows() -> &'static [Unwind] {
    // SAFETY: null or set by `adopt_unwind`, never freed.
    unsafe { UNWIND.load(Ordering::Acquire).as_ref() }.map_or(&[], |rows| rows.0)
}

struct Rows(&'static [Unwind]);

/// Stores `value` for the life of the process, without an allocator.
fn store_for_good<T>(value: T) -> Option<*mut T> {
    let at = sys::map_anonymous(size_of::<T>())?.cast::<T>();
    // SAFETY: fresh memory of that size, page-aligned.
    unsafe { at.write(value) };
    Some(at)
}

/// Maps a whole file shared, and closes its descriptor. `None` when it is missing or shorter than `least`.
pub(crate) fn map_file(
    name: &Name,
    flags: i32,
    grow_to: usize,
    least: usize,
) -> Option<(*mut u8, usize)> {
    let fd = folder::open(name, libc::O_RDWR | libc::O_CLOEXEC | flags, 0o600);
    if fd < 0 {
        return None;
    }
    // SAFETY: plain system calls on a descriptor that we own.
    unsafe {
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

/// Finds the session in the environment, and waits until the engine has read this process's debug information. `None` when the
/// process does not run under Fulcrum, the engine is gone, or there is nothing to profile.
pub(crate) fn attach() -> Option<()> {
    let mut variable = [0; 64];
    variable[..SESSION_VARIABLE.len()].copy_from_slice(SESSION_VARIABLE.as_bytes());
    // SAFETY: a C string; the environment is not changed by anybody this early.
    let named = unsafe {
        let value = libc::getenv(variable.as_ptr().cast());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value).to_str().ok()?
    };
    if !allowed::detect() {
        return None;
    }
    let name = Name::new(format_args!("{named}/{SESSION_FILE}"))?;
    let (at, _) = map_file(&name, 0, 0, size_of::<ControlBlock>())?;
    SESSION.store(at.cast(), Ordering::Release);
    if session().magic != SESSION_MAGIC || session().version != VERSION || engine_is_late() {
        return None;
    }
    // `setenv` may move the environment's memory, so we keep our own copy of the folder's path.
    let copy = sys::map_anonymous(named.len().max(1))?;
    // SAFETY: fresh memory of that length; the bytes were UTF-8.
    let named: &str = unsafe {
        copy.copy_from_nonoverlapping(named.as_ptr(), named.len());
        str::from_utf8_unchecked(slice::from_raw_parts(copy, named.len()))
    };
    // SAFETY: `store_for_good` returns memory that lives as long as the process.
    folder::set(unsafe { &*store_for_good(named)? });
    announce(None)?;
    wait_for_answer();
    if process().state.load(Ordering::Acquire) != state::READY {
        return None;
    }
    adopt(process().generation.load(Ordering::Acquire))?;
    match process().unwind.load(Ordering::Acquire) {
        0 => {}
        number => {
            let _ = adopt_unwind(number);
        }
    }
    Some(())
}

/// In a forked child: announces it under its own name, with its parent's map and its own counters.
pub(crate) fn attach_forked() -> Option<()> {
    let parent = process();
    announce(Some(parent))?;
    adopt(process().first_generation)
}

/// Creates this process's `.proc` file under the first free turn.
fn announce(parent: Option<&Process>) -> Option<()> {
    let folder = folder();
    let pid = sys::process_id();
    for turn in 0..1000 {
        let name = Name::new(format_args!("{folder}/{pid}-{turn}.proc"))?;
        let flags = libc::O_CREAT | libc::O_EXCL;
        let Some((at, _)) = map_file(&name, flags, size_of::<Process>(), size_of::<Process>())
        else {
            continue;
        };
        let block = at.cast::<Process>();
        // SAFETY: a fresh mapping of the right size, not shared with anybody before `hellos` moves.
        unsafe {
            (*block).version = VERSION;
            (*block).pid = pid;
            (*block).turn = turn;
            (*block).start_ns = sys::now();
            (*block)
                .epoch_ns
                .store((*block).start_ns, Ordering::Relaxed);
            (*block)
                .selected
                .store(fulcrum_wire::NONE, Ordering::Relaxed);
            (*block).map_pid = parent.map_or(pid, |parent| parent.map_pid);
            (*block).map_turn = parent.map_or(turn, |parent| parent.map_turn);
            if let Some(parent) = parent {
                let generation = parent.adopted.load(Ordering::Acquire);
                if generation != parent.first_generation {
                    (*block).map_pid = parent.pid;
                    (*block).map_turn = parent.turn;
                }
                (*block).first_generation = generation;
                (*block).generation.store(generation, Ordering::Relaxed);
                (*block).adopted.store(generation, Ordering::Relaxed);
            }
            let first = if parent.is_some() {
                state::RUNNING
            } else {
                state::HELLO
            };
            (*block).state.store(first, Ordering::Relaxed);
            (*block).magic = PROCESS_MAGIC;
        }
        PROCESS.store(block, Ordering::Release);
        session().hellos.fetch_add(1, Ordering::AcqRel);
        sys::futex_wake(&session().hellos);
        return Some(());
    }
    None
}

fn wait_for_answer() {
    while process().state.load(Ordering::Acquire) == state::HELLO && !engine_is_gone() {
        sys::futex_wait(&process().state, state::HELLO, 100_000_000);
    }
}

/// Starts using a map that the engine has written.
pub(crate) fn adopt(generation: u32) -> Option<()> {
    let (folder, process) = (folder(), process());
    let (pid, turn) = if generation == process.first_generation {
        (process.map_pid, process.map_turn)
    } else {
        (process.pid, process.turn)
    };
    let name = Name::new(format_args!("{folder}/{pid}-{turn}.{generation}.map"))?;
    let (base, length) = map_file(&name, 0, 0, size_of::<MapHeader>())?;
    // SAFETY: mapped, and at least as long as the header.
    let head = unsafe { &*base.cast::<MapHeader>() };
    if head.magic != MAP_MAGIC || head.version != VERSION || head.length != length as u64 {
        return None;
    }
    let counts = (head.target_count as usize) * size_of::<AtomicU64>();
    let counters = counts + CALL_SLOTS * size_of::<CallSlot>();
    let name = Name::new(format_args!(
        "{folder}/{}-{}.{generation}.counts",
        process.pid, process.turn
    ))?;
    let (counters, _) = map_file(&name, libc::O_CREAT, counters, counters)?;
    // SAFETY: a mapping of that length, page-aligned, never unmapped; zeros are counters and slots.
    let (counts, calls) = unsafe {
        let calls = counters.add(counts).cast();
        (
            slice::from_raw_parts(counters.cast(), head.target_count as usize),
            slice::from_raw_parts(calls, CALL_SLOTS),
        )
    };
    let file = File { base, length };
    let map = Map {
        generation,
        targets: Targets {
            mode: head.mode,
            ranges: file.part::<Range>(head.ranges_at, head.range_count)?,
            nodes: file.part::<Node>(head.nodes_at, head.node_count)?,
            steps: file.part::<u32>(head.steps_at, head.step_count)?,
        },
        counts,
        calls: Calls::new(calls),
        steering: file.part::<Steering>(head.steering_at, head.target_count)?,
        fixed: head.fixed,
        request: file.text(head.request)?,
        names: file.part::<fulcrum_wire::Text>(head.names_at, head.target_count)?,
        base,
        length: head.length,
    };
    MAP.store(store_for_good(map)?, Ordering::Release);
    BLOCKED.store(head.mode == mode::BLOCKED, Ordering::Relaxed);
    let one = matches!(head.mode, mode::LINE | mode::FUNCTION);
    RECORDS_CALLS.store(one, Ordering::Relaxed);
    COUNTS_REQUESTS.store(head.request.length > 0, Ordering::Relaxed);
    section::limit_to(head.lock);
    process.adopted.store(generation, Ordering::Release);
    Some(())
}

/// Starts using an unwind table that the engine has written. The previous one stays mapped: a handler may be reading it.
pub(crate) fn adopt_unwind(number: u32) -> Option<()> {
    let (folder, process) = (folder(), process());
    let name = Name::new(format_args!(
        "{folder}/{}-{}.{number}.unwind",
        process.pid, process.turn
    ))?;
    let (base, length) = map_file(&name, 0, 0, size_of::<UnwindHeader>())?;
    // SAFETY: mapped, and at least as long as the header.
    let head = unsafe { &*base.cast::<UnwindHeader>() };
    if head.magic != UNWIND_MAGIC || head.version != VERSION {
        return None;
    }
    let rows = File { base, length }.part(size_of::<UnwindHeader>() as u64, head.row_count)?;
    UNWIND.store(store_for_good(Rows(rows))?, Ordering::Release);
    Some(())
}

/// A mapped file that the engine has written.
#[derive(Clone, Copy)]
struct File {
    base: *const u8,
    length: usize,
}

impl File {
    /// A text in the file; `None` when it does not lie within.
    fn text(self, text: fulcrum_wire::Text) -> Option<&'static [u8]> {
        self.part(text.at, u32::try_from(text.length).ok()?)
    }

    /// An array in the file; `None` when it does not lie within.
    fn part<T>(self, at: u64, count: u32) -> Option<&'static [T]> {
        let length = u64::from(count) * size_of::<T>() as u64;
        let end = at.checked_add(length)?;
        let fits = end <= self.length as u64 && at.is_multiple_of(align_of::<T>() as u64);
        // SAFETY: within a mapping that is never unmapped, and aligned; all our types are plain words.
        fits.then(|| unsafe {
            slice::from_raw_parts(self.base.add(at as usize).cast(), count as usize)
        })
    }
}

/// Whether the engine's heartbeat is late.
pub(crate) fn engine_is_late() -> bool {
    let heartbeat = session().heartbeat_ns.load(Ordering::Acquire);
    sys::now().saturating_sub(heartbeat) > HEARTBEAT_LIMIT_NS
}

/// Whether the engine has died. A late heartbeat alone does not prove it: both sides may have been stopped (job control), and
/// this one may have woken first.
pub(crate) fn engine_is_gone() -> bool {
    if !engine_is_late() {
        return false;
    }
    sys::sleep_until(sys::now() + 500_000_000);
    engine_is_late()
}
