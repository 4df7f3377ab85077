//! The sampling signal, shared with a program that may use it too.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::{MaybeUninit, size_of};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::real::real;
use crate::{control, life, sampling, sys, thread};

type Action = libc::sigaction;
type SetAction = unsafe extern "C-unwind" fn(c_int, *const Action, *mut Action) -> c_int;

/// What the program believes to be installed for our signal.
struct Theirs(UnsafeCell<MaybeUninit<Action>>);
// SAFETY: guarded by `LOCK`; the handler reads a copy.
unsafe impl Sync for Theirs {}
static THEIRS: Theirs = Theirs(UnsafeCell::new(MaybeUninit::zeroed()));
static LOCK: AtomicBool = AtomicBool::new(false);

fn real_sigaction() -> SetAction {
    real!(sigaction: fn(c_int, *const Action, *mut Action) -> c_int)
}

fn ours() -> c_int {
    control::session().signal
}

fn with_theirs<T>(then: impl FnOnce(&mut Action) -> T) -> T {
    while LOCK.swap(true, Ordering::Acquire) {
        core::hint::spin_loop();
    }
    // SAFETY: the lock is held; zeroed memory is the default action.
    let result = then(unsafe { (*THEIRS.0.get()).assume_init_mut() });
    LOCK.store(false, Ordering::Release);
    result
}

/// Takes the signal over, remembering what was there.
pub fn install() -> Option<()> {
    // SAFETY: zeroed is a valid sigaction; the handler has the three-argument form that SA_SIGINFO asks for.
    unsafe {
        let mut action: Action = core::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        let mut before: Action = core::mem::zeroed();
        if real_sigaction()(ours(), &action, &mut before) != 0 {
            return None;
        }
        with_theirs(|theirs| *theirs = before);
        // A blocked signal would never sample: a parent may have left it so.
        let mut set: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, ours());
        real_mask(libc::SIG_UNBLOCK, &set, null_mut());
    }
    Some(())
}

unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let _errno = sys::KeepErrno::new();
    // SAFETY: the kernel passes a valid siginfo and context.
    unsafe {
        const FROM_TIMER: c_int = -2;
        let from_timer = (*info).si_code == FROM_TIMER
            && (*info).si_value().sival_ptr as usize == sampling::TIMER_MARK;
        let from_perf = (*info).si_code > 0 && (*info).si_code < 7;
        if !from_timer && !from_perf {
            return pass_on(signal, info, context);
        }
        let Some(thread) = thread::active() else {
            return;
        };
        if !sampling::wanted(thread) {
            return;
        }
        if from_timer {
            let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            let ip = registers[libc::REG_RIP as usize] as u64;
            let frame = registers[libc::REG_RBP as usize] as u64;
            thread::on_signal(thread, || {
                let mut chain = [0; 32];
                let mut depth = 0;
                if fulcrum_runtime_core::attribute::line_at(control::ranges(), ip).is_none() {
                    chain[0] = ip;
                    depth = 1 + sampling::frames(frame, &mut chain[1..]);
                }
                thread.sampling.tick(ip, chain[..depth].iter().copied())
            });
        } else {
            thread::on_signal(thread, || 0);
        }
    }
}

/// The program raised our signal itself, or had it raised: do what it asked for.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let theirs = with_theirs(|theirs| *theirs);
    // SAFETY: the program's own handler, called as the kernel would.
    unsafe {
        match theirs.sa_sigaction {
            libc::SIG_IGN => {}
            libc::SIG_DFL => {
                // Not ours any more: let the kernel do the default, once this handler returns.
                real_sigaction()(signal, &theirs, null_mut());
                sys::call(
                    libc::SYS_tgkill,
                    [
                        sys::call(libc::SYS_getpid, [0; 6]) as usize,
                        sys::thread_id() as usize,
                        signal as usize,
                        0,
                        0,
                        0,
                    ],
                );
            }
            handler if theirs.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    core::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: unsafe extern "C" fn(c_int) = core::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

/// `sigaction(2)`: for our signal, remembers what the program wants and leaves ours installed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    new: *const Action,
    old: *mut Action,
) -> c_int {
    if !life::is_active() || signal != ours() {
        // SAFETY: passes the program's arguments on.
        return unsafe { real_sigaction()(signal, new, old) };
    }
    with_theirs(|theirs| {
        let before = *theirs;
        // SAFETY: the program's pointers, valid or null by sigaction's contract.
        unsafe {
            if let Some(new) = new.as_ref() {
                *theirs = *new;
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
pub unsafe extern "C-unwind" fn signal(
    number: c_int,
    handler: libc::sighandler_t,
) -> libc::sighandler_t {
    if !life::is_active() || number != ours() {
        // SAFETY: passes the program's arguments on.
        return unsafe {
            real!(signal: fn(c_int, libc::sighandler_t) -> libc::sighandler_t)(number, handler)
        };
    }
    with_theirs(|theirs| {
        let before = theirs.sa_sigaction;
        // SAFETY: zeroed is a valid sigaction.
        *theirs = unsafe { core::mem::zeroed() };
        theirs.sa_sigaction = handler;
        theirs.sa_flags = libc::SA_RESTART;
        before
    })
}

type SetMask =
    unsafe extern "C-unwind" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

/// Sets the calling thread's mask without our own symbol in between.
pub unsafe fn real_mask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
    // SAFETY: passes the arguments on.
    unsafe {
        real!(pthread_sigmask: fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int)(
            how, set, old,
        )
    }
}

/// Applies the program's mask but for our signal, and reports the mask that it believes in.
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
        let believed = thread.blocks_signal.get();
        let mut kept = null();
        let mut copy;
        if let Some(set) = set.as_ref() {
            copy = *set;
            let named = libc::sigismember(&copy, ours()) == 1;
            match how {
                libc::SIG_BLOCK if named => thread.blocks_signal.set(true),
                libc::SIG_UNBLOCK if named => thread.blocks_signal.set(false),
                libc::SIG_SETMASK => thread.blocks_signal.set(named),
                _ => {}
            }
            if how != libc::SIG_UNBLOCK {
                libc::sigdelset(&mut copy, ours());
            }
            kept = &raw const copy;
        }
        let result = real(how, kept, old);
        if result == 0 && !old.is_null() && believed {
            libc::sigaddset(old, ours());
        }
        result
    }
}

/// Our signal cannot be blocked, but the program does not notice.
macro_rules! mask_hook {
    ($name:ident) => {
        /// As libc's, with our signal left open.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
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

/// Runs `then` in a thread that is about to become another program: no sample may arrive in between, since the new
/// program would die of it. Whatever is pending is taken away.
pub fn without_samples<T>(then: impl FnOnce() -> T) -> T {
    if !life::is_active() {
        return then();
    }
    for thread in thread::all() {
        thread.sampling.silence();
    }
    // SAFETY: our own signal set and a zero time-out; the mask is restored before the program can see it.
    unsafe {
        let mut set: libc::sigset_t = core::mem::zeroed();
        let mut before: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, ours());
        real_mask(libc::SIG_BLOCK, &set, &mut before);
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let size = size_of::<u64>();
        let args = [
            &raw const set as usize,
            0,
            &raw const now as usize,
            size,
            0,
            0,
        ];
        while sys::call(libc::SYS_rt_sigtimedwait, args) == ours() as isize {}
        real_mask(libc::SIG_SETMASK, &before, null_mut());
    }
    then()
}
