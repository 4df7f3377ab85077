//! The calls that can block a thread or wake one (COZ Tables 1 and 2).
//!
//! Before either, the thread pays what it owes. After a wait that another thread ended, it is credited. Calls that may be
//! cancelled or unwound hold nothing across the real call.

use core::ffi::{c_int, c_void};

use fulcrum_preload::{real, sys};
use fulcrum_runtime_core::ledger::Ledger;
use libc::{
    clockid_t, pthread_attr_t, pthread_barrier_t, pthread_cond_t, pthread_mutex_t,
    pthread_rwlock_t, pthread_t, sem_t, timespec,
};

use crate::experiment::section;
use crate::hooks::blocked::{self, Call};
use crate::process::thread::{self, Routine};
use crate::signals::handler::undisturbed;

/// The size of the stack that a new thread gets, bytes; 0 when unknown.
pub(crate) unsafe fn stack_size(attributes: *const pthread_attr_t) -> u64 {
    let mut size = 0;
    // SAFETY: reads the program's attributes, or fresh ones that are filled first.
    unsafe {
        if attributes.is_null() {
            let mut defaults: pthread_attr_t = core::mem::zeroed();
            if libc::pthread_attr_init(&mut defaults) == 0 {
                libc::pthread_attr_getstacksize(&defaults, &mut size);
                libc::pthread_attr_destroy(&mut defaults);
            }
        } else {
            libc::pthread_attr_getstacksize(attributes, &mut size);
        }
    }
    size as u64
}

/// `pthread_create(3)`: the new thread is sampled and inherits its parent's account.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_create(
    id: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let real = real!(pthread_create: fn(*mut pthread_t, *const pthread_attr_t, Routine, *mut c_void) -> c_int);
    thread::before();
    let slot = thread::active().and_then(|parent| {
        let ledger = Ledger::inherit(&parent.ledger());
        // SAFETY: the program's attributes, valid or null by the call's contract.
        let stack_size = unsafe { stack_size(attributes) };
        thread::allocate(ledger, Some(routine), argument, stack_size)
    });
    // SAFETY: passes the program's arguments on, its routine inside the slot.
    unsafe {
        let Some(slot) = slot else {
            return real(id, attributes, routine, argument);
        };
        let result = real(
            id,
            attributes,
            thread::start,
            core::ptr::from_ref(slot).cast_mut().cast(),
        );
        if result != 0 {
            thread::release(slot);
        }
        result
    }
}

/// Defines a hook for a call that may block. `credited` says from its result whether another thread ended the wait.
macro_rules! blocks {
    ($name:ident $(@ $version:literal)? ($($argument:ident: $type:ty),*), $call:ident, credited: $credited:expr) => {
        /// As libc's; settles before and credits after.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            thread::before();
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name $(@ $version)?: fn($($type),*) -> c_int)($($argument),*) };
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || {
                blocked::wait(Call::$call, real, |result| $credited(*result))
            })
        }
    };
}

/// Defines a hook for a lock. The thread pays before it takes the lock, even a free one: if it paid at the next unlock,
/// everybody who wants the lock would wait meanwhile.
macro_rules! locks {
    ($name:ident($($argument:ident: $type:ty),*), try: $try:ident($first:ty), $call:ident, credited: $credited:expr) => {
        /// As libc's; settles before, credits after it has blocked.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(lock: $first $(, $argument: $type)*) -> c_int {
            // A function of its own, so that taking a free lock needs none of its registers.
            #[cold]
            #[inline(never)]
            fn waits(lock: $first $(, $argument: $type)*) -> c_int {
                thread::before();
                // SAFETY: passes the program's arguments on.
                let real = || unsafe { real!($name: fn($first $(, $type)*) -> c_int)(lock $(, $argument)*) };
                let result = blocked::inside_for(const { fulcrum_wire::function(stringify!($name)) }, lock.addr(), || {
                    blocked::wait(Call::$call, real, |result| $credited(*result))
                });
                section::locked(lock.addr(), result)
            }
            if thread::before() {
                // SAFETY: the program's own lock.
                let result = unsafe { real!($try: fn($first) -> c_int)(lock) };
                if result != libc::EBUSY {
                    return section::locked(lock.addr(), result);
                }
            }
            waits(lock $(, $argument)*)
        }
    };
}

/// Defines a hook for a call that takes a lock without waiting for it.
macro_rules! tries {
    ($name:ident($type:ty)) => {
        /// As libc's; settles before.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(lock: $type) -> c_int {
            thread::before();
            // SAFETY: passes the program's argument on.
            let result = unsafe { real!($name: fn($type) -> c_int)(lock) };
            section::locked(lock.addr(), result)
        }
    };
}

/// Defines a hook for a call that may wake another thread.
macro_rules! wakes {
    ($name:ident $(@ $version:literal)? ($($argument:ident: $type:ty),*)) => {
        /// As libc's; settles before.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            thread::before();
            // SAFETY: passes the program's arguments on.
            unsafe { real!($name $(@ $version)?: fn($($type),*) -> c_int)($($argument),*) }
        }
    };
}

/// Defines a hook for a call that releases a lock.
macro_rules! unlocks {
    ($name:ident($type:ty)) => {
        /// As libc's; settles before.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(lock: $type) -> c_int {
            thread::before();
            blocked::before_unlock(lock.addr());
            // SAFETY: passes the program's argument on.
            let result = unsafe { real!($name: fn($type) -> c_int)(lock) };
            section::unlocked(lock.addr(), result)
        }
    };
}

const fn is_taken(result: c_int) -> bool {
    result == 0 || result == libc::EOWNERDEAD
}

const fn is_done(result: c_int) -> bool {
    result == 0
}

const fn is_passed(result: c_int) -> bool {
    result == 0 || result == libc::PTHREAD_BARRIER_SERIAL_THREAD
}

locks!(pthread_mutex_lock(), try: pthread_mutex_trylock(*mut pthread_mutex_t), Mutex, credited: is_taken);
locks!(pthread_mutex_timedlock(deadline: *const timespec), try: pthread_mutex_trylock(*mut pthread_mutex_t), Mutex, credited: is_taken);
locks!(pthread_mutex_clocklock(clock: clockid_t, deadline: *const timespec), try: pthread_mutex_trylock(*mut pthread_mutex_t), Mutex, credited: is_taken);
locks!(pthread_rwlock_rdlock(), try: pthread_rwlock_tryrdlock(*mut pthread_rwlock_t), ReadWriteLock, credited: is_done);
locks!(pthread_rwlock_wrlock(), try: pthread_rwlock_trywrlock(*mut pthread_rwlock_t), ReadWriteLock, credited: is_done);
locks!(pthread_rwlock_timedrdlock(deadline: *const timespec), try: pthread_rwlock_tryrdlock(*mut pthread_rwlock_t), ReadWriteLock, credited: is_done);
locks!(pthread_rwlock_timedwrlock(deadline: *const timespec), try: pthread_rwlock_trywrlock(*mut pthread_rwlock_t), ReadWriteLock, credited: is_done);
locks!(pthread_rwlock_clockrdlock(clock: clockid_t, deadline: *const timespec), try: pthread_rwlock_tryrdlock(*mut pthread_rwlock_t), ReadWriteLock, credited: is_done);
locks!(pthread_rwlock_clockwrlock(clock: clockid_t, deadline: *const timespec), try: pthread_rwlock_trywrlock(*mut pthread_rwlock_t), ReadWriteLock, credited: is_done);

tries!(pthread_mutex_trylock(*mut pthread_mutex_t));
tries!(pthread_rwlock_tryrdlock(*mut pthread_rwlock_t));
tries!(pthread_rwlock_trywrlock(*mut pthread_rwlock_t));
unlocks!(pthread_mutex_unlock(*mut pthread_mutex_t));
unlocks!(pthread_rwlock_unlock(*mut pthread_rwlock_t));

blocks!(pthread_cond_wait @ "GLIBC_2.3.2" (condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t), Condition, credited: is_done);
blocks!(pthread_cond_timedwait @ "GLIBC_2.3.2" (condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, deadline: *const timespec), Condition, credited: is_done);
blocks!(pthread_cond_clockwait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, deadline: *const timespec), Condition, credited: is_done);
wakes!(pthread_cond_signal @ "GLIBC_2.3.2" (condition: *mut pthread_cond_t));
wakes!(pthread_cond_broadcast @ "GLIBC_2.3.2" (condition: *mut pthread_cond_t));

// The last thread to arrive does not block and has just settled: crediting it changes nothing.
blocks!(pthread_barrier_wait(barrier: *mut pthread_barrier_t), Barrier, credited: is_passed);

blocks!(pthread_join(id: pthread_t, result: *mut *mut c_void), Join, credited: is_done);
blocks!(pthread_timedjoin_np(id: pthread_t, result: *mut *mut c_void, deadline: *const timespec), Join, credited: is_done);
blocks!(pthread_clockjoin_np(id: pthread_t, result: *mut *mut c_void, clock: clockid_t, deadline: *const timespec), Join, credited: is_done);
blocks!(pthread_tryjoin_np(id: pthread_t, result: *mut *mut c_void), Join, credited: is_done);

wakes!(sem_post(semaphore: *mut sem_t));

/// Defines a hook for waiting on a semaphore. A free semaphore needs no settling. `sem_trywait` reports through `errno`.
macro_rules! semaphores {
    ($name:ident($($argument:ident: $type:ty),*)) => {
        /// As libc's; settles before it blocks, credits after.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(semaphore: *mut sem_t $(, $argument: $type)*) -> c_int {
            if thread::active().is_some() {
                let errno = sys::KeepErrno::new();
                // SAFETY: the program's own semaphore.
                if unsafe { real!(sem_trywait: fn(*mut sem_t) -> c_int)(semaphore) } == 0 {
                    return 0;
                }
                drop(errno);
                thread::before();
            }
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name: fn(*mut sem_t $(, $type)*) -> c_int)(semaphore $(, $argument)*) };
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || {
                undisturbed(|| blocked::wait(Call::Semaphore, real, |result| *result == 0))
            })
        }
    };
}

semaphores!(sem_wait());
semaphores!(sem_timedwait(deadline: *const timespec));
semaphores!(sem_clockwait(clock: clockid_t, deadline: *const timespec));
