//! One place in the program, and the counter that the profiler hands out for it.

/// coz's numbers for the kinds of counter.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
#[doc(hidden)]
pub enum Kind {
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
    use core::ffi::{CStr, c_char, c_int, c_void};
    use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    use super::Kind;

    /// What `_coz_get_counter` returns: ours to add to, the profiler's to read, alive until the process ends.
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

    /// Where visits go without a profiler.
    static UNREAD: Counter = Counter {
        count: AtomicUsize::new(0),
        reserved: 0,
    };

    /// A place. The counter is looked up at its first visit.
    #[derive(Debug)]
    #[doc(hidden)]
    pub struct Site {
        kind: Kind,
        /// Ends with a NUL.
        name: &'static str,
        counter: AtomicPtr<Counter>,
        /// [`Settle`], or null without Fulcrum.
        settle: AtomicPtr<c_void>,
    }

    impl Site {
        /// `name` must end with a NUL and hold no other.
        pub const fn new(kind: Kind, name: &'static str) -> Self {
            assert!(
                CStr::from_bytes_with_nul(name.as_bytes()).is_ok(),
                "a progress point's name holds no NUL"
            );
            Site {
                kind,
                name,
                counter: AtomicPtr::new(core::ptr::null_mut()),
                settle: AtomicPtr::new(core::ptr::null_mut()),
            }
        }

        #[inline]
        pub fn visit(&self) {
            let mut counter = self.counter.load(Ordering::Acquire);
            if counter.is_null() {
                counter = self.find();
            }
            if !matches!(self.kind, Kind::Throughput) {
                self.settle();
            }
            // SAFETY: not null; either `UNREAD` or the profiler's, and both outlive the program's threads.
            unsafe { &(*counter).count }.fetch_add(1, Ordering::Relaxed);
        }

        /// A pause that this thread still owes belongs to the side of the boundary on which it was earned.
        #[inline]
        fn settle(&self) {
            let found = self.settle.load(Ordering::Acquire);
            if !found.is_null() {
                // SAFETY: `find` stores nothing but this function.
                let settle: Settle = unsafe { core::mem::transmute(found) };
                settle();
            }
        }

        /// Threads that come here together find the same counter.
        #[cold]
        fn find(&self) -> *mut Counter {
            // SAFETY: the name is a C string; dlsym may be called from any thread.
            let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_coz_get_counter".as_ptr()) };
            let mut found = core::ptr::null_mut();
            if !symbol.is_null() {
                // SAFETY: every profiler that exports this symbol gives it the type in coz.h.
                let find: Find = unsafe { core::mem::transmute(symbol) };
                // SAFETY: `new` checked that the name ends with its only NUL.
                found = unsafe { find(self.kind as c_int, self.name.as_ptr().cast()) };
            }
            // SAFETY: as above.
            let settle = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"fulcrum_settle".as_ptr()) };
            self.settle.store(settle, Ordering::Release);
            if found.is_null() {
                found = (&raw const UNREAD).cast_mut();
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
    pub const fn new(_: Kind, _: &'static str) -> Self {
        Site
    }

    #[inline]
    pub fn visit(&self) {}
}
