//! Writes the process's records, each by one `write(2)`, so that whole records remain whatever dies.

use core::fmt::Write;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use fulcrum_preload::{descriptors, sys};
use fulcrum_runtime_core::record::Text;
use fulcrum_wire::causal::{CALL, END, FORMAT, HEADER, HOLDER, SAMPLES, VERSION, kind};
use fulcrum_wire::{CALL_SHIFT, CALL_SLOTS, CALLS, NONE, flag, mode};

use crate::process::control;
use crate::process::folder::{self, Name, folder, inode};
use crate::sys::allowed::{self, Purpose};

static FD: AtomicI32 = AtomicI32::new(-1);
static INODE: AtomicU64 = AtomicU64::new(0);
static BUFFER: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static BUFFER_LENGTH: AtomicUsize = AtomicUsize::new(0);

struct Path(core::cell::UnsafeCell<Option<Name>>);
// SAFETY: written by `open` alone, which says when.
unsafe impl Sync for Path {}
static PATH: Path = Path(core::cell::UnsafeCell::new(None));

/// Opens the record stream of the newest map, and reserves memory for the largest record (all targets' samples). Only one of our
/// threads may be running.
pub(crate) fn open() -> Option<()> {
    let (process, map) = (control::process(), control::map());
    let (folder, pid, turn) = (folder(), process.pid, process.turn);
    let name = if map.generation == process.first_generation {
        Name::new(format_args!("{folder}/causal-{pid}-{turn}.jsonl"))?
    } else {
        let generation = map.generation;
        Name::new(format_args!(
            "{folder}/causal-{pid}-{turn}-{generation}.jsonl"
        ))?
    };
    // Each name once with its count, and the call's name for blocked calls.
    let calls = CALL_SLOTS * (128 + 2 * map.longest_name());
    let length = 65_536 + map.text_length() + 64 * map.counts.len() + calls;
    if length > BUFFER_LENGTH.load(Ordering::Acquire) {
        BUFFER.store(sys::map_anonymous(length)?, Ordering::Release);
        BUFFER_LENGTH.store(length, Ordering::Release);
    }
    // SAFETY: the caller is the only one of our threads, and no other reads or writes the path.
    unsafe { *PATH.0.get() = Some(name) };
    close_stream();
    take_prepared().or_else(reopen)
}

/// A file without a name, for the first record; -1 for none.
static PREPARED: AtomicI32 = AtomicI32::new(-1);

/// Opens the file of the first stream. To be called while the process has one thread: a descriptor that is opened later would
/// for a moment take a number that the program expects for its own. The file has no name until there is something to record, so
/// a child that soon becomes another program leaves nothing behind.
pub(crate) fn prepare() {
    remember_program();
    let Some(itself) = Name::new(format_args!("{}/.", folder())) else {
        return;
    };
    let flags = libc::O_WRONLY | libc::O_TMPFILE | libc::O_APPEND | libc::O_CLOEXEC;
    let fd = folder::open(&itself, flags, 0o644);
    if fd >= 0 {
        let fd = descriptors::protect(fd as i32);
        folder::share(fd);
        INODE.store(inode(fd).unwrap_or(0), Ordering::Relaxed);
        PREPARED.store(fd, Ordering::Release);
    }
}

/// The path of the program, in memory that is never freed; null before it is known.
static PROGRAM: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static PROGRAM_LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Remembers the path of the program: a process that becomes another user may not ask for it any more.
fn remember_program() {
    if !PROGRAM.load(Ordering::Acquire).is_null() {
        return;
    }
    let Some(room) = sys::map_anonymous(folder::PATH) else {
        return;
    };
    // SAFETY: the link's text is written to our own memory of that length.
    let length = unsafe {
        let path = c"/proc/self/exe".as_ptr();
        libc::readlink(path, room.cast(), folder::PATH)
    };
    PROGRAM_LENGTH.store(length.max(0) as usize, Ordering::Release);
    PROGRAM.store(room, Ordering::Release);
}

/// The path of the program; empty when the system does not say.
fn program() -> &'static [u8] {
    let at = PROGRAM.load(Ordering::Acquire);
    if at.is_null() {
        return b"";
    }
    // SAFETY: `remember_program` has filled so much of memory that is never freed.
    unsafe { core::slice::from_raw_parts(at, PROGRAM_LENGTH.load(Ordering::Acquire)) }
}

/// Gives the prepared file its name. `None` when there is none, or the file system cannot.
fn take_prepared() -> Option<()> {
    let fd = PREPARED.swap(-1, Ordering::AcqRel);
    // The program may have closed the number and opened a file of its own.
    if fd < 0 || inode(fd) != Some(INODE.load(Ordering::Relaxed)) {
        return None;
    }
    if !allowed::may(Purpose::Link) {
        descriptors::close(fd);
        return None;
    }
    let file = Name::new(format_args!("/proc/self/fd/{fd}"))?;
    // SAFETY: as for `reopen`; both paths outlive the call.
    unsafe {
        let name = (*PATH.0.get()).as_ref()?;
        let here = libc::AT_FDCWD as usize;
        let follow = libc::AT_SYMLINK_FOLLOW as usize;
        let (from, to) = (file.as_c().as_ptr() as usize, name.as_c().as_ptr() as usize);
        if sys::call(libc::SYS_linkat, [here, from, here, to, follow, 0]) < 0 {
            descriptors::close(fd);
            return None;
        }
    }
    FD.store(fd, Ordering::Release);
    Some(())
}

fn reopen() -> Option<()> {
    // SAFETY: the path does not change after `open`.
    let name = unsafe { (*PATH.0.get()).as_ref() }?;
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC;
    let fd = folder::open(name, flags, 0o644);
    if fd < 0 {
        failed(fd);
        return None;
    }
    let fd = descriptors::protect(fd as i32);
    folder::share(fd);
    INODE.store(inode(fd)?, Ordering::Relaxed);
    FD.store(fd, Ordering::Release);
    Some(())
}

/// Appends one record, which `build` writes. Only the profiler thread calls this.
pub(crate) fn record(build: impl FnOnce(&mut Text<'_>)) {
    let (at, length) = (
        BUFFER.load(Ordering::Acquire),
        BUFFER_LENGTH.load(Ordering::Acquire),
    );
    // SAFETY: our own mapping of that length, used by one thread.
    let mut text = Text::new(unsafe { core::slice::from_raw_parts_mut(at, length) });
    build(&mut text);
    let Some(bytes) = text.finish() else {
        return failed(-(libc::EMSGSIZE as isize));
    };
    // A program may close every descriptor by number and open its own: our records must not go to its file.
    let fd = FD.load(Ordering::Acquire);
    if inode(fd) != Some(INODE.load(Ordering::Relaxed)) && reopen().is_none() {
        return;
    }
    let fd = FD.load(Ordering::Acquire) as usize;
    // SAFETY: the bytes outlive the call.
    let written = unsafe {
        sys::call(
            libc::SYS_write,
            [fd, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0],
        )
    };
    if written != bytes.len() as isize {
        failed(written);
    }
}

fn failed(result: isize) {
    let process = control::process();
    process.write_error.store(result as i64, Ordering::Relaxed);
    process
        .flags
        .fetch_or(flag::WRITE_FAILED, Ordering::Relaxed);
}

/// Writes the first record.
pub(crate) fn header(levels: &[u32], unix_ns: u64) {
    let session = control::session();
    record(|text| {
        let pid = control::process().pid;
        text.begin(kind::HEADER);
        text.word(HEADER.format, FORMAT);
        text.field(HEADER.version, VERSION);
        text.field(HEADER.pid, pid);
        text.key(HEADER.program);
        text.string(program());
        text.field(HEADER.time, unix_ns);
        text.field(HEADER.period, session.period_ns);
        text.key(HEADER.levels);
        text.json(b"[");
        for (index, level) in levels.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(
                text,
                "{comma}{}",
                fulcrum_runtime_core::record::Fraction(*level)
            );
        }
        let timer = control::process().flags.load(Ordering::Relaxed) & flag::PERF == 0;
        let target = match control::map().targets.mode {
            mode::FUNCTION => "function",
            mode::INCLUSIVE => "inclusive",
            mode::PATH => "path",
            mode::BLOCKED => "blocked",
            _ => "line",
        };
        text.json(b"]");
        text.word(HEADER.sampler, if timer { "timer" } else { "perf" });
        text.word(HEADER.target, target);
        if session.max_overhead != NONE {
            let budget = fulcrum_runtime_core::record::Fraction(session.max_overhead);
            text.field(HEADER.budget, budget);
        }
        text.json(b"}\n");
    });
}

/// Writes the name under which a target is recorded: the map's name, with the call before it for a blocked call.
pub(crate) fn target(text: &mut Text<'_>, map: &control::Map, target: u32) {
    if map.targets.mode == mode::BLOCKED {
        let count = map.counts.get(target as usize);
        let call = count.map_or(0, |count| count.load(Ordering::Relaxed) >> CALL_SHIFT);
        let call = (call as usize)
            .checked_sub(1)
            .and_then(|call| CALLS.get(call));
        let _ = write!(text, "blocked:{}@", call.unwrap_or(&"?"));
    }
    text.json(map.name(target));
}

/// The times of a stream, nanoseconds from its start.
pub(crate) struct StreamTimes {
    /// Wall time.
    pub(crate) time_ns: u64,
    /// Delay inserted.
    pub(crate) delay_ns: u64,
    /// Time without samples.
    pub(crate) rested_ns: u64,
}

/// Writes the cumulative samples of every target; the last such record of a stream counts.
pub(crate) fn samples(map: &control::Map, times: &StreamTimes) {
    let process = control::process();
    let total = process.samples.load(Ordering::Relaxed);
    let in_scope = process.in_scope.load(Ordering::Relaxed);
    record(|text| {
        text.begin(kind::SAMPLES);
        text.field(SAMPLES.time, times.time_ns);
        text.field(SAMPLES.delay, times.delay_ns);
        text.field(SAMPLES.rested, times.rested_ns);
        text.field(SAMPLES.total, total);
        text.field(SAMPLES.in_scope, in_scope);
        text.key(SAMPLES.lines);
        text.json(b"{");
        let mut first = true;
        for (index, count) in map.counts.iter().enumerate() {
            let count = count.load(Ordering::Relaxed) & ((1 << CALL_SHIFT) - 1);
            if count > 0 {
                text.json(if first { b"\"" } else { b",\"" });
                target(text, map, index as u32);
                let _ = write!(text, "\":{count}");
                first = false;
            }
        }
        text.json(b"}");
        calls(text, map);
        text.json(b"}\n");
    });
}

/// Writes what targets spend in calls, as more fields of the same record.
fn calls(text: &mut Text<'_>, map: &control::Map) {
    let queued = control::process().queued_ns.load(Ordering::Relaxed);
    if queued > 0 {
        text.field(SAMPLES.queued, queued);
    }
    if control::process().flags.load(Ordering::Relaxed) & flag::KERNEL_UNSEEN != 0 {
        text.field(SAMPLES.kernel, false);
    }
    if !control::records_calls() {
        return;
    }
    text.key(SAMPLES.calls);
    text.json(b"[");
    for (index, (at, function, spent)) in map.calls.all().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{{\"{}\":\"", CALL.at);
        target(text, map, at);
        text.json(b"\"");
        text.word(CALL.function, function);
        text.field(CALL.processor, spent.processor);
        text.field(CALL.whole, spent.whole);
        text.json(b"}");
    }
    text.json(b"]");
    text.key(SAMPLES.holders);
    text.json(b"[");
    for (index, (waiter, holder, count)) in map.calls.holders().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{{\"{}\":\"", HOLDER.at);
        target(text, map, waiter);
        text.json(b"\"");
        text.key(HOLDER.by);
        text.json(b"\"");
        target(text, map, holder);
        text.json(b"\"");
        text.field(HOLDER.count, count);
        text.json(b"}");
    }
    text.json(b"]");
}

/// Writes the last record.
pub(crate) fn end(times: &StreamTimes, reason: &str) {
    record(|text| {
        text.begin(kind::END);
        text.field(END.time, times.time_ns);
        text.field(END.delay, times.delay_ns);
        text.field(END.rested, times.rested_ns);
        text.word(END.reason, reason);
        text.json(b"}\n");
    });
}

/// Whether a stream is open.
pub(crate) fn is_open() -> bool {
    FD.load(Ordering::Acquire) >= 0
}

/// Closes the stream: another follows, or this is a forked child.
pub(crate) fn close() {
    close_stream();
    let prepared = PREPARED.swap(-1, Ordering::AcqRel);
    if prepared >= 0 {
        descriptors::close(prepared);
    }
}

fn close_stream() {
    let fd = FD.swap(-1, Ordering::AcqRel);
    if fd >= 0 {
        descriptors::close(fd);
    }
}
