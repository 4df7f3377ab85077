//! Locks (Whodunit §6): who waited, for how long, and who held the lock. Taking a free lock writes no record.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use fulcrum_critical_sections::Captured;
use fulcrum_preload::{real, sys};
use fulcrum_wire::transactions::{LockKind, Record};
use libc::{clockid_t, timespec};

use super::{glibc, sections};
use crate::hooks::frame::{Called, Frame, defines, hooks};
use crate::threads::thread;

/// A lock of the program, as libc sees it.
type Lock = *mut c_void;

/// libc's functions that the fast paths of hooks call: in pauses, and while sections are watched.
static LOCK: AtomicUsize = AtomicUsize::new(0);
static TRYLOCK: AtomicUsize = AtomicUsize::new(0);
static UNLOCK: AtomicUsize = AtomicUsize::new(0);

/// Finds libc's functions. Call this before there can be pauses, and before sections are watched.
pub(crate) fn prepare() {
    let lock = real!(pthread_mutex_lock: fn(Lock) -> c_int);
    let attempt = real!(pthread_mutex_trylock: fn(Lock) -> c_int);
    let unlock = real!(pthread_mutex_unlock: fn(Lock) -> c_int);
    LOCK.store(lock as usize, Ordering::Release);
    TRYLOCK.store(attempt as usize, Ordering::Release);
    UNLOCK.store(unlock as usize, Ordering::Release);
}

/// Records a finished wait for a lock that `holder` held when the wait began.
pub(crate) fn waited(
    (lock, kind): (u64, LockKind),
    began_ns: u64,
    holder: u32,
    timed_out: bool,
    frame: &impl Called,
) {
    if let Some(inside) = thread::enter() {
        let path = inside.path(frame);
        if kind == LockKind::Condition && inside.thread().lock_wait.includes(lock, path, timed_out)
        {
            return;
        }
        let record = Record::Wait {
            lock,
            kind,
            began_ns,
            holder,
            timed_out,
        };
        inside.write_at(sys::now(), path, &record);
    }
}

/// Records that a lock was released, or a condition signalled, at this time.
pub(crate) fn released((lock, kind): (u64, LockKind), time_ns: u64, frame: &impl Called) {
    if let Some(inside) = thread::enter() {
        inside.write_at(time_ns, inside.path(frame), &Record::Release { lock, kind });
        if kind == LockKind::Condition {
            inside.thread().lock_wait.signals(lock);
        }
    }
}

/// Runs a call that takes a lock. Tries first, and waits only if the lock is taken.
#[inline]
fn taking(
    (lock, kind): (Lock, LockKind),
    holder: unsafe fn(*const c_void) -> u32,
    frame: &impl Called,
    attempt: impl FnOnce() -> c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if !thread::is_recorded() {
        return real();
    }
    let result = attempt();
    if result != libc::EBUSY {
        return result;
    }
    contended((lock, kind), holder, frame, real)
}

/// A separate function, so that a free lock costs little.
#[cold]
#[inline(never)]
fn contended(
    (lock, kind): (Lock, LockKind),
    holder: unsafe fn(*const c_void) -> u32,
    frame: &impl Called,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the program's own lock, which it is about to wait for.
    let holder = unsafe { holder(lock) };
    let began_ns = sys::now();
    let result = real();
    if [0, libc::EOWNERDEAD, libc::ETIMEDOUT].contains(&result) {
        let timed_out = result == libc::ETIMEDOUT;
        waited(
            (lock.addr() as u64, kind),
            began_ns,
            holder,
            timed_out,
            frame,
        );
    }
    result
}

/// The kernel's number of the calling thread.
fn own() -> u32 {
    thread::current().map_or_else(|| sys::thread_id() as u32, thread::Thread::id)
}

/// Runs a call that releases a lock. Checks for waiters first, because the lock may no longer exist afterwards.
#[inline]
fn giving(
    (lock, kind): (Lock, LockKind),
    passes_on: unsafe fn(*const c_void, fn() -> u32) -> bool,
    frame: &impl Called,
    real: impl FnOnce() -> c_int,
) -> c_int {
    sections::giving_back(lock.addr() as u64);
    // SAFETY: the program's own lock, which it holds.
    if !thread::is_recorded() || !unsafe { passes_on(lock, own) } {
        return real();
    }
    passing_on((lock, kind), frame, real)
}

/// A separate function, like [`contended`].
#[cold]
#[inline(never)]
fn passing_on(
    (lock, kind): (Lock, LockKind),
    frame: &impl Called,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let time = sys::now();
    let result = real();
    if result == 0 {
        released((lock.addr() as u64, kind), time, frame);
    }
    result
}

/// Defines functions that take a lock for reading, which several threads may hold at a time.
macro_rules! takes {
    ($name:ident($($argument:ident: $type:ty),*), $try:ident, $kind:ident, $holder:ident) => {
        defines!($name(lock: Lock $(, $argument: $type)*) -> c_int, frame, |next| {
            // SAFETY: passes on the program's lock.
            let attempt = || unsafe { real!($try: fn(Lock) -> c_int)(lock) };
            // SAFETY: passes on the program's arguments.
            taking((lock, LockKind::$kind), glibc::$holder, frame, attempt, || unsafe { next(lock $(, $argument)*) })
        });
    };
}

/// Defines functions that take a mutex, or a lock for writing. They begin a critical section.
macro_rules! takes_alone {
    ($name:ident($($argument:ident: $type:ty),*), $try:ident, $kind:ident, $holder:ident) => {
        defines!($name(lock: Lock $(, $argument: $type)*) -> c_int, captured: Captured, |next| {
            // SAFETY: passes on the program's lock.
            let attempt = || unsafe { real!($try: fn(Lock) -> c_int)(lock) };
            // SAFETY: passes on the program's arguments.
            let result = taking((lock, LockKind::$kind), glibc::$holder, captured, attempt, || unsafe { next(lock $(, $argument)*) });
            // SAFETY: our own hook has captured the registers, and nothing here needs to be dropped.
            unsafe { begin_section(captured, lock, result) }
        });
    };
}

/// Begins a critical section if a call with this result has taken its lock. Returns the result, unless the section is
/// watched.
///
/// # Safety
/// As for [`sections::taken`].
#[inline]
unsafe fn begin_section(captured: &Captured, lock: Lock, result: c_int) -> c_int {
    if result == 0 || result == libc::EOWNERDEAD {
        // SAFETY: this function has the same contract.
        unsafe { sections::taken(captured, lock.addr() as u64, result) };
    }
    result
}

takes_alone!(
    pthread_mutex_lock(),
    pthread_mutex_trylock,
    Mutex,
    mutex_owner
);
takes_alone!(pthread_mutex_timedlock(deadline: *const timespec), pthread_mutex_trylock, Mutex, mutex_owner);
takes_alone!(pthread_mutex_clocklock(clock: clockid_t, deadline: *const timespec), pthread_mutex_trylock, Mutex, mutex_owner);

/// Defines functions that take a lock if it is free.
macro_rules! tries {
    ($name:ident) => {
        defines!($name(lock: Lock) -> c_int, captured: Captured, |next| {
            // SAFETY: passes on the program's lock; our own hook has captured the registers.
            unsafe { begin_section(captured, lock, next(lock)) }
        });
    };
}

tries!(pthread_mutex_trylock);
tries!(pthread_rwlock_trywrlock);
takes!(
    pthread_rwlock_rdlock(),
    pthread_rwlock_tryrdlock,
    ReadWrite,
    rwlock_writer
);
takes_alone!(
    pthread_rwlock_wrlock(),
    pthread_rwlock_trywrlock,
    ReadWrite,
    rwlock_writer
);
takes!(pthread_rwlock_timedrdlock(deadline: *const timespec), pthread_rwlock_tryrdlock, ReadWrite, rwlock_writer);
takes_alone!(pthread_rwlock_timedwrlock(deadline: *const timespec), pthread_rwlock_trywrlock, ReadWrite, rwlock_writer);
takes!(pthread_rwlock_clockrdlock(clock: clockid_t, deadline: *const timespec), pthread_rwlock_tryrdlock, ReadWrite, rwlock_writer);
takes_alone!(pthread_rwlock_clockwrlock(clock: clockid_t, deadline: *const timespec), pthread_rwlock_trywrlock, ReadWrite, rwlock_writer);

defines!(pthread_mutex_unlock(lock: Lock) -> c_int, frame, |next| {
    // SAFETY: passes on the program's argument.
    giving((lock, LockKind::Mutex), glibc::mutex_passes_on, frame, || unsafe { next(lock) })
});
defines!(pthread_rwlock_unlock(lock: Lock) -> c_int, frame, |next| {
    // SAFETY: passes on the program's argument.
    giving((lock, LockKind::ReadWrite), glibc::rwlock_passes_on, frame, || unsafe { next(lock) })
});

/// Runs a call that waits for a condition, which releases the mutex meanwhile and then takes it again. `timed_out` is the
/// call's result on a timeout.
///
/// # Safety
/// As for [`sections::taken`].
unsafe fn awaiting(
    (condition, mutex): (Lock, Lock),
    timed_out: c_int,
    captured: &Captured,
    real: impl FnOnce() -> c_int,
) -> c_int {
    sections::giving_back(mutex.addr() as u64);
    if !thread::is_recorded() {
        let result = real();
        if result == 0 || result == timed_out {
            thread::catches_up();
            // The next window may have opened.
            // SAFETY: this function has the same contract.
            unsafe { sections::taken(captured, mutex.addr() as u64, result) };
        }
        return result;
    }
    let began_ns = sys::now();
    // SAFETY: the program's own mutex, which it holds.
    if unsafe { glibc::mutex_passes_on(mutex, own) } {
        released((mutex.addr() as u64, LockKind::Mutex), began_ns, captured);
    }
    let result = real();
    if result == 0 || result == timed_out {
        let condition = (condition.addr() as u64, LockKind::Condition);
        waited(condition, began_ns, 0, result == timed_out, captured);
        // SAFETY: this function has the same contract.
        unsafe { sections::taken(captured, mutex.addr() as u64, result) };
    }
    result
}

/// Runs a call that signals a condition.
fn signalling(condition: Lock, frame: &Frame, real: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the program's own condition.
    if !thread::is_recorded() || !unsafe { glibc::condition_is_awaited(condition) } {
        return real();
    }
    let time = sys::now();
    let result = real();
    released((condition.addr() as u64, LockKind::Condition), time, frame);
    result
}

/// Defines functions that wait for a condition.
macro_rules! awaits {
    ($function:ident, $name:ident $(@ $version:literal)? ($($argument:ident: $type:ty),*), $timed_out:expr) => {
        unsafe extern "C-unwind" fn $function(condition: Lock, mutex: Lock $(, $argument: $type)*, captured: &Captured) -> c_int {
            let next = real!($name $(@ $version)?: fn(Lock, Lock $(, $type)*) -> c_int);
            // SAFETY: passes on the program's arguments; our own hook has captured the registers.
            unsafe { awaiting((condition, mutex), $timed_out, captured, || next(condition, mutex $(, $argument)*)) }
        }
    };
}

/// Defines functions that signal a condition.
macro_rules! signals {
    ($function:ident, $name:ident $(@ $version:literal)?) => {
        unsafe extern "C-unwind" fn $function(condition: Lock, frame: &Frame) -> c_int {
            let next = real!($name $(@ $version)?: fn(Lock) -> c_int);
            // SAFETY: passes on the program's argument.
            signalling(condition, frame, || unsafe { next(condition) })
        }
    };
}

awaits!(pthread_cond_wait, pthread_cond_wait @ "GLIBC_2.3.2" (), libc::ETIMEDOUT);
awaits!(pthread_cond_timedwait, pthread_cond_timedwait @ "GLIBC_2.3.2" (deadline: *const timespec), libc::ETIMEDOUT);
awaits!(pthread_cond_clockwait, pthread_cond_clockwait(clock: clockid_t, deadline: *const timespec), libc::ETIMEDOUT);
signals!(pthread_cond_signal, pthread_cond_signal @ "GLIBC_2.3.2");
signals!(pthread_cond_broadcast, pthread_cond_broadcast @ "GLIBC_2.3.2");

/// Runs a call that decrements a semaphore. Such calls report errors in `errno`.
fn drawing(semaphore: Lock, frame: &Frame, real: impl FnOnce() -> c_int) -> c_int {
    if !thread::is_recorded() {
        return real();
    }
    let errno = sys::KeepErrno::new();
    // SAFETY: the program's own semaphore.
    if unsafe { real!(sem_trywait: fn(Lock) -> c_int)(semaphore) } == 0 {
        return 0;
    }
    drop(errno);
    let began_ns = sys::now();
    let result = real();
    // SAFETY: reads the calling thread's errno, which the call has set.
    let timed_out = result < 0 && unsafe { *libc::__errno_location() } == libc::ETIMEDOUT;
    if result == 0 || timed_out {
        let semaphore = (semaphore.addr() as u64, LockKind::Semaphore);
        waited(semaphore, began_ns, 0, timed_out, frame);
    }
    result
}

defines!(sem_wait(semaphore: Lock) -> c_int, frame, |next| {
    // SAFETY: passes on the program's argument.
    drawing(semaphore, frame, || unsafe { next(semaphore) })
});
defines!(sem_timedwait(semaphore: Lock, deadline: *const timespec) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments.
    drawing(semaphore, frame, || unsafe { next(semaphore, deadline) })
});
defines!(sem_clockwait(semaphore: Lock, clock: clockid_t, deadline: *const timespec) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments.
    drawing(semaphore, frame, || unsafe { next(semaphore, clock, deadline) })
});
defines!(sem_post(semaphore: Lock) -> c_int, frame, |next| {
    // SAFETY: the program's own semaphore, passed on.
    unsafe {
        let awaited = thread::is_recorded() && glibc::semaphore_is_awaited(semaphore);
        let time = sys::now();
        let result = next(semaphore);
        if awaited && result == 0 {
            released((semaphore.addr() as u64, LockKind::Semaphore), time, frame);
        }
        result
    }
});

/// C11's locks are those of `pthread`, under their own symbols and with their own results.
const BUSY: c_int = 1;
const TIMED_OUT: c_int = 4;

/// Runs a call that takes a C11 mutex.
fn taking_c11(lock: Lock, frame: &Captured, real: impl FnOnce() -> c_int) -> c_int {
    if !thread::is_recorded() {
        return real();
    }
    // SAFETY: the program's own mutex.
    let result = unsafe { real!(mtx_trylock: fn(Lock) -> c_int)(lock) };
    if result != BUSY {
        return result;
    }
    // SAFETY: the program's own mutex.
    let holder = unsafe { glibc::mutex_owner(lock) };
    let began_ns = sys::now();
    let result = real();
    if result == 0 || result == TIMED_OUT {
        let lock = (lock.addr() as u64, LockKind::Mutex);
        waited(lock, began_ns, holder, result == TIMED_OUT, frame);
    }
    result
}

defines!(mtx_lock(lock: Lock) -> c_int, captured: Captured, |next| {
    // SAFETY: passes on the program's argument; our own hook has captured the registers.
    unsafe { begin_section(captured, lock, taking_c11(lock, captured, || next(lock))) }
});
defines!(mtx_timedlock(lock: Lock, deadline: *const timespec) -> c_int, captured: Captured, |next| {
    // SAFETY: passes on the program's arguments; our own hook has captured the registers.
    unsafe { begin_section(captured, lock, taking_c11(lock, captured, || next(lock, deadline))) }
});
tries!(mtx_trylock);
defines!(mtx_unlock(lock: Lock) -> c_int, frame, |next| {
    // SAFETY: passes on the program's argument.
    giving((lock, LockKind::Mutex), glibc::mutex_passes_on, frame, || unsafe { next(lock) })
});
awaits!(cnd_wait, cnd_wait(), TIMED_OUT);
awaits!(cnd_timedwait, cnd_timedwait(deadline: *const timespec), TIMED_OUT);
signals!(cnd_signal, cnd_signal);
signals!(cnd_broadcast, cnd_broadcast);

/// Those of the hooks that begin with [`sections::giving_back`], and those that signal a condition: what the section has done so far
/// may be reported later.
pub(crate) fn reported_later() -> [u64; 13] {
    let all = [
        exported::pthread_mutex_unlock as *const (),
        exported::__pthread_mutex_unlock as *const (),
        exported::pthread_rwlock_unlock as *const (),
        exported::mtx_unlock as *const (),
        exported::pthread_cond_wait as *const (),
        exported::pthread_cond_timedwait as *const (),
        exported::pthread_cond_clockwait as *const (),
        exported::cnd_wait as *const (),
        exported::cnd_timedwait as *const (),
        exported::pthread_cond_signal as *const (),
        exported::pthread_cond_broadcast as *const (),
        exported::cnd_signal as *const (),
        exported::cnd_broadcast as *const (),
    ];
    all.map(|it| it.addr() as u64)
}

hooks! {
    pthread_mutex_lock => pthread_mutex_lock, lock TRYLOCK LOCK;
    __pthread_mutex_lock => pthread_mutex_lock, lock TRYLOCK LOCK;
    pthread_mutex_trylock => pthread_mutex_trylock, all "rsi";
    __pthread_mutex_trylock => pthread_mutex_trylock, all "rsi";
    pthread_mutex_timedlock => pthread_mutex_timedlock, all "rdx";
    pthread_mutex_clocklock => pthread_mutex_clocklock, all "rcx";
    pthread_mutex_unlock => pthread_mutex_unlock, unlock UNLOCK;
    __pthread_mutex_unlock => pthread_mutex_unlock, unlock UNLOCK;
    pthread_rwlock_rdlock => pthread_rwlock_rdlock, "rsi";
    pthread_rwlock_wrlock => pthread_rwlock_wrlock, all "rsi";
    pthread_rwlock_trywrlock => pthread_rwlock_trywrlock, all "rsi";
    pthread_rwlock_timedrdlock => pthread_rwlock_timedrdlock, "rdx";
    pthread_rwlock_timedwrlock => pthread_rwlock_timedwrlock, all "rdx";
    pthread_rwlock_clockrdlock => pthread_rwlock_clockrdlock, "rcx";
    pthread_rwlock_clockwrlock => pthread_rwlock_clockwrlock, all "rcx";
    pthread_rwlock_unlock => pthread_rwlock_unlock, "rsi";
    pthread_cond_wait => pthread_cond_wait, all "rdx";
    pthread_cond_timedwait => pthread_cond_timedwait, all "rcx";
    pthread_cond_clockwait => pthread_cond_clockwait, all "r8";
    pthread_cond_signal => pthread_cond_signal, "rsi";
    pthread_cond_broadcast => pthread_cond_broadcast, "rsi";
    sem_wait => sem_wait, "rsi";
    sem_timedwait => sem_timedwait, "rdx";
    sem_clockwait => sem_clockwait, "rcx";
    sem_post => sem_post, "rsi";
    mtx_lock => mtx_lock, all "rsi";
    mtx_trylock => mtx_trylock, all "rsi";
    mtx_timedlock => mtx_timedlock, all "rdx";
    mtx_unlock => mtx_unlock, "rsi";
    cnd_wait => cnd_wait, all "rdx";
    cnd_timedwait => cnd_timedwait, all "rcx";
    cnd_signal => cnd_signal, "rsi";
    cnd_broadcast => cnd_broadcast, "rsi";
}
