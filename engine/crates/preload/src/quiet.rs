//! Sections of our own code in the program's threads: no handler of signals comes in between, or it finds that it does; and
//! locks for what all threads share.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

use crate::sys;

/// Every signal, libc's own too, but those that an instruction raises: blocked, they would kill.
pub const ALL_BUT_FAULTS: u64 = !(1 << (libc::SIGSEGV - 1)
    | 1 << (libc::SIGBUS - 1)
    | 1 << (libc::SIGFPE - 1)
    | 1 << (libc::SIGILL - 1)
    | 1 << (libc::SIGTRAP - 1));

/// Does something without any signal coming in between: a handler that leaves by a jump would leave our books open. `what`
/// must not panic.
pub fn uninterrupted<T>(what: impl FnOnce() -> T) -> T {
    let (all, mut before) = (ALL_BUT_FAULTS, 0_u64);
    let set = |set: *const u64, before: *mut u64| {
        let args = [
            libc::SIG_SETMASK as usize,
            set.addr(),
            before.addr(),
            size_of::<u64>(),
            0,
            0,
        ];
        // SAFETY: the kernel reads and writes 8 bytes of each set.
        unsafe { sys::call(libc::SYS_rt_sigprocmask, args) };
    };
    set(&raw const all, &raw mut before);
    let result = what();
    set(&raw const before, null_mut());
    result
}

/// Whether a thread is in our own code, for that thread and the handlers of signals that interrupt it: no other thread looks,
/// but nothing may be reordered either.
pub struct Section {
    inside: AtomicBool,
    wanted: AtomicBool,
}

impl Section {
    /// The thread is outside.
    pub const fn new() -> Section {
        Section {
            inside: AtomicBool::new(false),
            wanted: AtomicBool::new(false),
        }
    }

    /// The thread is outside, whatever was before.
    pub fn reset(&self) {
        self.inside.store(false, Ordering::Relaxed);
        self.wanted.store(false, Ordering::Relaxed);
    }

    /// The thread is inside from now on; `false` when it is already: a signal has come in the middle, and what it wanted is done
    /// by [`Self::leave`].
    #[inline]
    pub fn enter(&self) -> bool {
        if self.inside.load(Ordering::Relaxed) {
            self.wanted.store(true, Ordering::Relaxed);
            return false;
        }
        self.inside.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        true
    }

    /// The thread is outside from now on, after what handlers wanted meanwhile.
    #[inline]
    pub fn leave(&self, wanted: impl Fn()) {
        loop {
            compiler_fence(Ordering::SeqCst);
            self.inside.store(false, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            if !self.wanted.load(Ordering::Relaxed) || !self.enter() {
                return;
            }
            self.wanted.store(false, Ordering::Relaxed);
            wanted();
        }
    }
}

impl Default for Section {
    fn default() -> Self {
        Section::new()
    }
}

/// A lock that a forked child can free.
pub struct Lock(AtomicU32);

impl Lock {
    /// Nobody has it.
    pub const fn new() -> Lock {
        Lock(AtomicU32::new(0))
    }

    /// Waits for it.
    pub fn lock(&self) -> Locked<'_> {
        self.take();
        Locked(self)
    }

    /// As [`Self::lock`]; whoever takes it frees it.
    pub fn take(&self) {
        while !self.try_take() {
            sys::yield_now();
        }
    }

    /// Takes it if nobody has it.
    #[inline]
    pub fn try_take(&self) -> bool {
        let free = self
            .0
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
        free.is_ok()
    }

    /// Whoever had it has it no more.
    #[inline]
    pub fn free(&self) {
        self.0.store(0, Ordering::Release);
    }
}

impl Default for Lock {
    fn default() -> Self {
        Lock::new()
    }
}

/// The lock is held as long as this lives.
pub struct Locked<'a>(&'a Lock);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.free();
    }
}

/// Something that one thread at a time uses.
pub struct Shared<T> {
    lock: Lock,
    /// Somebody has waited for it in vain.
    is_left: AtomicBool,
    value: UnsafeCell<T>,
}

/// How often a thread yields to whoever has a lock, before it sleeps between two attempts.
const YIELDS: u32 = 100;
/// How long it sleeps, nanoseconds.
const NAP_NS: u64 = 50_000;
/// How long a thread waits at most for what may have been left, nanoseconds: on a busy machine, whoever has it may wait long
/// for a processor.
const LONGEST_NS: u64 = 1_000_000_000;

// SAFETY: the value is reached with the lock held alone.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Nobody has it.
    pub const fn new(value: T) -> Shared<T> {
        Shared {
            lock: Lock::new(),
            is_left: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// The lock: for what happens around a fork.
    pub fn raw(&self) -> &Lock {
        &self.lock
    }

    /// The value, if nobody has it.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.lock.try_take().then(|| Guard {
            _lock: Locked(&self.lock),
            value: &self.value,
        })
    }

    /// Waits for the value, which a jump out of a handler of signals may have left locked for good. `None` after a second, and
    /// from then on at once, until somebody frees it after all.
    #[inline]
    pub fn lock_unless_left(&self) -> Option<Guard<'_, T>> {
        match self.try_lock() {
            Some(guard) => Some(self.found(guard)),
            None => self.wait_unless_left(),
        }
    }

    /// Nobody has left it.
    #[inline]
    fn found<'a>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
        if self.is_left.load(Ordering::Relaxed) {
            self.is_left.store(false, Ordering::Relaxed);
        }
        guard
    }

    /// Apart, so that a value that nobody has is got without a look at the clock.
    #[cold]
    fn wait_unless_left(&self) -> Option<Guard<'_, T>> {
        let begun = sys::now();
        for attempt in 0.. {
            if let Some(guard) = self.try_lock() {
                return Some(self.found(guard));
            }
            if self.is_left.load(Ordering::Relaxed) {
                return None;
            }
            if attempt < YIELDS {
                sys::yield_now();
                continue;
            }
            let now = sys::now();
            if now > begun + LONGEST_NS {
                self.is_left.store(true, Ordering::Relaxed);
                return None;
            }
            sys::sleep_until(now + NAP_NS);
        }
        None
    }

    /// Waits for the value.
    pub fn lock(&self) -> Guard<'_, T> {
        Guard {
            _lock: self.lock.lock(),
            value: &self.value,
        }
    }
}

/// The only way to a shared value.
pub struct Guard<'a, T> {
    _lock: Locked<'a>,
    value: &'a UnsafeCell<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { &mut *self.value.get() }
    }
}
