//! Our handler of the sampling signal, which the program may use too.

use core::ffi::{c_int, c_void};
use core::mem::size_of;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fulcrum_preload::quiet::ALL_BUT_FAULTS;
use fulcrum_preload::sys;
use fulcrum_unwind::Registers;

use crate::process::thread::Thread;
use crate::process::{activity, thread};
use crate::sampling::sampler;
use crate::signals::held;
use crate::signals::program_view::{
    Action, is_handled, mask_sampling_signal, real_sigaction, sampling_signal, set_handled,
    with_program_action,
};

/// Installs our handler. It restarts system calls if the program's handler would, or if the program has none.
///
/// # Safety
/// `before` is null or valid for a write.
pub(crate) unsafe fn install_handler(program: &Action, before: *mut Action) -> c_int {
    let handled = program.sa_sigaction != libc::SIG_DFL && program.sa_sigaction != libc::SIG_IGN;
    set_handled(handled);
    // SAFETY: zeroed is a valid sigaction; the handler has the three-argument form that SA_SIGINFO asks for.
    unsafe {
        let mut action: Action = core::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        let restart = if handled {
            program.sa_flags & libc::SA_RESTART
        } else {
            libc::SA_RESTART
        };
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | restart;
        // Neither a handler of the program nor a cancellation may jump out of ours.
        (&raw mut action.sa_mask)
            .cast::<u64>()
            .write(ALL_BUT_FAULTS);
        real_sigaction()(sampling_signal(), &action, before)
    }
}

/// Whether the main thread had the sampling signal blocked when the program started.
static BLOCKED_AT_START: AtomicBool = AtomicBool::new(false);

/// Takes over the signal and remembers the previous action.
pub(crate) fn install() -> Option<()> {
    // SAFETY: zeroed is a valid sigaction.
    unsafe {
        let mut before: Action = core::mem::zeroed();
        if real_sigaction()(sampling_signal(), null(), &mut before) != 0 {
            return None;
        }
        with_program_action(|action| *action = before);
        if install_handler(&before, null_mut()) != 0 {
            return None;
        }
    }
    // The parent may have left it blocked; then no sample would ever arrive.
    BLOCKED_AT_START.store(mask_sampling_signal(libc::SIG_UNBLOCK), Ordering::Relaxed);
    Some(())
}

/// Whether the program believes that its first thread blocks the sampling signal.
pub(crate) fn was_blocked_at_start() -> bool {
    BLOCKED_AT_START.load(Ordering::Relaxed)
}

/// Restores the action and mask that the program believes in, in a process that is no longer profiled.
pub(crate) fn restore() {
    let action = with_program_action(|action| *action);
    // SAFETY: what the program installed itself.
    unsafe { real_sigaction()(sampling_signal(), &action, null_mut()) };
    if thread::current().is_some_and(|thread| thread.blocks_signal()) {
        mask_sampling_signal(libc::SIG_BLOCK);
    }
}

/// Whether a signal is one of our samples.
pub(crate) fn is_sample(info: &libc::siginfo_t) -> bool {
    is_tick(info)
        || (info.si_code > 0 && info.si_code < 7 && sampler::is_signalling(descriptor_of(info)))
}

/// The descriptor that a signal of `F_SETSIG` is about.
fn descriptor_of(info: &libc::siginfo_t) -> c_int {
    /// What comes before: three numbers, their padding, and the events.
    const AT: usize = 16 + size_of::<libc::c_long>();
    // SAFETY: within the information, and aligned.
    unsafe {
        core::ptr::from_ref(info)
            .byte_add(AT)
            .cast::<c_int>()
            .read()
    }
}

fn is_tick(info: &libc::siginfo_t) -> bool {
    const FROM_TIMER: c_int = -2;
    // SAFETY: a timer's signal carries a value.
    info.si_code == FROM_TIMER
        && unsafe { info.si_value() }.sival_ptr as usize == sampler::TIMER_MARK
}

// The program's handler may be unwound, so nothing is held when it runs.
unsafe extern "C-unwind" fn on_signal(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the kernel passes a valid siginfo and context.
    unsafe {
        let Some(thread) = thread::active() else {
            if !is_sample(&*info) {
                pass_on(signal, info, context);
            }
            return;
        };
        // It may have jumped out of its wait.
        thread.waits_for_signal.store(false, Ordering::SeqCst);
        let is_nudge = held::is_nudge(thread, &*info);
        if is_nudge || is_sample(&*info) {
            on_sample(thread, info, context);
            if thread.blocks_signal() {
                if is_nudge {
                    held::pass_along();
                }
            } else if let Some(mut held) = held::take(thread) {
                deliver(thread, signal, &mut held, context);
            }
        } else if thread.blocks_signal() {
            held::hold(thread, &*info);
        } else {
            deliver(thread, signal, info, context);
        }
    }
}

/// Passes a signal on. Its handler may never return, so another that is pending is announced first.
unsafe fn deliver(
    thread: &Thread,
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    if held::is_pending(thread) {
        held::deliver();
    }
    // SAFETY: as the caller says.
    unsafe { pass_on(signal, info, context) };
}

/// A sample has arrived, or a nudge, which may have swallowed one.
unsafe fn on_sample(thread: &Thread, info: *mut libc::siginfo_t, context: *mut c_void) {
    let _errno = sys::KeepErrno::new();
    // SAFETY: the kernel passes a valid siginfo and context.
    unsafe {
        let from_timer = is_tick(&*info);
        if !sampler::keep_sampling(&thread.sampling) {
            return;
        }
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let at = Registers {
            rip: registers[libc::REG_RIP as usize] as u64,
            rsp: registers[libc::REG_RSP as usize] as u64,
            rbp: registers[libc::REG_RBP as usize] as u64,
        };
        thread::on_signal(thread, Some(at), || {
            from_timer.then(|| thread.sampling.tick(thread.stack(), at, thread.inside()))
        });
    }
}

/// The program raised the signal itself, or had it raised: does what the program's action says.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let action = with_program_action(|action| *action);
    // SAFETY: the program's own handler, called as the kernel would.
    unsafe {
        match action.sa_sigaction {
            libc::SIG_IGN => {}
            libc::SIG_DFL => {
                // No longer ours: the kernel does the default once this handler returns.
                real_sigaction()(signal, &action, null_mut());
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
                if action.sa_flags & libc::SA_RESETHAND != 0 {
                    with_program_action(|action| action.sa_sigaction = libc::SIG_DFL);
                }
                // The mask that the kernel would have set. It restores the old one when our handler returns.
                let interrupted = &raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask;
                let mut mask = interrupted.cast::<u64>().read()
                    | (&raw const action.sa_mask).cast::<u64>().read();
                if action.sa_flags & libc::SA_NODEFER == 0 {
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
                if action.sa_flags & libc::SA_SIGINFO != 0 {
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

/// A thread of this program is about to send a signal.
pub(crate) fn sent() {
    SENT.fetch_add(1, Ordering::Relaxed);
}

/// How many signals threads of this program have sent.
pub(crate) fn sent_so_far() -> u32 {
    SENT.load(Ordering::Relaxed)
}

/// Whether samples must not interrupt a call. A program that handles the signal itself expects interruptions.
pub(crate) fn may_disturb() -> bool {
    thread::active().is_some() && activity::is_sampling() && !is_handled()
}

/// Runs a call that any signal handler interrupts, with samples blocked until it returns. (Samples follow CPU time, so one can
/// only hit such a call on its way into the kernel or out of it.)
#[inline(always)]
pub(crate) fn undisturbed<R>(then: impl FnOnce() -> R) -> R {
    if !may_disturb() {
        return then();
    }
    let blocked = mask_sampling_signal(libc::SIG_BLOCK);
    let result = then();
    if !blocked {
        mask_sampling_signal(libc::SIG_UNBLOCK);
    }
    result
}

/// Runs a call that sets this mask while it waits, with samples blocked if they must not interrupt it.
///
/// # Safety
/// `mask` is valid or null.
#[inline(always)]
pub(crate) unsafe fn with_mask<R>(
    mask: *const libc::sigset_t,
    then: impl FnOnce(*const libc::sigset_t) -> R,
) -> R {
    // SAFETY: as the caller says.
    let Some(set) = (unsafe { mask.as_ref() }) else {
        return undisturbed(|| then(mask));
    };
    if may_disturb() {
        let mut copy = *set;
        // SAFETY: a valid set.
        unsafe { libc::sigaddset(&mut copy, sampling_signal()) };
        return then(&raw const copy);
    }
    let Some(thread) = thread::active() else {
        return then(mask);
    };
    // SAFETY: a valid set.
    let blocks = unsafe { libc::sigismember(set, sampling_signal()) == 1 };
    let believed = thread.blocks_signal();
    if blocks == believed {
        return then(mask);
    }
    // What the call lets through interrupts it, however early it came.
    let blocked = mask_sampling_signal(libc::SIG_BLOCK);
    thread.set_blocks_signal(blocks);
    if !blocks {
        held::deliver();
    }
    let result = then(mask);
    thread.set_blocks_signal(believed);
    if !blocked {
        mask_sampling_signal(libc::SIG_UNBLOCK);
    }
    if !believed {
        held::deliver();
    }
    result
}
