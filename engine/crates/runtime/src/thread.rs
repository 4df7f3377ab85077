//! What the runtime knows of each thread of the program: its ledger, its sampling, and whether it is in our code.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use fulcrum_preload::life::ThreadEnd;
use fulcrum_preload::quiet::Section;
use fulcrum_preload::sys;
use fulcrum_runtime_core::attribute;
use fulcrum_runtime_core::calls::Spent;
use fulcrum_runtime_core::ledger::{Global, Ledger, MOST_PAUSES};
use fulcrum_unwind::Registers;
use fulcrum_wire::{NONE, flag};

use crate::pausing::Pause;
use crate::sampling::Sampling;
use crate::stack::Stack;
use crate::{activity, choice, control, current, holders, pausing, resting, sampling, walk};

/// The function a program gives to `pthread_create`.
pub type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// One profiled thread. Slots live for the life of the process and are reused.
#[repr(align(128))]
pub struct Thread {
    used: AtomicBool,
    ours: Section,
    /// The program believes that it has blocked our signal in this thread.
    pub blocks_signal: Cell<bool>,
    /// What came while the thread sent itself our signal.
    pub arrived: Cell<Arrived>,
    ledger: Cell<Ledger>,
    /// How the thread is sampled.
    pub sampling: Sampling,
    routine: Cell<Option<Routine>>,
    argument: Cell<*mut c_void>,
    stack_size: Cell<u64>,
    stack: Cell<Stack>,
    blocked_remainder_ns: Cell<u64>,
    /// The function of libc that the thread is in, as its index plus 1; 0 outside of those that are told apart. A handler
    /// that leaves one by a jump leaves it here until the next.
    inside: Cell<u8>,
    /// Time in such functions that makes no whole period yet.
    inside_remainder_ns: Cell<u64>,
    /// How long the thread has paused.
    paused_ns: Cell<u64>,
    samples_taken: Cell<u32>,
    waiting: Waiting,
}

/// Which signals of our number came to a thread.
#[derive(Clone, Copy, Default)]
pub struct Arrived {
    /// A sample.
    pub sample: bool,
    /// One of the program's.
    pub theirs: bool,
}

/// A thread that waits in a call that may be the target. The profiler thread accounts for it meanwhile.
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

const SLOTS: usize = 8192;
static TABLE: AtomicPtr<Thread> = AtomicPtr::new(null_mut());
/// Profiled threads that have not ended.
static LIVE: AtomicU32 = AtomicU32::new(0);
static SEARCH_FROM: AtomicUsize = AtomicUsize::new(0);

/// Makes room for threads. Before any other function of this module.
pub fn prepare() -> Option<()> {
    let table = sys::map_anonymous(SLOTS * size_of::<Thread>())?;
    TABLE.store(table.cast(), Ordering::Release);
    Some(())
}

/// The calling thread, if it is profiled.
#[inline(always)]
pub fn current() -> Option<&'static Thread> {
    // SAFETY: the pointer is null or points into the table, which is never unmapped.
    unsafe { current::get().as_ref() }
}

/// Every slot in use, for descriptors that must be closed or silenced.
pub fn all() -> impl Iterator<Item = &'static Thread> {
    let table = TABLE.load(Ordering::Acquire);
    let count = if table.is_null() { 0 } else { SLOTS };
    // SAFETY: zeroed memory is a valid, unused slot; the table is never unmapped.
    (0..count)
        .map(move |slot| unsafe { &*table.add(slot) })
        .filter(|it| it.used.load(Ordering::Acquire))
}

/// Takes a free slot for a thread that is about to start, or `None` when all are taken.
pub fn allocate(
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
        // SAFETY: within the table.
        let thread = unsafe { &*table.add((from + step) % SLOTS) };
        if thread.used.load(Ordering::Relaxed) || thread.used.swap(true, Ordering::AcqRel) {
            continue;
        }
        thread.ours.reset();
        thread.blocks_signal.set(false);
        thread.arrived.set(Arrived::default());
        thread.ledger.set(ledger);
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

/// Gives a slot back whose thread never started.
pub fn release(thread: &Thread) {
    thread.used.store(false, Ordering::Release);
}

/// What a program's new thread runs first: starts its sampling, then does what the program asked for.
pub unsafe extern "C-unwind" fn start(slot: *mut c_void) -> *mut c_void {
    // SAFETY: `slot` comes from `allocate`, and this thread is its only user from now on.
    let thread = unsafe { &*slot.cast::<Thread>() };
    // Every frame of the program's lies below this one.
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
pub fn adopt(thread: &'static Thread) {
    let _errno = sys::KeepErrno::new();
    thread.enter();
    LIVE.fetch_add(1, Ordering::Relaxed);
    current::set(thread);
    THREAD_END.set(core::ptr::from_ref(thread).cast());
    sampling::start(&thread.sampling);
    thread.leave();
}

/// The last thing a profiled thread does in the runtime: pays what it owes, before anybody who joins it wakes. `true` when it
/// was the last of them. `slot` is what the handler of [`at_end`] was given.
pub fn end(slot: *mut c_void) -> bool {
    // SAFETY: the value of our key is the slot that `adopt` set.
    let thread = unsafe { &*slot.cast::<Thread>() };
    if !activity::is_active() {
        return false;
    }
    thread.enter();
    thread.catch_up_wholly();
    thread.sampling.stop();
    current::set(null());
    release(thread);
    LIVE.fetch_sub(1, Ordering::AcqRel) == 1
}

static THREAD_END: ThreadEnd = ThreadEnd::new();

/// Has `handler` called with its slot when a profiled thread ends, however it does. Before the first is adopted.
///
/// # Safety
/// The handler takes any value that [`adopt`] sets, and lives as long as the process.
pub unsafe fn at_end(handler: unsafe extern "C" fn(*mut c_void)) {
    // SAFETY: as the caller says.
    unsafe { THREAD_END.prepare(handler) };
}

/// In a forked child: the other threads are the parent's.
pub fn forget_others(current: Option<&Thread>) {
    for thread in all().filter(|it| current.is_none_or(|current| !core::ptr::eq(*it, current))) {
        release(thread);
    }
}

/// In a forked child: the only thread leaves the parent's books alone.
pub fn forget_current() {
    LIVE.store(0, Ordering::Relaxed);
    current::set(null());
}

/// Profiled threads that have not ended.
pub fn live() -> u32 {
    LIVE.load(Ordering::Relaxed)
}

/// The delay that every thread should have made so far, nanoseconds. Only while the runtime is active.
pub fn delay_so_far() -> u64 {
    global().now()
}

/// The count that all threads share, in the control block so that the engine can watch it.
#[inline(always)]
pub fn global() -> &'static Global {
    let count = &control::process().global_ns;
    // SAFETY: `Global` is a transparent wrapper of `AtomicU64`.
    unsafe { &*core::ptr::from_ref(count).cast::<Global>() }
}

impl Thread {
    /// A forked child's account begins anew.
    pub fn begin_again(&self) {
        LIVE.store(1, Ordering::Relaxed);
        pausing::forget_others();
        self.ours.reset();
        self.ledger.set(Ledger::default());
        self.sampling.clear();
        self.blocked_remainder_ns.set(0);
        self.inside.set(0);
        self.inside_remainder_ns.set(0);
    }

    /// Where the thread's stack is; empty when unknown.
    pub fn stack(&self) -> Stack {
        self.stack.get()
    }

    /// Says where the thread's stack is.
    pub fn set_stack(&self, stack: Stack) {
        self.stack.set(stack);
    }

    /// Marks the thread as being in our code; `false` when it is already: a signal has come in the middle of a hook,
    /// and what it wanted is done when the hook ends.
    #[inline]
    fn enter(&self) -> bool {
        self.ours.enter()
    }

    #[inline]
    fn leave(&self) {
        self.ours.leave(|| self.catch_up());
    }

    /// Whether [`Thread::pay`] would find nothing to do: no sample has come in, nothing is owed, nothing is left to tell.
    #[inline(always)]
    fn is_even(&self) -> bool {
        !self.waits() && self.sampling.is_drained() && self.ledger.get().is_balanced(global())
    }

    /// Pays what is owed before the thread blocks or wakes another.
    #[cold]
    #[inline(never)]
    fn pay(&self) {
        if self.enter() {
            self.catch_up_wholly();
            self.leave();
        }
    }

    /// Processes the samples that have come in, then settles.
    fn catch_up(&self) {
        // A call that was left by a jump has not said that it is over.
        self.wait_is_over();
        self.count_samples(None);
        self.settle();
    }

    /// As [`Thread::catch_up`], and for what the others have earned meanwhile.
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

    /// Whether it waits in a call that may be the target. Its own thread alone says so.
    #[inline(always)]
    fn waits(&self) -> bool {
        self.waiting.target.load(Ordering::Relaxed) != NONE
    }

    /// The thread does not wait any more; takes over what its wait has earned.
    fn wait_is_over(&self) {
        if !self.waits() {
            return;
        }
        self.waiting.target.store(NONE, Ordering::Release);
        let earned = self.waiting.earned_ns.swap(0, Ordering::AcqRel);
        if earned > 0 {
            self.hit(earned);
        }
    }

    fn count_samples(&self, at: Option<Registers>) {
        let hits = self.sampling.drain(self.stack(), at, self.inside());
        if hits > 0 {
            self.hit(hits);
        }
    }

    fn settle(&self) {
        let mut ledger = self.ledger.get();
        if !ledger.is_balanced(global()) {
            let pause = Pause::default();
            ledger.settle(global(), &pause);
            self.ledger.set(ledger);
            let took = pause.took_ns();
            if took > 0 {
                self.paused_ns.set(self.paused_ns.get() + took);
                self.sampling.forget_pause();
            }
        }
    }

    /// This thread's samples in the selected line have earned `delay` nanoseconds.
    pub fn hit(&self, delay: u64) {
        let mut ledger = self.ledger.get();
        if choice::is_placebo() {
            ledger.hit_placebo(delay);
        } else {
            ledger.hit(delay);
        }
        self.ledger.set(ledger);
    }

    /// Tells the thread from others.
    fn number(&self) -> u32 {
        (core::ptr::from_ref(self).addr() / size_of::<Thread>()) as u32
    }

    /// The function of libc that the thread is in, an index of [`fulcrum_wire::FUNCTIONS`].
    pub fn inside(&self) -> Option<u8> {
        self.inside.get().checked_sub(1)
    }

    /// The account that a child of this thread starts with.
    pub fn ledger(&self) -> Ledger {
        self.ledger.get()
    }
}

/// The time that threads wait in the target passes faster while they wait: others are delayed for it meanwhile, not at
/// once when the call ends. A thread that blocked in between would otherwise never pay. The profiler thread calls this
/// every other millisecond.
pub fn pass_blocked_time() {
    let Some((target, force)) = choice::blocked_target() else {
        return;
    };
    let now = sys::now();
    for thread in all() {
        thread.pass_blocked_time(target, force, now);
    }
}

/// Handles a sampling signal that interrupted the calling thread `at` these registers, if it was a handler that got it;
/// `extra` adds what a timer's tick has earned.
pub fn on_signal(thread: &Thread, at: Option<Registers>, extra: impl FnOnce() -> u64) {
    thread
        .samples_taken
        .set(thread.samples_taken.get().wrapping_add(1));
    if thread.enter() {
        let hits = extra();
        if hits > 0 {
            thread.hit(hits);
        }
        thread.count_samples(at);
        thread.settle();
        thread.leave();
    }
}

/// The calling thread is about to wait in a call, made below these registers, that no other thread will end.
pub fn block_begins(at: Registers) {
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

/// After a call that blocked the calling thread for `blocked_ns`, made below these registers: its time is sped up when
/// it is the target.
pub fn after_block(call: u32, blocked_ns: u64, at: Registers, watched: bool) {
    if let Some(thread) = active()
        && thread.enter()
    {
        thread.wait_is_over();
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
        // What the profiler thread has not accounted for yet, of the time that the speedup was in force.
        let left = if watched {
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

/// What a thread had behind it when it went into a function of libc.
pub struct Entry {
    time_ns: u64,
    paused_ns: u64,
    credits_ns: u64,
    lock: usize,
}

/// The calling thread goes into a function of libc, an index of [`fulcrum_wire::FUNCTIONS`], to wait for the `lock` at this address or
/// not, 0. `None` where nobody asks for it.
#[inline]
pub fn goes_into(function: u8, lock: usize) -> Option<Entry> {
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

/// The target in which the calling thread is below these registers.
fn target_at(thread: &Thread, at: Registers) -> Option<u32> {
    let mut chain = [0; walk::DEEPEST_WALK];
    let depth = walk::walk(thread.stack(), at, &mut chain);
    let frames = attribute::frames(chain[..depth].iter().copied());
    let found = control::map().targets.of(frames);
    found.targets().first().copied()
}

/// The calling thread gives the lock at this address back, below these registers.
#[inline]
pub fn gives_back(lock: usize, at: Registers) {
    if let Some(thread) = active()
        && let Some(waiter) = holders::answer(lock, thread.number())
        && thread.enter()
    {
        if let Some(holder) = target_at(thread, at) {
            control::map().calls.gives_back(holder, waiter);
        }
        thread.leave();
    }
}

/// The calling thread comes out of it, below these registers. Samples until now were taken in it. Of the time that passed,
/// its own pauses are none of the function's, nor are the pauses of whoever kept it waiting.
pub fn comes_out(entry: &Entry, function: u8, at: Registers) {
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
        && control::tells_calls()
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

/// Before anything that may block this thread or wake another (COZ §3.4.1): pay what is owed. Whether the calling thread is
/// profiled at the moment.
///
/// Programs that lock millions of times a second nearly always owe nothing: that is found out here, by reading alone.
#[inline(always)]
pub fn before() -> bool {
    let Some(thread) = active() else {
        return false;
    };
    if !thread.is_even() {
        thread.pay();
    }
    true
}

/// How many sampling signals the calling thread has handled, modulo 2³².
pub fn samples_taken() -> u32 {
    active().map_or(0, |thread| thread.samples_taken.get())
}

/// After a call in which another thread may have woken this one.
#[inline]
pub fn after_wake() {
    if let Some(thread) = active()
        && thread.enter()
    {
        thread.count_samples(None);
        let mut ledger = thread.ledger.get();
        ledger.credit(global());
        thread.ledger.set(ledger);
        thread.leave();
    }
}

/// The calling thread, if it is profiled and the runtime is active.
#[inline(always)]
pub fn active() -> Option<&'static Thread> {
    if activity::is_active() {
        current()
    } else {
        None
    }
}
