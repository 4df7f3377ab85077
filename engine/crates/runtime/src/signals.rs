//! The sampling signal, shared with a program that may use it too: our handler, and the calls that would change it.

use core::ffi::{c_int, c_void};
use core::mem::{MaybeUninit, size_of};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fulcrum_preload::quiet::ALL_BUT_FAULTS;
use fulcrum_preload::{real, sys};
use fulcrum_unwind::Registers;

use crate::theirs::{Action, mask_ours, ours, real_sigaction, with_theirs};
use crate::thread::Arrived;
use crate::{activity, held, sampling, thread};

/// The program has a handler of its own for our signal.
static HANDLED: AtomicBool = AtomicBool::new(false);

/// Installs our handler. Whether it restarts system calls is as the program's handler has it.
pub unsafe fn install_ours(theirs: &Action, before: *mut Action) -> c_int {
    let handled = theirs.sa_sigaction != libc::SIG_DFL && theirs.sa_sigaction != libc::SIG_IGN;
    HANDLED.store(handled, Ordering::Relaxed);
    // SAFETY: zeroed is a valid sigaction; the handler has the three-argument form that SA_SIGINFO asks for.
    unsafe {
        let mut action: Action = core::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        let restart = if handled {
            theirs.sa_flags & libc::SA_RESTART
        } else {
            libc::SA_RESTART
        };
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | restart;
        // No handler of the program's, and no cancellation, may leave ours by a jump.
        (&raw mut action.sa_mask)
            .cast::<u64>()
            .write(ALL_BUT_FAULTS);
        real_sigaction()(ours(), &action, before)
    }
}

/// The main thread had our signal blocked when the program began.
static BLOCKED_AT_START: AtomicBool = AtomicBool::new(false);

/// Takes the signal over, remembering what was there.
pub fn install() -> Option<()> {
    // SAFETY: zeroed is a valid sigaction.
    unsafe {
        let mut before: Action = core::mem::zeroed();
        if install_ours(&core::mem::zeroed(), &mut before) != 0 {
            return None;
        }
        HANDLED.store(false, Ordering::Relaxed);
        with_theirs(|theirs| *theirs = before);
    }
    // A blocked signal would never sample: a parent may have left it so.
    BLOCKED_AT_START.store(mask_ours(libc::SIG_UNBLOCK), Ordering::Relaxed);
    Some(())
}

/// Whether the program believes that its first thread has our signal blocked.
pub fn was_blocked_at_start() -> bool {
    BLOCKED_AT_START.load(Ordering::Relaxed)
}

/// Leaves the signal as the program believes it to be: in a process that is not profiled any more.
pub fn restore() {
    let theirs = with_theirs(|theirs| *theirs);
    // SAFETY: what the program installed itself.
    unsafe { real_sigaction()(ours(), &theirs, null_mut()) };
    if thread::current().is_some_and(|thread| thread.blocks_signal.get()) {
        mask_ours(libc::SIG_BLOCK);
    }
}

/// Whether a signal is one of our samples.
pub fn is_sample(info: &libc::siginfo_t) -> bool {
    is_tick(info) || (info.si_code > 0 && info.si_code < 7)
}

fn is_tick(info: &libc::siginfo_t) -> bool {
    const FROM_TIMER: c_int = -2;
    // SAFETY: a timer's signal carries a value.
    info.si_code == FROM_TIMER
        && unsafe { info.si_value() }.sival_ptr as usize == sampling::TIMER_MARK
}

// A handler of the program's may be unwound: nothing is held when it runs.
unsafe extern "C-unwind" fn on_signal(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the kernel passes a valid siginfo and context.
    unsafe {
        arrives(is_sample(&*info));
        if is_sample(&*info) {
            on_sample(info, context);
        } else if thread::active().is_some_and(|thread| thread.blocks_signal.get()) {
            held::hold(&*info);
        } else {
            pass_on(signal, info, context);
        }
    }
}

/// Remembers that a signal of our number came to the calling thread.
fn arrives(is_sample: bool) {
    if let Some(thread) = thread::active() {
        let mut arrived = thread.arrived.get();
        arrived.sample |= is_sample;
        arrived.theirs |= !is_sample;
        thread.arrived.set(arrived);
    }
}

/// Runs a call by which the program's thread sends itself a signal. The kernel keeps one of our number pending for a thread,
/// so a sample that is pending swallows the program's: then it is sent again.
pub fn to_itself(signal: c_int, send: impl Fn() -> c_int) -> c_int {
    let Some(thread) = thread::active().filter(|_| signal == ours()) else {
        return send();
    };
    let before = thread.arrived.replace(Arrived::default());
    loop {
        let result = send();
        let arrived = thread.arrived.replace(before);
        if result != 0 || arrived.theirs || !arrived.sample {
            return result;
        }
        thread.arrived.set(Arrived::default());
    }
}

unsafe fn on_sample(info: *mut libc::siginfo_t, context: *mut c_void) {
    let _errno = sys::KeepErrno::new();
    // SAFETY: the kernel passes a valid siginfo and context.
    unsafe {
        let from_timer = is_tick(&*info);
        let Some(thread) = thread::active() else {
            return;
        };
        if !sampling::wanted(&thread.sampling) {
            return;
        }
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let at = Registers {
            rip: registers[libc::REG_RIP as usize] as u64,
            rsp: registers[libc::REG_RSP as usize] as u64,
            rbp: registers[libc::REG_RBP as usize] as u64,
        };
        thread::on_signal(thread, Some(at), || {
            if from_timer {
                thread.sampling.tick(thread.stack(), at, thread.inside())
            } else {
                0
            }
        });
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
                        sys::process_id() as usize,
                        sys::thread_id() as usize,
                        signal as usize,
                        0,
                        0,
                        0,
                    ],
                );
            }
            handler => {
                if theirs.sa_flags & libc::SA_RESETHAND != 0 {
                    with_theirs(|theirs| theirs.sa_sigaction = libc::SIG_DFL);
                }
                // What would be blocked had the kernel called it. It puts the mask back when our handler returns.
                let interrupted = &raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask;
                let mut mask = interrupted.cast::<u64>().read()
                    | (&raw const theirs.sa_mask).cast::<u64>().read();
                if theirs.sa_flags & libc::SA_NODEFER == 0 {
                    mask |= 1 << (signal - 1);
                }
                let args = [
                    libc::SIG_SETMASK as usize,
                    &raw const mask as usize,
                    0,
                    size_of::<u64>(),
                    0,
                    0,
                ];
                sys::call(libc::SYS_rt_sigprocmask, args);
                if theirs.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: unsafe extern "C-unwind" fn(
                        c_int,
                        *mut libc::siginfo_t,
                        *mut c_void,
                    ) = core::mem::transmute(handler);
                    handler(signal, info, context);
                } else {
                    let handler: unsafe extern "C-unwind" fn(c_int) = core::mem::transmute(handler);
                    handler(signal);
                }
            }
        }
    }
}

/// Signals that threads of this program have sent.
static SENT: AtomicU32 = AtomicU32::new(0);

/// A thread of this program sends a signal.
pub fn sent() {
    SENT.fetch_add(1, Ordering::Relaxed);
}

/// How many they have sent.
pub fn sent_so_far() -> u32 {
    SENT.load(Ordering::Relaxed)
}

/// Whether samples are to be kept from interrupting a call. A program that handles our signal itself wants it to.
pub fn may_disturb() -> bool {
    thread::active().is_some() && activity::is_sampling() && !HANDLED.load(Ordering::Relaxed)
}

/// Runs a call that any signal handler interrupts, with samples put off until it returns. (A sample comes of CPU time,
/// so it can only meet such a call on its way into the kernel or out.)
#[inline(always)]
pub fn undisturbed<R>(then: impl FnOnce() -> R) -> R {
    if !may_disturb() {
        return then();
    }
    let blocked = mask_ours(libc::SIG_BLOCK);
    let result = then();
    if !blocked {
        mask_ours(libc::SIG_UNBLOCK);
    }
    result
}

/// The mask that a call sets while it waits, with samples put off likewise.
///
/// # Safety
/// `mask` is valid or null.
pub unsafe fn with_ours(
    mask: *const libc::sigset_t,
    room: &mut MaybeUninit<libc::sigset_t>,
) -> *const libc::sigset_t {
    // SAFETY: as the caller says.
    match unsafe { mask.as_ref() } {
        Some(mask) if may_disturb() => {
            let copy = room.write(*mask);
            // SAFETY: a valid set.
            unsafe { libc::sigaddset(copy, ours()) };
            &raw const *copy
        }
        _ => mask,
    }
}

/// `sigaction(2)`: for our signal, remembers what the program wants and leaves ours installed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    new: *const Action,
    old: *mut Action,
) -> c_int {
    if !activity::is_active() || signal != ours() {
        // SAFETY: passes the program's arguments on.
        return unsafe { real_sigaction()(signal, new, old) };
    }
    with_theirs(|theirs| {
        let before = *theirs;
        // SAFETY: the program's pointers, valid or null by sigaction's contract.
        unsafe {
            if let Some(new) = new.as_ref() {
                *theirs = *new;
                install_ours(new, null_mut());
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
    if !activity::is_active() || number != ours() {
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
        // SAFETY: as above.
        unsafe { install_ours(theirs, null_mut()) };
        before
    })
}

/// `sigpending(2)`: samples are never seen, a signal that is held back is.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigpending(set: *mut libc::sigset_t) -> c_int {
    // SAFETY: passes the program's argument on.
    unsafe {
        let result = real!(sigpending: fn(*mut libc::sigset_t) -> c_int)(set);
        if result == 0 && activity::is_active() {
            if held::is_pending() {
                libc::sigaddset(set, ours());
            } else {
                libc::sigdelset(set, ours());
            }
        }
        result
    }
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
        if result == 0 && !old.is_null() {
            if believed {
                libc::sigaddset(old, ours());
            } else {
                libc::sigdelset(old, ours());
            }
        }
        if believed && !thread.blocks_signal.get() {
            held::deliver();
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
