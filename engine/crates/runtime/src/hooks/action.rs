//! The calls that would change the sampling signal's action or mask: the program sees what it asked for, and samples go on.

use core::ffi::c_int;
use core::ptr::{null, null_mut};

use fulcrum_preload::real;

use crate::process::{activity, thread};
use crate::signals::handler::install_handler;
use crate::signals::held;
use crate::signals::program_view::{Action, real_sigaction, sampling_signal, with_program_action};

/// `sigaction(2)`: for the sampling signal, remembers the program's action and keeps our handler installed.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    new: *const Action,
    old: *mut Action,
) -> c_int {
    if !activity::is_active() || signal != sampling_signal() {
        // SAFETY: passes the program's arguments on.
        return unsafe { real_sigaction()(signal, new, old) };
    }
    with_program_action(|action| {
        let before = *action;
        // SAFETY: the program's pointers, valid or null by sigaction's contract.
        unsafe {
            if let Some(new) = new.as_ref() {
                *action = *new;
                if new.sa_sigaction == libc::SIG_IGN {
                    held::discard();
                }
                install_handler(new, null_mut());
            }
            if !old.is_null() {
                *old = before;
            }
        }
    });
    0
}

/// `signal(2)`, likewise.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn signal(
    number: c_int,
    handler: libc::sighandler_t,
) -> libc::sighandler_t {
    if !activity::is_active() || number != sampling_signal() {
        // SAFETY: passes the program's arguments on.
        return unsafe {
            real!(signal: fn(c_int, libc::sighandler_t) -> libc::sighandler_t)(number, handler)
        };
    }
    with_program_action(|action| {
        let before = action.sa_sigaction;
        // SAFETY: zeroed is a valid sigaction.
        *action = unsafe { core::mem::zeroed() };
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        if handler == libc::SIG_IGN {
            held::discard();
        }
        // SAFETY: as above.
        unsafe { install_handler(action, null_mut()) };
        before
    })
}

/// `sigpending(2)`: never reports samples, but what is pending here.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sigpending(set: *mut libc::sigset_t) -> c_int {
    // SAFETY: passes the program's argument on.
    unsafe {
        let result = real!(sigpending: fn(*mut libc::sigset_t) -> c_int)(set);
        if result == 0
            && let Some(thread) = thread::active()
        {
            if held::is_pending(thread) {
                libc::sigaddset(set, sampling_signal());
            } else {
                libc::sigdelset(set, sampling_signal());
            }
        }
        result
    }
}

type SetMask =
    unsafe extern "C-unwind" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

/// Applies the program's mask except for the sampling signal, and reports the mask that the program believes to be set.
unsafe fn mask(
    real: SetMask,
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    let Some(thread) = thread::active() else {
        // SAFETY: passes the program's arguments on.
        return unsafe { real(how, set, old) };
    };
    // SAFETY: the program's pointers are valid or null; `set` is copied before it is changed.
    unsafe {
        let believed = thread.blocks_signal();
        let mut kept = null();
        let mut copy;
        if let Some(set) = set.as_ref() {
            copy = *set;
            let named = libc::sigismember(&copy, sampling_signal()) == 1;
            match how {
                libc::SIG_BLOCK if named => thread.set_blocks_signal(true),
                libc::SIG_UNBLOCK if named => thread.set_blocks_signal(false),
                libc::SIG_SETMASK => thread.set_blocks_signal(named),
                _ => {}
            }
            if how != libc::SIG_UNBLOCK {
                libc::sigdelset(&mut copy, sampling_signal());
            }
            kept = &raw const copy;
        }
        let result = real(how, kept, old);
        if result == 0 && !old.is_null() {
            if believed {
                libc::sigaddset(old, sampling_signal());
            } else {
                libc::sigdelset(old, sampling_signal());
            }
        }
        if believed && !thread.blocks_signal() {
            held::deliver();
        }
        result
    }
}

/// Defines a hook that never blocks the sampling signal, without the program noticing.
macro_rules! mask_hook {
    ($name:ident) => {
        /// As libc's; the sampling signal stays unblocked.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(
            how: c_int,
            set: *const libc::sigset_t,
            old: *mut libc::sigset_t,
        ) -> c_int {
            let real = real!($name: fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int);
            // SAFETY: passes the program's arguments on.
            unsafe { mask(real, how, set, old) }
        }
    };
}

mask_hook!(pthread_sigmask);
mask_hook!(sigprocmask);
