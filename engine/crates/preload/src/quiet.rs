//! Sections of our own code in the program's threads, which signal handlers do not interrupt or know that they do; and locks.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

use crate::sys;

/// Every signal, libc's own included, except those that instructions raise, which would kill the process if they were blocked.
pub const ALL_BUT_FAULTS: u64 = !(1 << (libc::SIGSEGV - 1)
    | 1 << (libc::SIGBUS - 1)
    | 1 << (libc::SIGFPE - 1)
    | 1 << (libc::SIGILL - 1)
    | 1 << (libc::SIGTRAP - 1));

/// Does something with signals blocked: a handler that jumps out would leave our data inconsistent. `what` must not panic.
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

/// Whether a thread is in our own code, for that thread and the signal handlers that interrupt it. No other thread reads this,
/// but the compiler must not reorder it.
pub struct Section {
    inside: AtomicBool,
    wanted: AtomicBool,
}

impl Section {
    /// A thread outside of our code.
    pub const fn new() -> Section {
        Section {
            inside: AtomicBool::new(false),
            wanted: AtomicBool::new(false),
        }
    }

    /// Puts the thread outside of our code, whatever was before.
    pub fn reset(&self) {
        self.inside.store(false, Ordering::Relaxed);
        self.wanted.store(false, Ordering::Relaxed);
    }

    /// The thread enters our code. `false` when it is inside already: a signal has interrupted it, and [`Self::leave`] does the
    /// handler's work.
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

    /// The thread leaves our code, after doing the work of handlers that found it inside.
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

/// A spin lock that a forked child can free.
pub struct Lock(AtomicU32);

impl Lock {
    /// A free lock.
    pub const fn new() -> Lock {
        Lock(AtomicU32::new(0))
    }

    /// Waits for the lock, and returns a guard.
    pub fn lock(&self) -> Locked<'_> {
        self.take();
        Locked(self)
    }

    /// Waits for the lock, without a guard: the caller frees it.
    pub fn take(&self) {
        while !self.try_take() {
            sys::yield_now();
        }
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_take(&self) -> bool {
        let free = self
            .0
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
        free.is_ok()
    }

    /// Frees the lock.
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

/// Holds a lock as long as it lives.
pub struct Locked<'a>(&'a Lock);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.free();
    }
}

/// A value that one thread at a time uses.
pub struct Shared<T> {
    lock: Lock,
    /// Whether a thread has waited for it in vain.
    is_left: AtomicBool,
    value: UnsafeCell<T>,
}

/// How often a thread yields to the holder of a lock, before it sleeps between attempts.
const YIELDS: u32 = 100;
/// How long it sleeps, nanoseconds.
const NAP_NS: u64 = 50_000;
/// How long a thread waits for a lock that may never be freed, nanoseconds. On a busy machine, the holder may wait long for a
/// processor.
const LONGEST_NS: u64 = 1_000_000_000;

// SAFETY: the value is only accessed while the lock is held.
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

    /// The lock, for use around a fork.
    ///
    /// # Safety
    /// The lock may only be freed by the thread that has taken it, or in a forked child without the thread that had it.
    pub unsafe fn raw(&self) -> &Lock {
        &self.lock
    }

    /// The value, if the lock is free.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.lock.try_take().then(|| Guard {
            _lock: Locked(&self.lock),
            value: &self.value,
        })
    }

    /// Waits for the value, which a jump out of a signal handler may have left locked for good. `None` after a second, and from
    /// then on at once, until somebody frees it after all.
    #[inline]
    pub fn lock_unless_left(&self) -> Option<Guard<'_, T>> {
        match self.try_lock() {
            Some(guard) => Some(self.found(guard)),
            None => self.wait_unless_left(),
        }
    }

    /// The lock was not left for good.
    #[inline]
    fn found<'a>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
        if self.is_left.load(Ordering::Relaxed) {
            self.is_left.store(false, Ordering::Relaxed);
        }
        guard
    }

    /// A function of its own, so that taking a free lock does not read the clock.
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

/// Access to a shared value.
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
