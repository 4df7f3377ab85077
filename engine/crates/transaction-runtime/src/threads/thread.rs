//! The state of each thread of the program: its place in the log, where its stack is, and whether it is in our code.

use core::arch::{asm, global_asm};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, compiler_fence};

use fulcrum_preload::life::ThreadEnd;
use fulcrum_preload::sys;
use fulcrum_wire::transactions::{
    CHUNK_HEADER, CHUNK_MAGIC, ChunkWords, Head, Record, chunk_check, chunk_word,
};

use super::lock_wait::LockWait;
use super::work::Work;
use super::{entering, thread_context};
use crate::active;
use crate::call_paths::memory::Memory;
use crate::java::Tasks;
use crate::libraries::Nesting;
use crate::locking::watch::Watch;
use crate::log::{self, Chunk};
use crate::windows;

/// The function that a program passes to `pthread_create`.
pub(crate) type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// A thread. Slots live as long as the process and are reused. A zeroed slot is not in use.
#[repr(align(128))]
pub(crate) struct Thread {
    /// The stack pointer at which our code was entered, or 0 outside it.
    inside: Cell<u64>,
    /// Whether the thread has called `vfork` and the child is running, in its memory.
    vforked: Cell<bool>,
    number: Cell<u32>,
    by: Cell<u32>,
    id: Cell<u32>,
    endings: Cell<u32>,
    routine: Cell<Option<Routine>>,
    argument: Cell<*mut c_void>,
    stack_size: Cell<u64>,
    stack: Cell<Stack>,
    chunk: Cell<Option<Chunk>>,
    /// Bytes of records in the chunk.
    written: Cell<usize>,
    /// The number of chunks so far.
    chunks: Cell<u32>,
    /// The state of watching its critical sections.
    pub(crate) watch: Watch,
    /// The handlers that it is in.
    pub(crate) nesting: Nesting,
    /// What it works for, as far as its records tell.
    pub(crate) work: Work,
    /// The [window](crate::windows) in which it has last recorded anything.
    pub(crate) window: Cell<u64>,
    /// The tasks of a Java virtual machine that it is in.
    pub(crate) tasks: Tasks,
    /// The monitor or lock of a Java virtual machine that it waits for.
    pub(crate) lock_wait: LockWait,
    memory: UnsafeCell<Memory>,
}

/// A thread's stack, from `low` to `high`, both inside it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stack {
    /// The lowest address that may be read while the stack pointer is at or below it.
    pub(crate) low: u64,
    /// Above every frame of the program.
    pub(crate) high: u64,
}

impl Stack {
    /// Whether an address is in it.
    #[inline]
    pub(crate) fn has(&self, address: u64) -> bool {
        self.low <= address && address < self.high
    }
}

/// The most threads at once. Further ones are not logged.
pub(crate) const SLOTS: usize = 4096;
static TABLE: AtomicPtr<Thread> = AtomicPtr::new(null_mut());
/// Which slots are in use. Kept apart from them, so that a search touches no other slots.
static USED: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];
/// The last number given to a thread of this process.
static LAST_NUMBER: AtomicU32 = AtomicU32::new(0);
/// The number of threads that have called `vfork` and whose children are running.
static VFORKED: AtomicU32 = AtomicU32::new(0);
static END: ThreadEnd = ThreadEnd::new();
/// Ends after other libraries' thread destructors, which may send and receive.
const ENDINGS: u32 = 3;

// Two words of the calling thread: which one it is, and whether it is behind. Not a `thread_local!`, which a library reaches
// through a call, because hooks read them all the time; in pauses they read nothing else of the thread.
global_asm!(
    ".pushsection .tbss.fulcrum_transaction_thread,\"awT\",@nobits",
    ".balign 16",
    ".globl fulcrum_transaction_thread",
    ".hidden fulcrum_transaction_thread",
    ".type fulcrum_transaction_thread,@object",
    ".size fulcrum_transaction_thread,16",
    "fulcrum_transaction_thread:",
    ".zero 16",
    ".popsection",
);

/// The calling thread's slot, null, or [`ended`].
#[inline(always)]
fn own() -> *const Thread {
    let thread: *const Thread;
    // SAFETY: reads the word as the initial-exec model of x86-64 Linux defines it; the library is loaded at program start.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + fulcrum_transaction_thread@gottpoff]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) thread,
            options(nostack, readonly, preserves_flags),
        );
    }
    thread
}

fn set_own(thread: *const Thread) {
    // SAFETY: as in `own`; writes the word.
    unsafe {
        asm!(
            "mov {1}, qword ptr [rip + fulcrum_transaction_thread@gottpoff]",
            "mov qword ptr fs:[{1}], {0}",
            in(reg) thread,
            out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Whether the calling thread still works on several events that it was told of in a pause: nothing of this is recorded.
#[inline(always)]
fn is_behind() -> bool {
    let behind: u64;
    // SAFETY: as in `own`; reads the word after it.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + fulcrum_transaction_thread@gottpoff]",
            "mov {0}, qword ptr fs:[{0} + 8]",
            out(reg) behind,
            options(nostack, readonly, preserves_flags),
        );
    }
    behind != 0
}

/// See [`is_behind`].
#[inline(always)]
fn set_behind(behind: bool) {
    // SAFETY: as in `set_own`; writes the word after it.
    unsafe {
        asm!(
            "mov {1}, qword ptr [rip + fulcrum_transaction_thread@gottpoff]",
            "mov qword ptr fs:[{1} + 8], {0}",
            in(reg) u64::from(behind),
            out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// The value for a thread that has ended.
fn ended() -> *const Thread {
    core::ptr::without_provenance(align_of::<Thread>())
}

/// Makes room for threads. `end` is called with the slot of each thread that ends. Call this before any other function of
/// this module.
pub(crate) fn prepare(end: unsafe extern "C" fn(*mut c_void)) -> Option<()> {
    let table = sys::map_anonymous(SLOTS * size_of::<Thread>())?;
    TABLE.store(table.cast(), Ordering::Release);
    // SAFETY: the key's values are slots, which is all that `end` expects.
    unsafe { END.prepare(end) };
    Some(())
}

/// The calling thread, if it has a slot.
#[inline]
pub(crate) fn current() -> Option<&'static Thread> {
    let thread = own();
    if thread == ended() {
        return None;
    }
    // SAFETY: null, or in the table, which is never unmapped.
    unsafe { thread.as_ref() }
}

/// Takes a free slot for a thread that thread `by` is about to create. Returns `None` if all are taken.
pub(crate) fn allocate(by: u32) -> Option<&'static Thread> {
    let is_free =
        |used: &AtomicBool| !used.load(Ordering::Relaxed) && !used.swap(true, Ordering::AcqRel);
    let slot = USED.iter().position(is_free)?;
    // SAFETY: within the table, which is never unmapped; zeroed memory is a valid slot.
    let free = unsafe { &*TABLE.load(Ordering::Acquire).add(slot) };
    free.by.set(by);
    free.routine.set(None);
    free.begin(LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1);
    free.stack.set(Stack::default());
    Some(free)
}

/// Frees the slot of a thread that never started.
pub(crate) fn release(thread: &Thread) {
    thread.slot().store(false, Ordering::Release);
}

/// The first function of a new thread of the program.
pub(crate) unsafe extern "C-unwind" fn start(slot: *mut c_void) -> *mut c_void {
    // SAFETY: `slot` comes from `allocate`, and only this thread uses it from now on.
    let thread = unsafe { &*slot.cast::<Thread>() };
    // Every frame of the program is below this one.
    let high = (&raw const thread) as u64 & !7;
    let low = high.saturating_sub(thread.stack_size.get());
    thread.stack.set(Stack { low, high });
    let (routine, argument) = (thread.routine.get(), thread.argument.get());
    adopt(thread);
    match routine {
        // SAFETY: the program's own function and argument.
        Some(routine) => unsafe { routine(argument) },
        None => null_mut(),
    }
}

/// Makes the calling thread the owner of a slot, and starts its part of the log.
pub(crate) fn adopt(thread: &'static Thread) {
    let _errno = sys::KeepErrno::new();
    set_own(thread);
    thread.id.set(sys::thread_id() as u32);
    END.set(core::ptr::from_ref(thread).cast());
    if let Some(inside) = enter() {
        inside.write(
            0,
            &Record::Begin {
                by: thread.by.get(),
            },
        );
    }
}

/// The first thread of a process that has just started or was just forked. Returns `None` if there is no slot for it.
pub(crate) fn begin_process() -> Option<()> {
    catches_up();
    LAST_NUMBER.store(0, Ordering::Relaxed);
    VFORKED.store(0, Ordering::Relaxed);
    for used in &USED {
        used.store(false, Ordering::Relaxed);
    }
    let thread = match current() {
        Some(thread) => {
            // Its slot is the only one in use.
            thread.slot().store(true, Ordering::Release);
            thread.by.set(0);
            thread.begin(LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1);
            thread
        }
        None => allocate(0)?,
    };
    adopt(thread);
    Some(())
}

/// A thread that has recorded its end frees its slot.
pub(crate) fn leave(inside: Inside) {
    let thread = inside.0;
    if let Some(chunk) = thread.chunk.take() {
        log::give_back(&chunk, CHUNK_HEADER + thread.written.get());
    }
    drop(inside);
    set_own(ended());
    release(thread);
}

/// The initial thread's stack, up to the random bytes that the kernel puts above everything else.
pub(crate) fn main_stack() -> Stack {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes to `limit`; the auxiliary vector is readable for the life of the process.
    let high = unsafe {
        libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit);
        libc::getauxval(libc::AT_RANDOM) & !7
    };
    Stack {
        low: high.saturating_sub(limit.rlim_cur.min(64 << 20)),
        high,
    }
}

impl Thread {
    /// Whether its slot is in use.
    fn slot(&self) -> &'static AtomicBool {
        let table = TABLE.load(Ordering::Acquire).cast_const();
        // SAFETY: both are in the table.
        let slot = unsafe { core::ptr::from_ref(self).offset_from_unsigned(table) };
        &USED[slot]
    }

    fn begin(&self, number: u32) {
        self.inside.set(0);
        self.vforked.set(false);
        self.number.set(number);
        self.endings.set(0);
        self.chunk.set(None);
        self.written.set(0);
        self.chunks.set(0);
        self.watch.begin();
        self.nesting.begin();
        self.work.begin();
        self.window.set(0);
        self.tasks.begin();
        self.lock_wait.forget();
        // SAFETY: nobody uses the slot yet.
        unsafe { (*self.memory.get()).forget() };
    }

    /// Whether it, the calling thread, may record now what happens to transactions. In a window that is new to it, it first forgets
    /// what it knew of the one before.
    #[inline]
    pub(crate) fn may_record(&self) -> bool {
        let number = windows::number();
        if number & 1 != 0 {
            return false;
        }
        if self.window.get() != number {
            self.begin_window(number);
        }
        !is_behind()
    }

    #[cold]
    fn begin_window(&self, number: u64) {
        entering::enter(number);
        self.window.set(number);
        self.work.begin();
        self.lock_wait.forget();
        thread_context::forget_last();
    }

    /// Sets what it will run, and the size of its stack.
    pub(crate) fn set_routine(&self, routine: Routine, argument: *mut c_void, stack_size: u64) {
        self.routine.set(Some(routine));
        self.argument.set(argument);
        self.stack_size.set(stack_size);
    }

    /// Its number in the process.
    pub(crate) fn number(&self) -> u32 {
        self.number.get()
    }

    /// The kernel's thread number.
    pub(crate) fn id(&self) -> u32 {
        self.id.get()
    }

    /// Its stack, or an empty range if unknown.
    pub(crate) fn stack(&self) -> Stack {
        self.stack.get()
    }

    /// Sets its stack.
    pub(crate) fn set_stack(&self, stack: Stack) {
        self.stack.set(stack);
    }

    /// Called at its end. Returns whether this is the last call: other libraries may still do something, and then it is
    /// called again.
    pub(crate) fn is_at_end(&self) -> bool {
        if self.endings.get() < ENDINGS {
            self.endings.set(self.endings.get() + 1);
            END.set(core::ptr::from_ref(self).cast());
            return false;
        }
        true
    }

    /// Whether a child made by `vfork` is running.
    pub(crate) fn is_vforked(&self) -> bool {
        self.vforked.get()
    }

    /// Sets whether a child made by `vfork` is running.
    pub(crate) fn set_vforked(&self, vforked: bool) {
        match (self.vforked.replace(vforked), vforked) {
            (false, true) => VFORKED.fetch_add(1, Ordering::Relaxed),
            (true, false) => VFORKED.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
    }

    /// Enters our code. Returns `None` if a signal handler has interrupted our code. If our code was left by a jump, this
    /// is recognised by the stack, which is below where it was.
    #[inline]
    fn enter(&'static self) -> Option<Inside> {
        let here = 0_u8;
        let here = (&raw const here) as u64;
        let before = self.inside.get();
        if before != 0 {
            let stack = self.stack.get();
            if !(stack.has(here) && stack.has(before) && here > before) {
                return None;
            }
        }
        self.inside.set(here);
        compiler_fence(Ordering::SeqCst);
        Some(Inside(self))
    }
}

/// The calling thread's access to the log. The thread is in our code while this exists, and calls nothing of the program.
pub(crate) struct Inside(&'static Thread);

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.0.inside.set(0);
    }
}

/// Enters our code to write a record. Returns `None` if the library is inactive, or if the thread already is in our code,
/// which is counted.
#[inline]
pub(crate) fn enter() -> Option<Inside> {
    if !active::is_active() {
        return None;
    }
    let thread = match current() {
        Some(thread) => thread,
        None => adopt_unknown()?,
    };
    if thread.vforked.get() {
        return None;
    }
    let inside = thread.enter();
    if inside.is_none() {
        log::drop_record();
    }
    inside
}

/// Whether the calling thread acts for this process: the library is active, and the thread is not a child made by `vfork`.
#[inline]
pub(crate) fn is_logged() -> bool {
    // Usually there are no such children, and then it does not matter which thread this is.
    active::is_active()
        && (VFORKED.load(Ordering::Relaxed) == 0 || !current().is_some_and(Thread::is_vforked))
}

/// The same while transactions are recorded.
#[inline]
pub(crate) fn is_recorded() -> bool {
    windows::is_open() && is_logged()
}

/// The calling thread waits for something new.
#[inline]
pub(crate) fn catches_up() {
    set_behind(false);
}

/// The calling thread is told of several events at once.
#[inline]
pub(crate) fn falls_behind() {
    set_behind(true);
}

/// A thread that was created in a way that we do not hook.
#[cold]
fn adopt_unknown() -> Option<&'static Thread> {
    if own() == ended() {
        log::drop_record();
        return None;
    }
    let Some(thread) = allocate(0) else {
        // Prevents a new attempt at every call.
        set_own(ended());
        return None;
    };
    adopt(thread);
    Some(thread)
}

impl Inside {
    /// The thread.
    #[inline]
    pub(crate) fn thread(&self) -> &'static Thread {
        self.0
    }

    /// Its cache of call paths. It belongs to this thread, which alone uses it while it is in our code.
    pub(crate) fn memory(&self) -> *mut Memory {
        self.0.memory.get()
    }

    /// Writes a record of what has just happened.
    #[inline]
    pub(crate) fn write(&self, path: u32, record: &Record) {
        self.write_at(sys::now(), path, record);
    }

    /// Writes a record of what ended at this time. In pauses, only what [lasts](Record::lasts).
    #[inline]
    pub(crate) fn write_at(&self, time_ns: u64, path: u32, record: &Record) {
        if !self.0.may_record() {
            if record.lasts() {
                self.write_one(Head { time_ns, path }, record);
                self.0.work.written(record);
            }
            return;
        }
        if let Some(span) = thread_context::change() {
            self.write_one(Head { time_ns, path: 0 }, &span);
            self.0.work.written(&span);
        }
        let depth = self.0.nesting.owed(record);
        if depth != 0 {
            let returned = Record::Returned { depth };
            self.write_one(Head { time_ns, path: 0 }, &returned);
            self.0.work.written(&returned);
        }
        self.write_one(Head { time_ns, path }, record);
        self.0.work.written(record);
    }

    #[inline]
    fn write_one(&self, head: Head, record: &Record) {
        if self.try_write(head, record).is_none() {
            log::drop_record();
        }
    }

    #[inline]
    fn try_write(&self, head: Head, record: &Record) -> Option<()> {
        if log::is_full() {
            return None;
        }
        let thread = self.0;
        let length = record.length();
        let mut chunk = match thread.chunk.get() {
            Some(chunk) if CHUNK_HEADER + thread.written.get() + length <= chunk.size => chunk,
            _ => self.new_chunk(CHUNK_HEADER + length)?,
        };
        let at = CHUNK_HEADER + thread.written.get();
        chunk.reserve(at + length)?;
        thread.chunk.set(Some(chunk));
        // SAFETY: the rest of a chunk that belongs to this thread alone.
        let rest =
            unsafe { core::slice::from_raw_parts_mut(chunk.bytes().add(at), chunk.size - at) };
        let written = thread.written.get() + record.write(head, rest)?;
        thread.written.set(written);
        // SAFETY: within the chunk's header.
        let used = unsafe { &*chunk.words().add(chunk_word::USED) };
        used.store((written as u64).to_le(), Ordering::Release);
        Some(())
    }

    #[cold]
    fn new_chunk(&self, least: usize) -> Option<Chunk> {
        thread_context::find_variable();
        let thread = self.0;
        let chunk = log::take_chunk(least)?;
        let mut name = [0_u64; 2];
        // SAFETY: the kernel writes 16 bytes.
        unsafe {
            let args = [
                libc::PR_GET_NAME as usize,
                (&raw mut name).addr(),
                0,
                0,
                0,
                0,
            ];
            sys::call(libc::SYS_prctl, args);
        }
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let mut words: ChunkWords = [0; CHUNK_HEADER / 8];
        words[chunk_word::THREAD] = two(CHUNK_MAGIC, thread.number.get());
        words[chunk_word::SEQUENCE] = two(thread.chunks.get(), thread.id.get());
        words[chunk_word::NAME..][..2].copy_from_slice(&name);
        words[chunk_word::OFFSET] = chunk.offset;
        words[chunk_word::TIME] = sys::now();
        words[chunk_word::CHECK] = chunk_check(&words);
        // The first word is written last, because a chunk is invalid without it.
        for (at, word) in words.iter().enumerate().rev() {
            // SAFETY: within the chunk's header.
            let place = unsafe { &*chunk.words().add(at) };
            place.store(word.to_le(), Ordering::Release);
        }
        thread.chunks.set(thread.chunks.get() + 1);
        thread.chunk.set(Some(chunk));
        thread.written.set(0);
        Some(chunk)
    }
}
