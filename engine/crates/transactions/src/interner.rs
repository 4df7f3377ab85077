//! Values by number, each once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Values in the order in which they first came.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
    limit: u32,
}

impl<T: Clone + Eq + Hash> Interner<T> {
    pub fn new(limit: u32) -> Self {
        Interner {
            values: Vec::new(),
            numbers: HashMap::new(),
            limit,
        }
    }

    /// The value's number, a new one if it is new; `None` when there are as many as the limit allows.
    pub fn intern(&mut self, value: T) -> Option<u32> {
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

    pub fn values(&self) -> &[T] {
        &self.values
    }
}

/// The number of a name in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub(crate) u32);

impl Name {
    /// `…`: what was left out.
    pub const CUT: Name = Name(0);

    /// The position in [`Names::all`].
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Names of functions, handlers, stages, threads and requests.
#[derive(Clone, Debug)]
pub struct Names(Interner<Arc<str>>);

impl Default for Names {
    fn default() -> Self {
        Names::new()
    }
}

impl Names {
    /// The most names in a table. Later ones read [`Name::CUT`].
    pub const MOST: u32 = 1 << 20;

    /// A table with nothing but [`Name::CUT`].
    pub fn new() -> Self {
        let mut names = Interner::new(Names::MOST);
        names.intern("…".into());
        Names(names)
    }

    /// The name's number, a new one if it is new.
    pub fn intern(&mut self, name: &str) -> Name {
        self.0.intern(name.into()).map_or(Name::CUT, Name)
    }

    /// The name.
    ///
    /// # Panics
    /// When it is another table's.
    pub fn text(&self, name: Name) -> &str {
        &self.0.values()[name.0 as usize]
    }

    /// All names by number.
    pub fn all(&self) -> &[Arc<str>] {
        self.0.values()
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

    #[test]
    fn a_name_reads_as_it_was_written() {
        let mut names = Names::new();
        let (a, b) = (names.intern("ap_queue_push"), names.intern(""));
        assert_eq!((names.text(a), names.text(b)), ("ap_queue_push", ""));
        assert_eq!(names.text(Name::CUT), "…");
        assert_eq!(names.intern("ap_queue_push"), a);
    }
}
