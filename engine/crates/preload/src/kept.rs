//! Values that any thread may look at without saying so: what is replaced is never freed.

use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// The newest of such values, if there is one.
pub struct Kept<T: 'static> {
    newest: AtomicPtr<T>,
    /// Whoever can reach this gets references.
    shared: PhantomData<&'static T>,
}

impl<T> Kept<T> {
    /// None yet.
    pub const fn new() -> Kept<T> {
        Kept {
            newest: AtomicPtr::new(null_mut()),
            shared: PhantomData,
        }
    }

    /// The newest value.
    #[inline(always)]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or what `set` was given.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
    }

    /// Readers get this one from now on.
    pub fn set(&self, value: &'static T) {
        let value = core::ptr::from_ref(value).cast_mut();
        self.newest.store(value, Ordering::Release);
    }

    /// There is none from now on.
    pub fn clear(&self) {
        self.newest.store(null_mut(), Ordering::Release);
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept::new()
    }
}
