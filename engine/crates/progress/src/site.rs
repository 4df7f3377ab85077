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
    use core::ffi::{CStr, c_char, c_int};
    use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    use super::Kind;

    /// What `_coz_get_counter` returns: ours to add to, the profiler's to read, alive until the process ends.
    #[repr(C)]
    #[derive(Debug)]
    struct Counter {
        count: AtomicUsize,
        /// Called before a request begins or ends, where the profiler wants it: a pause that the thread still owes belongs
        /// to the side on which it was earned.
        settle: Option<extern "C" fn()>,
    }

    /// `Counter *_coz_get_counter(int kind, const char *name)`, as coz.h declares it.
    type Find = unsafe extern "C" fn(c_int, *const c_char) -> *mut Counter;

    /// Where visits go without a profiler.
    static UNREAD: Counter = Counter {
        count: AtomicUsize::new(0),
        settle: None,
    };

    /// A place. The counter is looked up at its first visit.
    #[derive(Debug)]
    #[doc(hidden)]
    pub struct Site {
        kind: Kind,
        /// Ends with a NUL.
        name: &'static str,
        counter: AtomicPtr<Counter>,
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
            }
        }

        #[inline]
        pub fn visit(&self) {
            let mut counter = self.counter.load(Ordering::Acquire);
            if counter.is_null() {
                counter = self.find();
            }
            // SAFETY: not null; either `UNREAD` or the profiler's, and both outlive the program's threads.
            let counter = unsafe { &*counter };
            if !matches!(self.kind, Kind::Throughput)
                && let Some(settle) = counter.settle
            {
                settle();
            }
            counter.count.fetch_add(1, Ordering::Relaxed);
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
