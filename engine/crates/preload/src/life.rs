//! Constructors and destructors of a library, the ends of threads, and words that are zero in forked children.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::{real, sys};

/// Runs a function, `extern "C" fn()`, when the library has been loaded: before the program's own constructors.
#[macro_export]
macro_rules! constructor {
    ($function:path) => {
        const _: () = {
            #[used]
            #[unsafe(link_section = ".init_array")]
            static CONSTRUCTOR: extern "C" fn() = $function;
        };
    };
}

/// Runs a function, `extern "C" fn()`, when the process ends by `exit(3)`: after the program's own destructors.
#[macro_export]
macro_rules! destructor {
    ($function:path) => {
        const _: () = {
            #[used]
            #[unsafe(link_section = ".fini_array")]
            static DESTRUCTOR: extern "C" fn() = $function;
        };
    };
}

/// Defines hooks for the functions that end a process without destructors. They call a function, `fn()`, first.
#[macro_export]
macro_rules! exit_hooks {
    ($leave:path) => {
        $crate::exit_hooks!(@ _exit, $leave);
        $crate::exit_hooks!(@ _Exit, $leave);
    };
    (@ $name:ident, $leave:path) => {
        /// As libc's, after `$leave`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(status: ::core::ffi::c_int) -> ! {
            $leave();
            // SAFETY: passes the program's argument on.
            unsafe { $crate::real!($name: fn(::core::ffi::c_int) -> !)(status) }
        }
    };
}

/// Has a function called by `quick_exit(3)`, after the program's own handlers.
pub fn at_quick_exit(leave: extern "C" fn(*mut c_void)) {
    type Handler = extern "C" fn(*mut c_void);
    // SAFETY: the handler lives as long as the process, and takes what it is given.
    unsafe {
        real!(__cxa_at_quick_exit: fn(Handler, *mut c_void) -> c_int)(leave, null_mut());
    }
}

/// A handler for the ends of threads, however they end.
pub struct ThreadEnd(AtomicU32);

impl ThreadEnd {
    const NONE: u32 = u32::MAX;

    /// Without a handler.
    pub const fn new() -> ThreadEnd {
        ThreadEnd(AtomicU32::new(ThreadEnd::NONE))
    }

    /// From now on, `end` is called at the end of threads that have a value, with the value. To be called once.
    ///
    /// # Safety
    /// `end` takes every value that [`Self::set`] is called with.
    pub unsafe fn prepare(&self, end: unsafe extern "C" fn(*mut c_void)) {
        let mut key = 0;
        // SAFETY: `key` is ours; the function lives as long as the process.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } == 0 {
            self.0.store(key, Ordering::Release);
        }
    }

    /// Sets the calling thread's value, which is not null. If the handler calls this, it is called again after the handlers of
    /// others, up to four times.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "the pointer is kept and handed to `end`, never followed"
    )]
    pub fn set(&self, value: *const c_void) {
        let key = self.0.load(Ordering::Acquire);
        if key != ThreadEnd::NONE {
            // SAFETY: our own key.
            unsafe { libc::pthread_setspecific(key, value) };
        }
    }
}

impl Default for ThreadEnd {
    fn default() -> Self {
        ThreadEnd::new()
    }
}

/// A word that is 0 in forked children, also in those that no handler announces (`_Fork`, `clone`).
pub struct OwnWord(AtomicPtr<AtomicU32>);

impl OwnWord {
    /// The word is `unprepared`, 0 at first, until [`Self::prepare`].
    pub const fn new(unprepared: &'static AtomicU32) -> OwnWord {
        OwnWord(AtomicPtr::new(core::ptr::from_ref(unprepared).cast_mut()))
    }

    /// Moves the word to a page that the kernel clears in forked children. To be called by one thread while the word is 0. `None`
    /// when there is no memory: then it stays where it is, and only a handler can see forks, as with kernels without such pages.
    pub fn prepare(&self) -> Option<()> {
        const WIPE_ON_FORK: usize = 18;
        let page = sys::map_anonymous(sys::PAGE)?;
        // SAFETY: advice on our own page; kernels that do not know it refuse.
        unsafe {
            let args = [page.addr(), sys::PAGE, WIPE_ON_FORK, 0, 0, 0];
            sys::call(libc::SYS_madvise, args);
        }
        self.0.store(page.cast(), Ordering::Release);
        Some(())
    }

    /// The word itself.
    #[inline(always)]
    pub fn word(&self) -> &'static AtomicU32 {
        // SAFETY: a static, or in a page that is never unmapped.
        unsafe { &*self.0.load(Ordering::Relaxed) }
    }
}
