//! Values that any thread may read at any time: what is replaced is never freed.

use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// The newest value, if there is one.
pub struct Kept<T: 'static> {
    newest: AtomicPtr<T>,
    /// Whoever can access this gets references to the value.
    shared: PhantomData<&'static T>,
}

impl<T> Kept<T> {
    /// Without a value.
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

    /// Replaces the value.
    pub fn set(&self, value: &'static T) {
        let value = core::ptr::from_ref(value).cast_mut();
        self.newest.store(value, Ordering::Release);
    }

    /// Removes the value.
    pub fn clear(&self) {
        self.newest.store(null_mut(), Ordering::Release);
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept::new()
    }
}
