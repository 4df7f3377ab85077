//! A list of at most so many items, without allocation.

/// At most `N` items.
#[derive(Clone, Copy, Debug)]
pub struct List<T, const N: usize> {
    items: [T; N],
    length: usize,
    /// Something did not fit.
    overflowed: bool,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// No items; `filler` is never seen.
    pub fn new(filler: T) -> Self {
        List {
            items: [filler; N],
            length: 0,
            overflowed: false,
        }
    }

    /// Appends an item if there is room.
    pub fn push(&mut self, item: T) {
        match self.items.get_mut(self.length) {
            Some(place) => {
                *place = item;
                self.length += 1;
            }
            None => self.overflowed = true,
        }
    }

    /// Whether something did not fit.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Whether there is room for so many more.
    pub fn has_room(&self, more: usize) -> bool {
        self.length + more <= N
    }

    /// Forgets all items.
    pub fn clear(&mut self) {
        self.length = 0;
        self.overflowed = false;
    }

    /// Removes the last item that is equal; whether there was one.
    pub fn remove(&mut self, item: &T) -> bool
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
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.length]
    }
}
