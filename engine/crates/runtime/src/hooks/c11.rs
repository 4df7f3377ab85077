//! C11 threads: glibc defines them as symbols of their own, which do not call the `pthread` ones.

use core::ffi::{c_int, c_void};

use fulcrum_preload::real;
use fulcrum_runtime_core::ledger::Ledger;
use libc::timespec;

use crate::experiment::section;
use crate::hooks::blocked::{self, Call};
use crate::process::thread::{self, Routine};

/// Opaque, as `mtx_t` and `cnd_t` are.
type Opaque = *mut c_void;
type Start = unsafe extern "C" fn(*mut c_void) -> c_int;

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;

/// `thrd_create`: as `pthread_create`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn thrd_create(
    id: Opaque,
    routine: Start,
    argument: *mut c_void,
) -> c_int {
    let real = real!(thrd_create: fn(Opaque, Start, *mut c_void) -> c_int);
    thread::before();
    // SAFETY: an `int` result lies in the low half of the register that a pointer is returned in, and `thread::start`
    // passes that register on.
    unsafe {
        let as_routine: Routine = core::mem::transmute::<Start, Routine>(routine);
        let start = core::mem::transmute::<Routine, Start>(thread::start);
        let slot = thread::active().and_then(|parent| {
            thread::allocate(
                Ledger::inherit(&parent.ledger()),
                Some(as_routine),
                argument,
                crate::hooks::pthread::stack_size(core::ptr::null()),
            )
        });
        let Some(slot) = slot else {
            return real(id, routine, argument);
        };
        let result = real(id, start, core::ptr::from_ref(slot).cast_mut().cast());
        if result != SUCCESS {
            thread::release(slot);
        }
        result
    }
}

macro_rules! waits {
    ($name:ident($($argument:ident: $type:ty),*), $call:ident) => {
        /// As libc's; settles before and credits after.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            thread::before();
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name: fn($($type),*) -> c_int)($($argument),*) };
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || {
                blocked::wait(Call::$call, real, |result| *result == SUCCESS)
            })
        }
    };
}

macro_rules! locks {
    ($name:ident($($argument:ident: $type:ty),*)) => {
        /// As libc's; settles before, credits after it has blocked.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(mutex: Opaque $(, $argument: $type)*) -> c_int {
            if thread::before() {
                // SAFETY: the program's own mutex.
                let result = unsafe { real!(mtx_trylock: fn(Opaque) -> c_int)(mutex) };
                if result != BUSY {
                    return section::locked(mutex.addr(), result);
                }
                thread::before();
            }
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name: fn(Opaque $(, $type)*) -> c_int)(mutex $(, $argument)*) };
            let result = blocked::inside_for(const { fulcrum_wire::function(stringify!($name)) }, mutex.addr(), || {
                blocked::wait(Call::Mutex, real, |result| *result == SUCCESS)
            });
            section::locked(mutex.addr(), result)
        }
    };
}

macro_rules! wakes {
    ($name:ident) => {
        /// As libc's; settles before.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(object: Opaque) -> c_int {
            thread::before();
            // SAFETY: passes the program's argument on.
            unsafe { real!($name: fn(Opaque) -> c_int)(object) }
        }
    };
}

waits!(thrd_join(id: libc::pthread_t, result: *mut c_int), Join);
waits!(cnd_wait(condition: Opaque, mutex: Opaque), Condition);
waits!(cnd_timedwait(condition: Opaque, mutex: Opaque, deadline: *const timespec), Condition);
locks!(mtx_lock());
locks!(mtx_timedlock(deadline: *const timespec));
wakes!(cnd_signal);
wakes!(cnd_broadcast);

/// As libc's; settles before.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn mtx_unlock(mutex: Opaque) -> c_int {
    thread::before();
    blocked::before_unlock(mutex.addr());
    // SAFETY: passes the program's argument on.
    let result = unsafe { real!(mtx_unlock: fn(Opaque) -> c_int)(mutex) };
    section::unlocked(mutex.addr(), result)
}

/// As libc's; settles before.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn mtx_trylock(mutex: Opaque) -> c_int {
    thread::before();
    // SAFETY: passes the program's argument on.
    let result = unsafe { real!(mtx_trylock: fn(Opaque) -> c_int)(mutex) };
    section::locked(mutex.addr(), result)
}
