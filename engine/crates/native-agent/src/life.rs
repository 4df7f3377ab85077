//! The agent's life in a process: its beginning, threads' ends, forks, and the ways out.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::quiet::quietly;
use crate::real::Real;
use crate::thread::words;
use crate::{session, thread};

static THREAD_END: AtomicU32 = AtomicU32::new(u32::MAX);

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = leave;

extern "C" fn begin() {
    if session::folder().is_none() {
        return session::turn_off();
    }
    crate::hooks::prepare();
    type Handler = unsafe extern "C" fn(*mut c_void);
    type AtQuickExit = unsafe extern "C" fn(Handler, *mut c_void) -> c_int;
    static QUICK: Real = Real::new(c"__cxa_at_quick_exit");
    // SAFETY: plain libc calls; the callbacks have the right types and live as long as the process.
    unsafe {
        let mut key = 0;
        if libc::pthread_key_create(&raw mut key, Some(end_of_thread)) == 0 {
            THREAD_END.store(key, Ordering::Release);
        }
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child));
        QUICK.get::<AtQuickExit>()(at_quick_exit, std::ptr::null_mut());
    }
}

/// Has the calling thread's state end with it.
pub fn at_thread_end() {
    set_rounds(1);
}

fn set_rounds(rounds: usize) {
    let key = THREAD_END.load(Ordering::Acquire);
    if key != u32::MAX {
        // SAFETY: our own key, whose values are numbers.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(rounds)) };
    }
}

/// Other libraries' ends of threads may call instrumented functions: ours is to be the last.
unsafe extern "C" fn end_of_thread(rounds: *mut c_void) {
    const LAST: usize = 4;
    match rounds.addr() {
        LAST.. => quietly(|| probe(thread::end)),
        rounds => set_rounds(rounds + 1),
    }
}

/// Does something as probes do: what is called meanwhile is not observed.
fn probe(what: impl FnOnce()) {
    let words = words();
    // SAFETY: the calling thread's own.
    unsafe {
        let before = (*words).busy;
        (*words).busy = usize::MAX;
        what();
        (*words).busy = before;
    }
}

unsafe extern "C" fn before_fork() {
    // SAFETY: the calling thread's own.
    unsafe { (*words()).busy = usize::MAX };
    session::NAMES.raw().take();
}

unsafe extern "C" fn after_fork() {
    session::NAMES.raw().free();
    // SAFETY: the calling thread's own.
    unsafe { (*words()).busy = 0 };
}

unsafe extern "C" fn in_child() {
    quietly(|| session::forked(true));
    // SAFETY: the calling thread's own.
    unsafe { (*words()).busy = 0 };
}

/// The process is about to end.
extern "C" fn leave() {
    if session::number() == 0 {
        return;
    }
    quietly(|| {
        probe(|| {
            // SAFETY: the calling thread's own state, or null.
            let state = unsafe { (*words()).state.as_ref() };
            if state.is_some_and(|state| state.shadow.depth() == 0) && session::is_own() {
                thread::end();
            }
            session::finish();
        });
    });
}

unsafe extern "C" fn at_quick_exit(_: *mut c_void) {
    leave();
}

macro_rules! exit {
    ($name:ident, $c:literal) => {
        /// As libc's, with the end of the log written first.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(status: c_int) -> ! {
            static REAL: Real = Real::new($c);
            leave();
            let real: unsafe extern "C-unwind" fn(c_int) -> ! = REAL.get();
            // SAFETY: passes the program's argument on.
            unsafe { real(status) }
        }
    };
}

exit!(_exit, c"_exit");
exit!(_Exit, c"_Exit");
