//! The functions that our symbols hide: libc's, or those of a library preloaded after us.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

/// One hidden function, looked up at first use.
pub struct Real {
    name: &'static CStr,
    version: Option<&'static CStr>,
    address: AtomicUsize,
}

impl Real {
    /// The next definition of `name` after ours.
    pub const fn new(name: &'static CStr) -> Real {
        Real {
            name,
            version: None,
            address: AtomicUsize::new(0),
        }
    }

    /// The same, of a certain symbol version: where libc keeps an old one under the same name (condition variables
    /// before 2.3.2), `dlsym` may return that.
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Real {
        Real {
            name,
            version: Some(version),
            address: AtomicUsize::new(0),
        }
    }

    /// The function's address; 0 when there is no such function.
    #[inline]
    pub fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.look_up(),
            known => known,
        }
    }

    #[cold]
    fn look_up(&self) -> usize {
        let mut found = null_mut();
        // SAFETY: both names are C strings; dlsym has no other precondition.
        unsafe {
            if let Some(version) = self.version {
                found = libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr());
            }
            if found.is_null() {
                found = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            }
        }
        self.address.store(found.addr(), Ordering::Relaxed);
        found.addr()
    }

    /// The function as a pointer of type `F`; ends the process if there is none, and no supported libc lacks what we hide.
    /// Calling it is as unsafe as calling the function.
    #[inline]
    pub fn get<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let address = self.address();
        if address == 0 {
            // SAFETY: abort has no precondition.
            unsafe { libc::abort() };
        }
        // SAFETY: a function's address, of the same size as `F`, which is a function pointer.
        unsafe { core::mem::transmute_copy(&address) }
    }
}

/// `real!(name: fn(types) -> type)`: the hidden function as a callable; ends the process if there is none. With
/// `name @ "VERSION"`, of that symbol version.
#[macro_export]
macro_rules! real {
    ($name:ident: fn($($type:ty),*) -> $result:ty) => {
        $crate::real!($crate::real::Real::new($crate::real::c_name(concat!(stringify!($name), "\0"))),
            fn($($type),*) -> $result)
    };
    ($name:ident @ $version:literal: fn($($type:ty),*) -> $result:ty) => {
        $crate::real!($crate::real::Real::versioned(
            $crate::real::c_name(concat!(stringify!($name), "\0")),
            $crate::real::c_name(concat!($version, "\0")),
        ), fn($($type),*) -> $result)
    };
    ($real:expr, fn($($type:ty),*) -> $result:ty) => {{
        static REAL: $crate::real::Real = $real;
        REAL.get::<unsafe extern "C-unwind" fn($($type),*) -> $result>()
    }};
}

/// A literal that ends in one NUL, as a C string.
#[doc(hidden)]
pub const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the macro appends the NUL"),
    }
}

/// Where any library of the program defines this symbol, the first in the loader's order. `None` when there is none.
pub fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a C string; dlsym has no other precondition.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
