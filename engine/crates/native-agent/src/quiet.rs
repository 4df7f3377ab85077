//! Locks, and doing something that no handler of a signal interrupts.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// A lock that a forked child can free.
pub struct Lock(AtomicU32);

impl Lock {
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
        while self
            .0
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            // SAFETY: it takes nothing.
            unsafe { libc::sched_yield() };
        }
    }

    /// Takes it if nobody has it.
    pub fn try_take(&self) -> bool {
        let free = self
            .0
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
        free.is_ok()
    }

    /// Whoever had it has it no more.
    pub fn free(&self) {
        self.0.store(0, Ordering::Release);
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
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached with the lock held alone.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub const fn new(value: T) -> Shared<T> {
        Shared {
            lock: Lock::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// The lock: for what happens around a fork.
    pub fn raw(&self) -> &Lock {
        &self.lock
    }

    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.lock.try_take().then(|| Guard {
            _lock: Locked(&self.lock),
            value: &self.value,
        })
    }

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

/// Does something while signals wait; the thread's `errno` stays as it is, and no panic leaves it.
pub fn quietly<T: Default>(what: impl FnOnce() -> T) -> T {
    // SAFETY: the sets are ours and outlive the calls; the calling thread's `errno`.
    unsafe {
        let errno = *libc::__errno_location();
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let result = fulcrum_agent_core::say::guarded(what);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        *libc::__errno_location() = errno;
        result
    }
}
