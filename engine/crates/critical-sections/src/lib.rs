//! The out-of-line engine that watches critical sections (Whodunit §7.2).
//!
//! When a thread has taken a lock, the function that took it does not return to its caller. Instead, the engine captures
//! the thread's registers and runs the critical section from translated copies of its instructions. Copies do exactly what
//! the originals do, on the program's own stack and with its own return addresses. Stores between them record values, from
//! which the engine later derives [effects](fulcrum_shared_memory::Effect) and reports them to an [`Observer`]. After the
//! outermost unlock, this continues until the observer has seen the first use, or for a window of instructions.
//!
//! # For the preloaded library
//!
//! - Call [`begin`] once, with the observer and the addresses of functions that must run unchanged: all hooks that release
//!   locks, wait or take locks; `malloc` and its family; functions that never return or jump ([`Functions`]).
//! - Hide functions that take locks with [`hook!`], which captures the caller's registers. After taking the lock, call
//!   [`lock_taken`], which does not return if the section is watched. The same goes for waiting on a condition.
//! - Use [`lock_hook!`] and [`unlock_hook!`] for mutexes. They are faster where nothing flows.
//! - Call [`flows_under`] when something flows under a lock, and [`wake`] when something flows where nothing had flowed
//!   before.
//! - Call [`unlocking`] before releasing a lock, and before waiting for a condition.
//! - Call [`end_thread`] when a thread ends, [`loaded`] and [`forget_unmapped`] when a library is loaded or unloaded, and
//!   [`after_fork`] in a forked child.
//! - Call [`locate`] in samplers and signal handlers to find the program's instruction that is being executed.
//!
//! # Guarantees
//!
//! - After [`begin`], the engine neither calls `malloc` nor takes a lock of libc's. The observer ensures the same with its
//!   own allocator.
//! - The engine works on its own stack. It writes nothing to the program's stack except what the program itself writes, and
//!   two words below the return address of a native call.
//! - Signals may arrive at any time. Their handlers run natively, and the locks they take are not reported.
//! - A thread continues natively, at the program's own address and with exactly its registers, at system calls that do not
//!   return once, at instructions that only work in their own place, in code that is not from a file (a just-in-time
//!   compiler may change it), when its budget is used up, and when the observer has seen enough.
//! - [`begin`] refuses processes with shadow stacks, because their return addresses cannot be emulated.
//!
//! Supports x86-64 only. On other architectures this crate is empty.
#![cfg(target_arch = "x86_64")]

mod engine;
mod hooks;
mod list;
mod memory;
mod observer;
mod policy;
mod replay;
mod step;
mod thread;
mod translation;

use core::fmt;
use core::ops::Range;

use fulcrum_preload::{real, sys};

pub use hooks::captured::{Caller, Captured, caller};
#[doc(hidden)]
pub use hooks::mutexes::parts;
pub use memory::loader::code_around;
pub use memory::tls::Registers;
pub use observer::{Counts, Limits, Observer, Translated, Wish};
pub use policy::{Scope, flows_under, wake};

use engine::{ENGINE, Engine};
use memory::loader;
use translation::gate;
use translation::unit::Kind;
use translation::units::Units;

/// Addresses of functions that are not translated.
#[derive(Clone, Debug, Default)]
pub struct Functions<'a> {
    /// Functions that run natively. The engine continues when they return.
    pub native: &'a [u64],
    /// Those of them before which nothing is reported, because that may be done later: they signal a condition, or call [`unlocking`]
    /// before they do anything else.
    pub later: &'a [u64],
    /// Functions at which the engine stops.
    pub last: &'a [u64],
    /// The preloaded library's code ([`code_around`]). The engine stops where it begins, except for native functions.
    pub own: Range<u64>,
}

/// Why the engine could not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The system provides no memory that is both writable and executable.
    NoCodeMemory,
    /// The process has a shadow stack.
    ShadowStack,
    /// The engine has already started.
    Begun,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unavailable::NoCodeMemory => {
                "the system allows no memory that is writable and executable"
            }
            Unavailable::ShadowStack => "the process has a shadow stack",
            Unavailable::Begun => "critical sections are watched already",
        })
    }
}

impl std::error::Error for Unavailable {}

/// `malloc` and its family. What they do in critical sections is not watched (rule 3).
const ALLOCATORS: &[&core::ffi::CStr] = &[
    c"malloc",
    c"free",
    c"calloc",
    c"realloc",
    c"reallocarray",
    c"memalign",
    c"aligned_alloc",
    c"posix_memalign",
    c"valloc",
    c"pvalloc",
    c"malloc_usable_size",
];

/// Functions that do not return, or not to where they were called.
const JUMPS: &[&core::ffi::CStr] = &[
    c"longjmp",
    c"_longjmp",
    c"siglongjmp",
    c"__longjmp_chk",
    c"__cxa_throw",
    c"__cxa_rethrow",
    c"_Unwind_RaiseException",
    c"_Unwind_Resume",
    c"_Unwind_ForcedUnwind",
    c"pthread_exit",
    c"exit",
    c"_exit",
    c"quick_exit",
    c"abort",
    c"fork",
    c"vfork",
    c"dlclose",
];

/// Starts the engine. This allocates, so no lock that an allocator takes may be held.
///
/// # Errors
///
/// When the engine cannot run in this process.
pub fn begin(
    observer: &'static dyn Observer,
    limits: Limits,
    functions: Functions,
) -> Result<(), Unavailable> {
    if ENGINE.get().is_some() {
        return Err(Unavailable::Begun);
    }
    if has_shadow_stack() {
        return Err(Unavailable::ShadowStack);
    }
    let units = Units::new(observer, engine::dispatch, loader::code(), functions.own)
        .ok_or(Unavailable::NoCodeMemory)?;
    gate::set_returned(units.gates.returned);
    let found = |names: &'static [&core::ffi::CStr]| {
        let all = names.iter().filter_map(|name| real::find(name));
        all.map(|it| it.addr() as u64)
    };
    for ip in functions.native.iter().copied().chain(found(ALLOCATORS)) {
        units.add_special(ip, Kind::Native);
    }
    for ip in functions.later {
        units.add_special(*ip, Kind::Later);
    }
    for ip in functions.last.iter().copied().chain(found(JUMPS)) {
        units.add_special(ip, Kind::InPlace);
    }
    ENGINE.set(Box::leak(Box::new(Engine {
        units,
        limits,
        observer,
        counts: engine::Tally::default(),
    })));
    Ok(())
}

/// Shadow stacks hold return addresses that only call instructions can write.
fn has_shadow_stack() -> bool {
    const ARCH_SHSTK_STATUS: usize = 0x5005;
    let mut features = 0_u64;
    let args = [ARCH_SHSTK_STATUS, (&raw mut features).addr(), 0, 0, 0, 0];
    // SAFETY: the kernel writes eight bytes to `features`, or fails because it does not know the request.
    let answer = unsafe { sys::call(libc::SYS_arch_prctl, args) };
    answer == 0 && features & 1 != 0
}

/// The calling thread has taken a lock and would now return `result` to the caller that [`hook!`] captured. Does not return
/// if the section is watched: the thread then continues out of line.
///
/// # Safety
///
/// `captured` belongs to the hook that makes this call. No frame between this call and the hook's caller may have anything
/// to drop.
pub unsafe fn lock_taken(captured: &Captured, lock: u64, result: u64) {
    // SAFETY: this function has the same contract as the caller's.
    unsafe { engine::lock_taken(captured, lock, result) };
}

/// The calling thread is about to release a lock, or to wait for a condition with it.
pub fn unlocking(lock: u64) {
    engine::unlocking(lock);
}

/// The calling thread ends. If it takes another lock, it starts anew.
pub fn end_thread() {
    thread::Thread::end();
}

/// A library was loaded. Finds its code now rather than in the first section that runs in it.
pub fn loaded() {
    if let Some(engine) = ENGINE.get() {
        engine.units.find_new_code();
    }
}

/// A library may have been unloaded. Forgets all code that is no longer mapped. Call this before another library is mapped
/// in its place.
pub fn forget_unmapped() {
    if let Some(engine) = ENGINE.get() {
        engine.units.forget_unmapped();
    }
}

/// The code between two addresses has changed.
pub fn forget(from: u64, to: u64) {
    if let Some(engine) = ENGINE.get() {
        engine.units.forget(from, to);
    }
}

/// The process is a freshly forked child.
pub fn after_fork() {
    policy::forget();
    if let Some(engine) = ENGINE.get() {
        engine.units.free_lock();
    }
}

/// The program's instruction whose translation is at `address`, or `None` if there is no translation.
pub fn locate(address: u64) -> Option<u64> {
    ENGINE.get()?.units.locate(address)
}

/// The memory that holds the translations. Empty before [`begin`].
pub fn code_memory() -> Range<u64> {
    ENGINE.get().map_or(0..0, |it| it.units.code_memory())
}

/// What has happened so far, or `None` before [`begin`].
pub fn counts() -> Option<Counts> {
    Some(ENGINE.get()?.counts.read())
}
