//! What the runtime keeps for each thread of the program: its ledger, its sampling, and whether it is in our code.

use core::arch::asm;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

use fulcrum_preload::life::ThreadEnd;
use fulcrum_preload::quiet::Section;
use fulcrum_preload::sys;
use fulcrum_runtime_core::attribute;
use fulcrum_runtime_core::calls::Spent;
use fulcrum_runtime_core::ledger::{Global, Ledger, MOST_PAUSES};
use fulcrum_runtime_core::spread::{Given, LEAST_NS, Spread, Taken};
use fulcrum_unwind::Registers;
use fulcrum_wire::{NONE, flag};

use crate::experiment::pausing::Pause;
use crate::experiment::{choice, holders, pausing};
use crate::process::{activity, control, current};
use crate::sampling::sampler::Sampling;
use crate::sampling::stack::Stack;
use crate::sampling::{resting, sampler, walk};
use crate::signals::place::Place;
use crate::sys::allowed::{Purpose, may};

/// The function a program gives to `pthread_create`.
pub(crate) type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// One profiled thread. Slots live for the life of the process and are reused.
#[repr(align(128))]
pub(crate) struct Thread {
    used: AtomicBool,
    our_code: Section,
    /// Whether the program believes that this thread blocks the sampling signal.
    blocks_signal: AtomicBool,
    /// Whether it waits for the sampling signal.
    pub(crate) waits_for_signal: AtomicBool,
    /// Whether it has been nudged since it last received the sampling signal.
    pub(crate) nudged: AtomicBool,
    /// What the program has sent to it.
    pub(crate) pending: Place,
    /// Its id and `pthread_self`; 0 before it starts and after it ends.
    id: AtomicI32,
    handle: AtomicU64,
    ledger: Cell<Ledger>,
    /// Delay that its samples have earned, and that is not in the ledger yet.
    spread: Spread,
    /// How the thread is sampled.
    pub(crate) sampling: Sampling,
    routine: Cell<Option<Routine>>,
    argument: Cell<*mut c_void>,
    stack_size: Cell<u64>,
    stack: Cell<Stack>,
    blocked_remainder_ns: Cell<u64>,
    /// The libc function that the thread is in, as its index plus 1; 0 outside of those in the list. When a handler jumps out
    /// of one, it stays here until the next.
    inside: Cell<u8>,
    /// Time in such functions that does not fill a period yet.
    inside_remainder_ns: Cell<u64>,
    /// How long the thread has paused.
    paused_ns: Cell<u64>,
    samples_taken: Cell<u32>,
    waiting: Waiting,
}

/// A thread's wait in a call that may be the target. The profiler thread accounts for it meanwhile.
struct Waiting {
    /// The target, or `NONE` while the thread does not wait.
    target: AtomicU32,
    /// Up to when the wait is accounted for.
    until_ns: AtomicU64,
    /// What the thread had accounted for when the wait began.
    accounted_ns: AtomicU64,
    /// What the wait has earned since.
    earned_ns: AtomicU64,
}

/// Delay that threads have given out for time in which they have just run, nanoseconds ([`Given::saved_now`]).
static SAVED: AtomicU64 = AtomicU64::new(0);

const SLOTS: usize = 8192;
static TABLE: AtomicPtr<Thread> = AtomicPtr::new(null_mut());
/// Profiled threads that have not ended.
static LIVE: AtomicU32 = AtomicU32::new(0);
static SEARCH_FROM: AtomicUsize = AtomicUsize::new(0);
/// No slot from this one on was ever used.
static FRESH: AtomicUsize = AtomicUsize::new(0);

/// Allocates the table of threads. To be called before any other function of this module.
pub(crate) fn prepare() -> Option<()> {
    let table = sys::map_anonymous(SLOTS * size_of::<Thread>())?;
    TABLE.store(table.cast(), Ordering::Release);
    Some(())
}

/// The calling thread, if it is profiled.
#[inline(always)]
pub(crate) fn current() -> Option<&'static Thread> {
    // SAFETY: the pointer is null or points into the table, which is never unmapped.
    unsafe { current::get().cast::<Thread>().as_ref() }
}

/// Every slot in use.
pub(crate) fn all() -> impl Iterator<Item = &'static Thread> {
    let table = TABLE.load(Ordering::Acquire);
    let count = FRESH.load(Ordering::Acquire);
    // SAFETY: zeroed memory is a valid, unused slot; the table is never unmapped.
    (0..count)
        .map(move |slot| unsafe { &*table.add(slot) })
        .filter(|it| it.used.load(Ordering::Acquire))
}

/// Takes a free slot for a thread that is about to start, or `None` when all are taken. Its parent is the calling thread, if that is
/// profiled.
pub(crate) fn allocate(
    ledger: Ledger,
    routine: Option<Routine>,
    argument: *mut c_void,
    stack_size: u64,
) -> Option<&'static Thread> {
    let table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        return None;
    }
    let from = SEARCH_FROM.fetch_add(1, Ordering::Relaxed);
    for step in 0..SLOTS {
        let index = (from + step) % SLOTS;
        // SAFETY: within the table.
        let thread = unsafe { &*table.add(index) };
        if thread.used.load(Ordering::Relaxed) || thread.used.swap(true, Ordering::AcqRel) {
            continue;
        }
        thread.our_code.reset();
        FRESH.fetch_max(index + 1, Ordering::AcqRel);
        thread.set_blocks_signal(current().is_some_and(Thread::blocks_signal));
        thread.waits_for_signal.store(false, Ordering::Relaxed);
        thread.nudged.store(false, Ordering::Relaxed);
        thread.pending.clear();
        thread.forget_id();
        thread.ledger.set(ledger);
        thread.spread.clear();
        thread.sampling.clear();
        thread.routine.set(routine);
        thread.argument.set(argument);
        thread.stack_size.set(stack_size);
        thread.stack.set(Stack::default());
        thread.blocked_remainder_ns.set(0);
        thread.inside.set(0);
        thread.inside_remainder_ns.set(0);
        thread.paused_ns.set(0);
        thread.samples_taken.set(0);
        thread.waiting.target.store(NONE, Ordering::Relaxed);
        return Some(thread);
    }
    control::process()
        .flags
        .fetch_or(flag::TOO_MANY_THREADS, Ordering::Relaxed);
    None
}

/// Frees a slot whose thread has not started or has ended.
pub(crate) fn release(thread: &Thread) {
    thread.used.store(false, Ordering::Release);
}

/// What a program's new thread runs first: starts its sampling, then does what the program asked for.
pub(crate) unsafe extern "C-unwind" fn start(slot: *mut c_void) -> *mut c_void {
    // SAFETY: `slot` comes from `allocate`, and this thread is its only user from now on.
    let thread = unsafe { &*slot.cast::<Thread>() };
    // Every frame of the program lies below this one.
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

/// Makes the calling thread the owner of a slot.
pub(crate) fn adopt(thread: &'static Thread) {
    let _errno = sys::KeepErrno::new();
    thread.enter();
    LIVE.fetch_add(1, Ordering::Relaxed);
    current::set(core::ptr::from_ref(thread).cast());
    THREAD_END.set(core::ptr::from_ref(thread).cast());
    thread.learn_id();
    sampler::start(&thread.sampling);
    thread.leave();
}

/// The last thing that a profiled thread does in the runtime: it pays what it owes before anybody who joins it wakes. `true`
/// when it was the last profiled thread.
///
/// # Safety
/// `slot` is the calling thread's: what the handler of [`at_end`] is given.
pub(crate) unsafe fn end(slot: *mut c_void) -> bool {
    // SAFETY: the caller's promise; slots are never unmapped.
    let thread = unsafe { &*slot.cast::<Thread>() };
    if !activity::is_active() {
        return false;
    }
    thread.enter();
    thread.pay_with(|spread| spread.end(choice::speedup()));
    thread.sampling.stop();
    current::set(null());
    release(thread);
    LIVE.fetch_sub(1, Ordering::AcqRel) == 1
}

static THREAD_END: ThreadEnd = ThreadEnd::new();

/// Has `handler` called with its slot when a profiled thread ends, however it does. To be called before the first is adopted.
///
/// # Safety
/// The handler takes any value that [`adopt`] sets, and lives as long as the process.
pub(crate) unsafe fn at_end(handler: unsafe extern "C" fn(*mut c_void)) {
    // SAFETY: as the caller says.
    unsafe { THREAD_END.prepare(handler) };
}

/// In a forked child: frees the slots of the parent's other threads.
pub(crate) fn forget_others(current: Option<&Thread>) {
    for thread in all().filter(|it| current.is_none_or(|current| !core::ptr::eq(*it, current))) {
        release(thread);
    }
}

/// In a forked child that is not profiled: its only thread has no slot any more.
pub(crate) fn forget_current() {
    LIVE.store(0, Ordering::Relaxed);
    current::set(null());
}

/// Profiled threads that have not ended.
pub(crate) fn live() -> u32 {
    LIVE.load(Ordering::Relaxed)
}

/// The delay that every thread should have had so far, nanoseconds. Only while the runtime is active.
pub(crate) fn delay_so_far() -> u64 {
    global().now()
}

/// The count that all threads share, in the control block so that the engine can watch it.
#[inline(always)]
pub(crate) fn global() -> &'static Global {
    let count = &control::process().global_ns;
    // SAFETY: `Global` is a transparent wrapper of `AtomicU64`.
    unsafe { &*core::ptr::from_ref(count).cast::<Global>() }
}

impl Thread {
    /// Starts the account of a forked child's thread anew.
    pub(crate) fn reset_in_child(&self) {
        LIVE.store(1, Ordering::Relaxed);
        self.learn_id();
        pausing::forget_others();
        self.our_code.reset();
        self.ledger.set(Ledger::default());
        self.spread.clear();
        self.sampling.clear();
        self.blocked_remainder_ns.set(0);
        self.inside.set(0);
        self.inside_remainder_ns.set(0);
    }

    /// Whether the program believes that this thread blocks the sampling signal.
    pub(crate) fn blocks_signal(&self) -> bool {
        self.blocks_signal.load(Ordering::SeqCst)
    }

    pub(crate) fn set_blocks_signal(&self, blocks: bool) {
        self.blocks_signal.store(blocks, Ordering::SeqCst);
    }

    /// Whether the program believes that this thread would take a sampling signal now.
    pub(crate) fn takes_signal(&self) -> bool {
        self.id() != 0 && (!self.blocks_signal() || self.waits_for_signal.load(Ordering::SeqCst))
    }

    /// The thread's id; 0 before it starts and after it ends.
    pub(crate) fn id(&self) -> i32 {
        self.id.load(Ordering::SeqCst)
    }

    /// Whether it is this `pthread_t`.
    pub(crate) fn is_handle(&self, handle: libc::pthread_t) -> bool {
        self.handle.load(Ordering::SeqCst) == handle
    }

    /// The calling thread's slot learns whose it is.
    fn learn_id(&self) {
        // SAFETY: takes no arguments.
        let handle = unsafe { libc::pthread_self() };
        self.handle.store(handle, Ordering::SeqCst);
        self.id.store(sys::thread_id(), Ordering::SeqCst);
    }

    /// Nobody finds the thread any more.
    pub(crate) fn forget_id(&self) {
        self.id.store(0, Ordering::SeqCst);
        self.handle.store(0, Ordering::SeqCst);
    }

    /// Where the thread's stack is; empty when unknown.
    pub(crate) fn stack(&self) -> Stack {
        self.stack.get()
    }

    /// Sets where the thread's stack is.
    pub(crate) fn set_stack(&self, stack: Stack) {
        self.stack.set(stack);
    }

    /// Marks the thread as being in our code. `false` when it is already: a signal has interrupted a hook, and its work is done
    /// when the hook ends.
    #[inline]
    fn enter(&self) -> bool {
        self.our_code.enter()
    }

    #[inline]
    fn leave(&self) {
        self.our_code.leave(|| self.catch_up());
    }

    /// Whether [`Thread::pay`] would have nothing to do: no sample has arrived, and the account is balanced.
    #[inline(always)]
    fn owes_nothing(&self) -> bool {
        !self.is_waiting() && self.sampling.is_drained() && self.ledger.get().is_balanced(global())
    }

    /// Pays what is owed before the thread blocks or wakes another, in a call from this place in the program.
    #[cold]
    #[inline(never)]
    fn pay(&self, place: usize) {
        if self.enter() {
            self.pay_with(|spread| spread.end_stretch(working_time(), place, choice::speedup()));
            self.leave();
        }
    }

    /// Processes the samples that have arrived, gives out what was held back until now, and pays.
    fn pay_with(&self, given: impl FnOnce(&Spread) -> Given) {
        self.end_wait();
        self.count_samples(None);
        self.give(given(&self.spread));
        self.catch_up_wholly();
    }

    /// Processes the samples that have arrived, then settles.
    fn catch_up(&self) {
        // A call that was left by a jump has not ended its wait.
        self.end_wait();
        self.count_samples(None);
        self.settle();
    }

    /// As [`Thread::catch_up`], and also pays what the others have earned meanwhile.
    fn catch_up_wholly(&self) {
        for _ in 0..MOST_PAUSES {
            self.catch_up();
            if self.ledger.get().is_settled(global()) {
                return;
            }
        }
    }

    /// Accounts for the time that this thread has been waiting in `target`. Called by the profiler thread.
    fn pass_blocked_time(&self, target: u32, force: u64, now: u64) {
        let waiting = &self.waiting;
        if waiting.target.load(Ordering::Acquire) != target {
            return;
        }
        let since = waiting.until_ns.swap(now, Ordering::AcqRel).max(force);
        let earned = choice::delay_for(now.saturating_sub(since));
        let sum = waiting.earned_ns.fetch_add(earned, Ordering::AcqRel) + earned;
        global().advance_to(waiting.accounted_ns.load(Ordering::Relaxed) + sum);
    }

    /// Whether it waits in a call that may be the target. Only its own thread changes this.
    #[inline(always)]
    fn is_waiting(&self) -> bool {
        self.waiting.target.load(Ordering::Relaxed) != NONE
    }

    /// Ends the thread's wait, and adds what the wait has earned.
    fn end_wait(&self) {
        if !self.is_waiting() {
            return;
        }
        self.waiting.target.store(NONE, Ordering::Release);
        let earned = self.waiting.earned_ns.swap(0, Ordering::AcqRel);
        if earned > 0 {
            self.hit(earned);
        }
    }

    fn count_samples(&self, at: Option<Registers>) {
        if !self.sampling.is_drained() {
            let taken = self.sampling.drain(self.stack(), at, self.inside());
            self.sampled(taken);
        }
    }

    fn sampled(&self, taken: Taken) {
        let (now, speedup) = (working_time(), choice::speedup());
        self.give(self.spread.sampled(taken, now, speedup));
    }

    fn give(&self, given: Given) {
        if given.delay > 0 {
            SAVED.fetch_add(given.saved_now, Ordering::Relaxed);
            self.hit(given.delay);
        }
    }

    fn settle(&self) {
        let mut ledger = self.ledger.get();
        if !ledger.is_balanced(global()) {
            let pause = Pause::new(&self.sampling);
            ledger.settle(global(), &pause);
            self.ledger.set(ledger);
            let took = pause.took_ns();
            if took > 0 {
                self.paused_ns.set(self.paused_ns.get() + took);
                self.sampling.forget_pause();
                self.spread.resume_stretch(working_time());
            }
        }
    }

    /// As [`Thread::settle`], but leaves a debt that is not worth a pause to the next call.
    fn settle_much(&self) {
        if !self.ledger.get().owes_less_than(LEAST_NS, global()) {
            self.settle();
        }
    }

    /// This thread's samples in the selected line have earned `delay` nanoseconds.
    pub(crate) fn hit(&self, delay: u64) {
        let mut ledger = self.ledger.get();
        if choice::is_placebo() {
            ledger.hit_placebo(delay);
        } else {
            ledger.hit(delay);
        }
        self.ledger.set(ledger);
    }

    /// A number that no other thread has.
    fn number(&self) -> u32 {
        (core::ptr::from_ref(self).addr() / size_of::<Thread>()) as u32
    }

    /// The libc function that the thread is in, an index of [`fulcrum_wire::FUNCTIONS`].
    pub(crate) fn inside(&self) -> Option<u8> {
        self.inside.get().checked_sub(1)
    }

    /// The account that a child of this thread starts with.
    pub(crate) fn ledger(&self) -> Ledger {
        self.ledger.get()
    }
}

/// Delays the others for the time that threads wait in the target, while they wait and not only when the call ends: a thread
/// that blocked in between would never pay. The profiler thread calls this every other millisecond.
pub(crate) fn pass_blocked_time() {
    let Some((target, force)) = choice::blocked_target() else {
        return;
    };
    let now = sys::now();
    for thread in all() {
        thread.pass_blocked_time(target, force, now);
    }
}

/// Handles a sampling signal. `at` are the registers that it interrupted, if a handler received it; `tick` is what a timer's
/// tick has earned, if this is one.
pub(crate) fn on_signal(
    thread: &Thread,
    at: Option<Registers>,
    tick: impl FnOnce() -> Option<Taken>,
) {
    thread
        .samples_taken
        .set(thread.samples_taken.get().wrapping_add(1));
    if thread.enter() {
        if let Some(taken) = tick() {
            thread.sampled(taken);
        }
        thread.count_samples(at);
        thread.settle_much();
        thread.leave();
    }
}

/// The calling thread is about to wait in a call, made from `at`, that no other thread will end.
pub(crate) fn block_begins(at: Registers) {
    if let Some(thread) = active()
        && thread.enter()
    {
        let map = control::map();
        let mut chain = [0; walk::DEEPEST_WALK];
        let depth = walk::walk(thread.stack(), at, &mut chain);
        let frames = attribute::frames(chain[..depth].iter().copied());
        if let Some(target) = map.targets.of(frames).targets().first() {
            let waiting = &thread.waiting;
            let accounted = thread.ledger.get().accounted();
            waiting.earned_ns.store(0, Ordering::Relaxed);
            waiting.accounted_ns.store(accounted, Ordering::Relaxed);
            waiting.until_ns.store(sys::now(), Ordering::Relaxed);
            waiting.target.store(*target, Ordering::Release);
        }
        thread.leave();
    }
}

/// When the time of a blocked call delays the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accounting {
    /// While it passes: the profiler thread accounts for most of it ([`pass_blocked_time`]).
    WhileWaiting,
    /// When the call ends.
    AtTheEnd,
}

/// After a call that blocked the calling thread for `blocked_ns`, made from `at`: its time is sped up when it is the target.
pub(crate) fn after_block(call: u32, blocked_ns: u64, at: Registers, accounting: Accounting) {
    if let Some(thread) = active()
        && thread.enter()
    {
        thread.end_wait();
        thread.count_samples(None);
        let period = control::session().period_ns.max(1);
        let whole = blocked_ns + thread.blocked_remainder_ns.get();
        thread.blocked_remainder_ns.set(whole % period);
        let map = control::map();
        let mut chain = [0; walk::DEEPEST_WALK];
        let depth = walk::walk(thread.stack(), at, &mut chain);
        let found = map
            .targets
            .of(attribute::frames(chain[..depth].iter().copied()));
        // The time that the speedup was in force and that the profiler thread has not accounted for yet.
        let left = if accounting == Accounting::WhileWaiting {
            let until = thread.waiting.until_ns.load(Ordering::Acquire);
            sys::now().saturating_sub(until.max(choice::in_force_since()))
        } else {
            blocked_ns
        };
        let hits = choice::on_blocked(map, &found, call, whole / period, left);
        if hits > 0 {
            thread.hit(hits);
        }
        thread.settle();
        thread.leave();
    }
}

/// A thread's counts when it entered a libc function.
pub(crate) struct Entry {
    time_ns: u64,
    paused_ns: u64,
    credits_ns: u64,
    lock: usize,
}

/// The calling thread enters a libc function, an index of [`fulcrum_wire::FUNCTIONS`]. `lock` is the address of the lock that it
/// may wait for, or 0. `None` when calls are not measured.
#[inline]
pub(crate) fn enter_function(function: u8, lock: usize) -> Option<Entry> {
    if control::times_calls() || resting::is_resting() || !activity::is_sampling() {
        return None;
    }
    let thread = active()?;
    thread.inside.set(function + 1);
    Some(Entry {
        time_ns: sys::now(),
        paused_ns: thread.paused_ns.get(),
        credits_ns: thread.ledger.get().credits(),
        lock,
    })
}

/// The target in which the calling thread is at these registers.
fn target_at(thread: &Thread, at: Registers) -> Option<u32> {
    let mut chain = [0; walk::DEEPEST_WALK];
    let depth = walk::walk(thread.stack(), at, &mut chain);
    let frames = attribute::frames(chain[..depth].iter().copied());
    let found = control::map().targets.of(frames);
    found.targets().first().copied()
}

/// The calling thread is about to release the lock at this address: answers the thread that asked who holds it.
#[inline]
pub(crate) fn answer_waiter(lock: usize, at: Registers) {
    if let Some(thread) = active()
        && let Some(waiter) = holders::answer(lock, thread.number())
        && thread.enter()
    {
        if let Some(holder) = target_at(thread, at) {
            control::map().calls.add_holder(holder, waiter);
        }
        thread.leave();
    }
}

/// The calling thread leaves a libc function. Samples until now were taken in it. The thread's own pauses do not count as time in
/// the function, nor do the pauses of whoever kept it waiting.
pub(crate) fn leave_function(entry: &Entry, function: u8, at: Registers) {
    let Some(thread) = active().filter(|thread| thread.enter()) else {
        return;
    };
    thread.count_samples(Some(at));
    thread.inside.set(0);
    let passed = sys::now().saturating_sub(entry.time_ns);
    let pauses = thread.paused_ns.get().saturating_sub(entry.paused_ns)
        + thread
            .ledger
            .get()
            .credits()
            .saturating_sub(entry.credits_ns);
    let time = passed.saturating_sub(pauses) + thread.inside_remainder_ns.get();
    let period = control::session().period_ns.max(1);
    thread.inside_remainder_ns.set(time % period);
    if time >= period
        && control::records_calls()
        && let Some(target) = target_at(thread, at)
    {
        let spent = Spent {
            processor: 0,
            whole: time / period,
        };
        control::map().calls.add(target, function, spent);
        if entry.lock != 0 {
            holders::ask(entry.lock, target, thread.number());
        }
    }
    thread.leave();
}

/// Before anything that may block this thread or wake another (COZ §3.4.1): pays what is owed. Returns whether the calling
/// thread is profiled at the moment.
///
/// Programs that lock millions of times a second nearly always owe nothing. Finding that out takes only reads.
#[inline(always)]
pub(crate) fn before() -> bool {
    let Some(thread) = active() else {
        return false;
    };
    if thread.spread.count_call() && choice::is_speeding_up() || !thread.owes_nothing() {
        thread.pay(place());
    }
    true
}

/// The time by which the calling thread spreads delay over its work, nanoseconds: its processor time. While it waits for a
/// processor it saves nothing.
fn working_time() -> u64 {
    sys::clock(if may(Purpose::Time) {
        libc::CLOCK_THREAD_CPUTIME_ID
    } else {
        libc::CLOCK_MONOTONIC
    })
}

/// A number for the place in the program that calls a hook: the return address, with the depth of the stack, because many programs
/// call hooks through functions of their own or of a library.
#[inline(always)]
fn place() -> usize {
    let (ip, frame): (usize, usize);
    #[cfg(frame_pointers)]
    // SAFETY: the hook's frame pointer points to its caller's, and the return address is above it.
    unsafe {
        asm!("mov {}, [rbp + 8]", "mov {}, rbp", out(reg) ip, out(reg) frame,
            options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(frame_pointers))]
    // SAFETY: reads two registers. Another number for each hook, at least.
    unsafe {
        asm!("lea {}, [rip]", "mov {}, rsp", out(reg) ip, out(reg) frame,
            options(nomem, nostack, preserves_flags));
    }
    // Never 0, and no two places have the same number unless they are gigabytes apart.
    ip.rotate_left(32) ^ frame
}

/// How many sampling signals the calling thread has handled, modulo 2³².
pub(crate) fn samples_taken() -> u32 {
    active().map_or(0, |thread| thread.samples_taken.get())
}

/// When a wait began.
pub(crate) struct WaitBegin {
    time_ns: u64,
    saved_ns: u64,
}

/// The calling thread is about to wait for another. `None` while nothing is sped up, so that nothing can have been saved.
#[inline]
pub(crate) fn wait_begins() -> Option<WaitBegin> {
    choice::is_speeding_up().then(|| WaitBegin {
        time_ns: sys::now(),
        saved_ns: SAVED.load(Ordering::Relaxed),
    })
}

/// After a call in which another thread may have woken this one. `begin` is when it began to wait, if that is known.
#[inline]
pub(crate) fn after_wake(begin: Option<WaitBegin>) {
    if let Some(thread) = active()
        && thread.enter()
    {
        thread.count_samples(None);
        let mut ledger = thread.ledger.get();
        match begin {
            Some(begin) => {
                let waited = sys::now().saturating_sub(begin.time_ns);
                let saved = SAVED.load(Ordering::Relaxed).saturating_sub(begin.saved_ns);
                ledger.credit_wait(global(), waited, saved);
            }
            None => ledger.credit(global()),
        }
        thread.ledger.set(ledger);
        if choice::is_speeding_up() {
            thread.spread.resume(working_time());
        }
        thread.leave();
    }
}

/// After a call that may have blocked the calling thread: the time in it was no work.
#[inline(always)]
pub(crate) fn resumes() {
    if choice::is_speeding_up()
        && let Some(thread) = active()
        && thread.spread.is_watched()
        && thread.enter()
    {
        thread.spread.resume(working_time());
        thread.leave();
    }
}

/// The calling thread, if it is profiled and the runtime is active.
#[inline(always)]
pub(crate) fn active() -> Option<&'static Thread> {
    if activity::is_active() {
        current()
    } else {
        None
    }
}
