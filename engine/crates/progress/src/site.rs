//! A place in the program, and the counter that the profiler provides for it.

/// coz's numbers for the kinds of counter.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
#[doc(hidden)]
pub enum ProgressPointKind {
    Throughput = 1,
    Begin = 2,
    End = 3,
}

/// Ends a request when it is dropped. Made by [`scope!`](crate::scope).
#[must_use = "the request ends when the guard is dropped: bind it to a name, not to `_`"]
#[derive(Debug)]
pub struct Scope(&'static Site);

impl Scope {
    #[doc(hidden)]
    pub fn begin(begin: &Site, end: &'static Site) -> Self {
        begin.visit();
        Scope(end)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.0.visit();
    }
}

#[cfg(target_os = "linux")]
pub use linux::Site;

#[cfg(target_os = "linux")]
mod linux {
    use core::ffi::{c_char, c_int, c_void};
    use core::ptr::{addr_of, null_mut};
    use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    use super::ProgressPointKind;

    // std links it on every Linux. This crate depends on nothing, not even on `libc`.
    extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// Searches everything that is loaded, in the loader's order.
    const RTLD_DEFAULT: *mut c_void = null_mut();

    /// What `_coz_get_counter` returns: we add to it, the profiler reads it, and it lives until the process ends.
    #[repr(C)]
    #[derive(Debug)]
    struct Counter {
        count: AtomicUsize,
        reserved: usize,
    }

    /// `Counter *_coz_get_counter(int kind, const char *name)`, as coz.h declares it.
    type Find = unsafe extern "C" fn(c_int, *const c_char) -> *mut Counter;

    /// `void fulcrum_settle(void)`: a request is about to begin or to end.
    type Settle = extern "C" fn();

    // Literals of C strings need a compiler of 2024.
    const GET_COUNTER: &[u8] = b"_coz_get_counter\0";
    const SETTLE: &[u8] = b"fulcrum_settle\0";

    /// Whether it ends with a NUL and contains no other.
    const fn is_c_string(bytes: &[u8]) -> bool {
        let mut at = 0;
        while at < bytes.len() && bytes[at] != 0 {
            at += 1;
        }
        at + 1 == bytes.len()
    }

    /// The counter of visits without a profiler.
    static UNREAD: Counter = Counter {
        count: AtomicUsize::new(0),
        reserved: 0,
    };

    /// A place. The counter is looked up at its first visit.
    #[derive(Debug)]
    #[doc(hidden)]
    pub struct Site {
        kind: ProgressPointKind,
        /// Ends with a NUL.
        name: &'static str,
        counter: AtomicPtr<Counter>,
        /// [`Settle`], or null without Fulcrum.
        settle: AtomicPtr<c_void>,
    }

    impl Site {
        /// `name` must end with a NUL and contain no other.
        pub const fn new(kind: ProgressPointKind, name: &'static str) -> Self {
            assert!(
                is_c_string(name.as_bytes()),
                "a progress point's name holds no NUL"
            );
            Site {
                kind,
                name,
                counter: AtomicPtr::new(null_mut()),
                settle: AtomicPtr::new(null_mut()),
            }
        }

        #[inline]
        pub fn visit(&self) {
            let mut counter = self.counter.load(Ordering::Acquire);
            if counter.is_null() {
                counter = self.find();
            }
            if !matches!(self.kind, ProgressPointKind::Throughput) {
                self.settle();
            }
            // SAFETY: not null; either `UNREAD` or the profiler's, and both outlive the program's threads.
            unsafe { &(*counter).count }.fetch_add(1, Ordering::Relaxed);
        }

        /// Makes the thread pause now for what it owes, so that the delay falls on the side of the boundary on which it arose.
        #[inline]
        fn settle(&self) {
            let found = self.settle.load(Ordering::Acquire);
            if !found.is_null() {
                // SAFETY: `find` stores nothing but this function.
                let settle: Settle = unsafe { core::mem::transmute(found) };
                settle();
            }
        }

        /// Looks up the counter. Threads that do so at the same time find the same one.
        #[cold]
        fn find(&self) -> *mut Counter {
            // SAFETY: the name is a C string; dlsym may be called from any thread.
            let symbol = unsafe { dlsym(RTLD_DEFAULT, GET_COUNTER.as_ptr().cast()) };
            let mut found = null_mut();
            if !symbol.is_null() {
                // SAFETY: every profiler that exports this symbol gives it the type in coz.h.
                let find: Find = unsafe { core::mem::transmute(symbol) };
                // SAFETY: `new` checked that the name ends with its only NUL.
                found = unsafe { find(self.kind as c_int, self.name.as_ptr().cast()) };
            }
            // SAFETY: as above.
            let settle = unsafe { dlsym(RTLD_DEFAULT, SETTLE.as_ptr().cast()) };
            self.settle.store(settle, Ordering::Release);
            if found.is_null() {
                found = addr_of!(UNREAD) as *mut Counter;
            }
            self.counter.store(found, Ordering::Release);
            found
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
#[doc(hidden)]
pub struct Site;

#[cfg(not(target_os = "linux"))]
impl Site {
    pub const fn new(_: ProgressPointKind, _: &'static str) -> Self {
        Site
    }

    #[inline]
    pub fn visit(&self) {}
}
