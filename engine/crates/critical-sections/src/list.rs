//! A list with a fixed capacity, without allocation.

use core::mem::MaybeUninit;

/// At most `N` items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<T: Copy, const N: usize> {
    items: [MaybeUninit<T>; N],
    length: usize,
    /// Whether an item did not fit.
    overflowed: bool,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// An empty list.
    pub(crate) fn new() -> Self {
        List {
            items: [const { MaybeUninit::uninit() }; N],
            length: 0,
            overflowed: false,
        }
    }

    /// Makes an empty list in uninitialised memory.
    ///
    /// # Safety
    /// `at` is valid for writes, and aligned.
    pub(crate) unsafe fn make_at(at: *mut Self) {
        // SAFETY: the caller promises a place that is valid for writes. Items of an empty list need no value.
        unsafe {
            (&raw mut (*at).length).write(0);
            (&raw mut (*at).overflowed).write(false);
        }
    }

    /// Appends an item if there is room.
    pub(crate) fn push(&mut self, item: T) {
        match self.items.get_mut(self.length) {
            Some(place) => {
                place.write(item);
                self.length += 1;
            }
            None => self.overflowed = true,
        }
    }

    /// Whether an item did not fit.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Whether there is room for `more` items.
    pub(crate) fn has_room(&self, more: usize) -> bool {
        self.length + more <= N
    }

    /// Removes all items.
    pub(crate) fn clear(&mut self) {
        self.length = 0;
        self.overflowed = false;
    }

    /// Removes the last equal item. Returns whether there was one.
    pub(crate) fn remove(&mut self, item: &T) -> bool
    where
        T: PartialEq,
    {
        let Some(at) = self.as_slice().iter().rposition(|it| it == item) else {
            return false;
        };
        for n in at + 1..self.length {
            self.items[n - 1] = self.items[n];
        }
        self.length -= 1;
        true
    }

    /// All items.
    pub(crate) fn as_slice(&self) -> &[T] {
        let items = &self.items[..self.length];
        // SAFETY: the first `length` items were written by `push`.
        unsafe { &*(core::ptr::from_ref(items) as *const [T]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_fits_in_order() {
        let mut list: List<u8, 3> = List::new();
        for n in [1, 2, 1] {
            assert!(list.has_room(1));
            list.push(n);
        }
        assert!(!list.has_room(1) && !list.overflowed());
        list.push(9);
        assert!(list.overflowed());
        assert_eq!(list.as_slice(), [1, 2, 1]);
        assert!(list.remove(&1) && !list.remove(&7));
        assert_eq!(list.as_slice(), [1, 2]);
        list.clear();
        assert!(list.as_slice().is_empty() && !list.overflowed());
    }
}
