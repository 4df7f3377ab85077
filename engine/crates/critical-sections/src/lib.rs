//! The out-of-line engine that watches critical sections (Whodunit §7.2).
//!
//! When a thread has taken a lock, the function that took it does not return to its caller: the engine captures the
//! thread's registers and runs the critical section from translated copies of its instructions. Copies do exactly what the
//! originals do, on the program's own stack and with its own return addresses; between them, stores note the values from
//! which the engine afterwards makes [effects](fulcrum_shared_memory::Effect) and tells them to an [`Observer`].
//! After the outermost unlock this goes on until the observer has seen the first use, or for a window of instructions.
//!
//! # For the preloaded library
//!
//! - [`begin`] once, with the observer, and the addresses of the functions that are to run as they are: all hooks that give
//!   back locks, wait or take locks, `malloc` and its family, and those that never return or jump ([`Functions`]).
//! - Functions that take locks are hidden by [`hook!`], which captures the caller's registers. When the lock is taken, they
//!   call [`lock_taken`], which does not return when the section is watched. The same goes for waiting on a condition.
//! - [`lock_hook!`] and [`unlock_hook!`] are the same for mutexes, and short where nothing flows.
//! - [`flows_under`] and [`wake`] are called when something flows under a lock, or where nothing had flowed.
//! - Functions that give back locks call [`unlocking`] before they do, also before they wait for a condition.
//! - [`end_thread`] when a thread ends, [`loaded`] and [`forget_unmapped`] when a library was loaded or unloaded,
//!   [`after_fork`] in the child.
//! - [`locate`] tells samplers and signal handlers which instruction of the program is being executed.
//!
//! # What holds
//!
//! - No call of `malloc` and no lock of libc's after [`begin`]. The observer keeps to that by its own allocator.
//! - The engine works on a stack of its own. Nothing is written to the program's stack but what the program itself writes,
//!   and two words below the return address of a native call.
//! - Signals may come at any time. Their handlers run natively, and the locks they take are not told.
//! - A thread goes on natively, at the program's own address and with exactly its registers: at system calls that do not
//!   return once, at instructions that only work in their own place, in code that is not a file's (which compilers at run
//!   time change), when its budget is used up, and when the observer has seen enough.
//! - With shadow stacks, whose return addresses cannot be emulated, [`begin`] refuses.
//!
//! Only for x86-64; elsewhere there is nothing here.
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

/// Functions that are not translated, by their addresses.
#[derive(Clone, Debug, Default)]
pub struct Functions<'a> {
    /// They are called natively, and the engine goes on when they have returned.
    pub native: &'a [u64],
    /// The engine ends where they begin.
    pub last: &'a [u64],
    /// The preloaded library's code ([`code_around`]): but for native functions, the engine ends where it begins.
    pub own: Range<u64>,
}

/// Why there is no engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The system gives no memory that is writable and executable.
    NoCodeMemory,
    /// The process has a shadow stack.
    ShadowStack,
    /// It has begun already.
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

/// `malloc` and its family: what they do in critical sections is their own affair (rule 3).
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

/// Makes the engine. Allocates, so no lock may be held that an allocator takes.
///
/// # Errors
///
/// When there can be none.
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

/// Shadow stacks hold return addresses that only calls can write.
fn has_shadow_stack() -> bool {
    const ARCH_SHSTK_STATUS: usize = 0x5005;
    let mut features = 0_u64;
    let args = [ARCH_SHSTK_STATUS, (&raw mut features).addr(), 0, 0, 0, 0];
    // SAFETY: the kernel writes eight bytes, or knows no such thing.
    let answer = unsafe { sys::call(libc::SYS_arch_prctl, args) };
    answer == 0 && features & 1 != 0
}

/// The calling thread has taken a lock, and would now return `result` to whom [`hook!`] captured. Does not return when the
/// section is watched: the thread then goes on out of line.
///
/// # Safety
///
/// `captured` is that of the hook that calls this. Nothing in the frames between this call and the hook's caller may need to
/// be dropped.
pub unsafe fn lock_taken(captured: &Captured, lock: u64, result: u64) {
    // SAFETY: the caller's promise.
    unsafe { engine::lock_taken(captured, lock, result) };
}

/// The calling thread is about to give back a lock, or to wait for a condition with it.
pub fn unlocking(lock: u64) {
    engine::unlocking(lock);
}

/// The calling thread ends. It may still take locks, and then begins anew.
pub fn end_thread() {
    thread::Thread::end();
}

/// A library was loaded: finds its code now rather than in the first section that runs in it.
pub fn loaded() {
    if let Some(engine) = ENGINE.get() {
        engine.units.look();
    }
}

/// A library may have been unloaded: forgets all code that is mapped no more. Before another one comes in its place.
pub fn forget_unmapped() {
    if let Some(engine) = ENGINE.get() {
        engine.units.forget_unmapped();
    }
}

/// Code between two addresses is no longer what it was.
pub fn forget(from: u64, to: u64) {
    if let Some(engine) = ENGINE.get() {
        engine.units.forget(from, to);
    }
}

/// The process is a child that was just forked.
pub fn after_fork() {
    policy::forget();
    if let Some(engine) = ENGINE.get() {
        engine.units.free_lock();
    }
}

/// The program's instruction of which the instruction at `address` is a translation. `None` when it is none.
pub fn locate(address: u64) -> Option<u64> {
    ENGINE.get()?.units.locate(address)
}

/// The memory that translations are in. Empty before [`begin`].
pub fn code_memory() -> Range<u64> {
    ENGINE.get().map_or(0..0, |it| it.units.code_memory())
}

/// What happened so far. `None` before [`begin`].
pub fn counts() -> Option<Counts> {
    Some(ENGINE.get()?.counts.read())
}
