//! The thread context that an OpenTelemetry SDK publishes: the span that the thread works for (OTEP 4947). The thread
//! itself reads it when it writes a record, so nobody changes it meanwhile, and logs it if it has changed.
//!
//! The variable is the pointer `otel_thread_ctx_v1`, in whatever module has it in its dynamic symbol table. Reading it
//! takes no lock and does not allocate. A thread's part of a module's variables is found through the offset that the loader
//! has written for the module's own code, or through the thread's vector of modules. If the vector has no entry for the
//! module, the thread has no span.

mod elf;

use core::arch::asm;
use core::cell::Cell;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

use elf::Access;
use fulcrum_wire::transactions::{MAX_ATTRIBUTES, Record};

/// No module publishes spans.
const NONE: u32 = 0;
const STATIC: u32 = 1;
const DYNAMIC: u32 = 2;

static KIND: AtomicU32 = AtomicU32::new(NONE);
static MODULE: AtomicU64 = AtomicU64::new(0);
static OFFSET: AtomicI64 = AtomicI64::new(0);

static NAMED: AtomicU32 = AtomicU32::new(0);
/// The number of modules that had been loaded at the last search.
static LOADED: AtomicU64 = AtomicU64::new(0);
/// Whether this is a forked child, where a missing thread may hold the loader's lock.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

thread_local! {
    // It has no destructor, so it needs no registration and no allocation, and is readable until the thread is gone.
    static LAST: Cell<Span> = const { Cell::new(Span::NONE) };
}

/// What was last recorded. All zero means no span.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Span {
    trace: [u64; 2],
    span: u64,
    flags: u8,
    /// A hash of its attributes.
    attributes: u64,
}

impl Span {
    const NONE: Span = Span {
        trace: [0; 2],
        span: 0,
        flags: 0,
        attributes: 0,
    };
}

/// The length of a record's fixed part.
const HEAD: usize = 28;
const SPAN_AT: usize = 16;
const VALID_AT: usize = 24;
const FLAGS_AT: usize = 25;
const SIZE_AT: usize = 26;

/// Searches for the module with the variable, if modules were loaded since the last search. Called when unknown code
/// appears, and whenever a thread's part of the log is full, because a loaded library may never appear in a call path.
pub(crate) fn find_variable() {
    if KIND.load(Ordering::Relaxed) != NONE || IS_CHILD.load(Ordering::Relaxed) {
        return;
    }
    let Some(access) = elf::find(&LOADED) else {
        return;
    };
    match access {
        Access::Static(offset) => {
            OFFSET.store(offset, Ordering::Relaxed);
            KIND.store(STATIC, Ordering::Release);
        }
        Access::Dynamic(module, offset) => {
            MODULE.store(module, Ordering::Relaxed);
            OFFSET.store(offset.cast_signed(), Ordering::Relaxed);
            KIND.store(DYNAMIC, Ordering::Release);
        }
    }
}

/// The thread's span as a record, if it has changed.
#[inline]
pub(crate) fn change() -> Option<Record<'static>> {
    match KIND.load(Ordering::Relaxed) {
        NONE => None,
        _ => changed(),
    }
}

#[cold]
fn changed() -> Option<Record<'static>> {
    let (span, attributes) = published().map_or((Span::NONE, &[][..]), parts);
    if LAST.replace(span) == span {
        return None;
    }
    NAMED.fetch_max(names(attributes), Ordering::Relaxed);
    Some(Record::Span {
        trace: span.trace,
        span: span.span,
        flags: span.flags,
        attributes,
    })
}

/// What was recorded is no longer known to the reader.
pub(crate) fn forget_last() {
    LAST.set(Span::NONE);
}

/// The number of attributes that need names: one more than the greatest published attribute number.
#[inline]
pub(crate) fn named() -> u32 {
    NAMED.load(Ordering::Relaxed)
}

fn names(mut attributes: &[u8]) -> u32 {
    let mut most = 0;
    while let [key, length, rest @ ..] = attributes {
        most = most.max(u32::from(*key) + 1);
        attributes = rest.get(usize::from(*length)..).unwrap_or_default();
    }
    most
}

/// The thread's record, if it has a valid one.
fn published() -> Option<*const u8> {
    let variable = variable()?;
    // SAFETY: the variable of the calling thread lives as long as the thread and its module. SDKs are not unloaded while
    // their threads publish spans, because their records would go too.
    let record = unsafe { variable.read_volatile() };
    if record.is_null() {
        return None;
    }
    // SAFETY: a published record stays readable until it is detached, which only this thread does.
    let valid = unsafe { record.add(VALID_AT).read_volatile() };
    (valid == 1).then_some(record)
}

/// The address of the calling thread's variable, or `None` if it has none yet.
fn variable() -> Option<*const *const u8> {
    let offset = OFFSET.load(Ordering::Relaxed);
    let base = match KIND.load(Ordering::Acquire) {
        STATIC => thread_pointer(),
        DYNAMIC => block(MODULE.load(Ordering::Relaxed))?,
        _ => return None,
    };
    let address = base.checked_add_signed(offset)?;
    Some(core::ptr::with_exposed_provenance(address as usize))
}

fn thread_pointer() -> u64 {
    let pointer;
    // SAFETY: x86-64 Linux keeps the thread pointer there, for programs too.
    unsafe { asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags)) };
    pointer
}

/// The calling thread's block of a module's variables, from glibc's vector of modules. The word 16 bytes before the
/// vector's address is its length. Each entry has 16 bytes, and the first entry is the vector's generation.
fn block(module: u64) -> Option<u64> {
    const ENTRY: u64 = 16;
    let word = |address: u64| {
        let word: *const u64 = core::ptr::with_exposed_provenance(address as usize);
        // SAFETY: words of the calling thread's own control block and vector, which only it changes.
        unsafe { word.read_volatile() }
    };
    let vector = word(thread_pointer() + 8);
    if vector == 0 || module > word(vector - ENTRY) {
        return None;
    }
    let block = word(vector + module * ENTRY);
    (block != 0 && block != u64::MAX).then_some(block)
}

/// The span and the attributes of a record.
fn parts(record: *const u8) -> (Span, &'static [u8]) {
    // SAFETY: a valid record has at least this many bytes, and only this thread changes it.
    let head = unsafe { slice::from_raw_parts(record, HEAD) };
    let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
    let size = usize::from(u16::from_le_bytes([head[SIZE_AT], head[SIZE_AT + 1]]));
    let attributes = match size {
        // More than an SDK may publish, so the record is invalid.
        size if size > MAX_ATTRIBUTES => &[],
        // SAFETY: the record tells how many bytes follow.
        size => unsafe { slice::from_raw_parts(record.add(HEAD), size) },
    };
    let span = Span {
        trace: [word(0), word(8)],
        span: word(SPAN_AT),
        flags: head[FLAGS_AT],
        attributes: hash(attributes),
    };
    (span, attributes)
}

/// FNV-1a, eight bytes at a time.
fn hash(bytes: &[u8]) -> u64 {
    let chunks = bytes.chunks(8);
    chunks.fold(0xcbf2_9ce4_8422_2325, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// In a forked child: what the parent knew about modules still holds, but nothing has been recorded.
pub(crate) fn begin_again() {
    IS_CHILD.store(true, Ordering::Relaxed);
    LAST.set(Span::NONE);
    NAMED.store(0, Ordering::Relaxed);
}
