//! The functions that our symbols hide: libc's, or those of a library preloaded after us.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One hidden function, looked up at first use.
pub struct Real {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Real {
    /// The next definition of `name` after ours.
    pub const fn new(name: &'static CStr) -> Real {
        Real {
            name,
            address: AtomicUsize::new(0),
        }
    }

    /// As a function pointer of type `F`. Calling it is as unsafe as calling the function.
    pub fn get<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let mut address = self.address.load(Ordering::Relaxed);
        if address == 0 {
            // SAFETY: a lookup of a C string.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) }.addr();
            if address == 0 {
                // SAFETY: it has no precondition. No supported libc lacks what we hide.
                unsafe { libc::abort() };
            }
            self.address.store(address, Ordering::Relaxed);
        }
        // SAFETY: a function's address, of the same size as `F`, which is a function pointer.
        unsafe { std::mem::transmute_copy(&address) }
    }
}
