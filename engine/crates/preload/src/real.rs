//! The functions that our symbols hide: libc's, or those of a library preloaded after us.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A hidden function, looked up at first use.
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

    /// The next definition with a symbol version. Where libc has an old function under the same name (condition variables before
    /// 2.3.2), `dlsym` may return that.
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
        // SAFETY: the name is a C string; dlsym has no other precondition.
        let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if let Some(version) = self.version {
            // SAFETY: likewise.
            let versioned =
                unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) };
            // A library between us and libc, such as a sanitizer, has no versions, and must not be skipped.
            if !versioned.is_null() && (found.is_null() || object(found) == object(versioned)) {
                found = versioned;
            }
        }
        self.address.store(found.addr(), Ordering::Relaxed);
        found.addr()
    }

    /// The function as a pointer of type `F`, which must be its type. Ends the process if there is no such function; no supported
    /// libc lacks one that we hide. Calling it is as unsafe as calling the function.
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

/// The start of the loaded object that contains this address; 0 for none.
fn object(address: *mut c_void) -> usize {
    // SAFETY: zeroed is a valid Dl_info, and dladdr takes any address.
    unsafe {
        let mut found: libc::Dl_info = core::mem::zeroed();
        match libc::dladdr(address, &raw mut found) {
            0 => 0,
            _ => found.dli_fbase.addr(),
        }
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

/// One of libc's own functions, looked up at first use. A library after ours may define it too, as sanitizers do, and keep
/// records that our threads must not be in.
pub struct Own {
    name: &'static CStr,
    address: AtomicUsize,
}

/// The libraries of libc's functions. Before glibc 2.34, those for threads were in a separate one.
const LIBRARIES: [&CStr; 2] = [c"libc.so.6", c"libpthread.so.0"];

impl Own {
    /// libc's definition of `name`.
    pub const fn new(name: &'static CStr) -> Own {
        Own {
            name,
            address: AtomicUsize::new(0),
        }
    }

    /// The function as a pointer of type `F`, which must be its type. Where libc has another name, it is the next definition
    /// after ours. Ends the process if there is none.
    #[inline]
    pub fn get<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let address = match self.address.load(Ordering::Relaxed) {
            0 => self.look_up(),
            known => known,
        };
        if address == 0 {
            // SAFETY: abort has no precondition.
            unsafe { libc::abort() };
        }
        // SAFETY: a function's address, of the same size as `F`, which is a function pointer.
        unsafe { core::mem::transmute_copy(&address) }
    }

    #[cold]
    fn look_up(&self) -> usize {
        let of_library = |library: &&CStr| {
            // SAFETY: C strings; a library that is loaded already stays where it is, and is never closed.
            unsafe {
                let library = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                let found = match library.is_null() {
                    true => null_mut(),
                    false => libc::dlsym(library, self.name.as_ptr()),
                };
                (!found.is_null()).then_some(found.addr())
            }
        };
        // SAFETY: the name is a C string.
        let next = || unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) }.addr();
        let found = LIBRARIES.iter().find_map(of_library).unwrap_or_else(next);
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// `own!(name: fn(types) -> type)`: libc's own function as a callable, whatever hides it; ends the process if there is none.
#[macro_export]
macro_rules! own {
    ($name:ident: fn($($type:ty),*) -> $result:ty) => {{
        static OWN: $crate::real::Own =
            $crate::real::Own::new($crate::real::c_name(concat!(stringify!($name), "\0")));
        OWN.get::<unsafe extern "C-unwind" fn($($type),*) -> $result>()
    }};
}

/// The address of this symbol in the first library in the loader's order that defines it. `None` when there is none.
pub fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a C string; dlsym has no other precondition.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
