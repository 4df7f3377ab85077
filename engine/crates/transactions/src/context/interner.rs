//! Values by number, each kept once.

use std::collections::HashMap;
use std::hash::Hash;

/// Values in order of first appearance.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
    limit: u32,
}

impl<T: Clone + Eq + Hash> Interner<T> {
    pub(crate) fn new(limit: u32) -> Self {
        Interner {
            values: Vec::new(),
            numbers: HashMap::new(),
            limit,
        }
    }

    /// The value's number, assigned if it is new, or `None` if the limit has been reached.
    pub(crate) fn intern(&mut self, value: T) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&value) {
            return Some(number);
        }
        let number = self.values.len() as u32;
        if number >= self.limit {
            return None;
        }
        self.numbers.insert(value.clone(), number);
        self.values.push(value);
        Some(number)
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number_and_a_full_table_knows_the_old_ones() {
        let mut interner = Interner::new(2);
        let numbers = ["a", "b", "a", "c", "b"].map(|it| interner.intern(it));
        assert_eq!(numbers, [Some(0), Some(1), Some(0), None, Some(1)]);
        assert_eq!(interner.values(), ["a", "b"]);
    }
}
