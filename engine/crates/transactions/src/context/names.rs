//! Names of functions, handlers, stages, threads and requests, by number.

use std::sync::Arc;

use super::interner::Interner;

/// The name for what belongs to no transaction.
pub const NO_TRANSACTION: &str = "no transaction";

/// A name's number in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub(crate) u32);

impl Name {
    /// `…`, in place of what was left out.
    pub const CUT: Name = Name(0);

    /// The position in [`Names::all`].
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A table of names.
#[derive(Clone, Debug)]
pub struct Names(Interner<Arc<str>>);

impl Default for Names {
    fn default() -> Self {
        Names::new()
    }
}

impl Names {
    /// The most names in a table. Later ones become [`Name::CUT`].
    pub const MOST: u32 = 1 << 20;

    /// A table that contains only [`Name::CUT`].
    pub fn new() -> Self {
        let mut names = Interner::new(Names::MOST);
        names.intern("…".into());
        Names(names)
    }

    /// The name's number, assigned if it is new.
    pub fn intern(&mut self, name: &str) -> Name {
        self.0.intern(name.into()).map_or(Name::CUT, Name)
    }

    /// The name's text.
    ///
    /// # Panics
    /// If the name belongs to another table.
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
    fn a_name_reads_as_it_was_written() {
        let mut names = Names::new();
        let (a, b) = (names.intern("ap_queue_push"), names.intern(""));
        assert_eq!((names.text(a), names.text(b)), ("ap_queue_push", ""));
        assert_eq!(names.text(Name::CUT), "…");
        assert_eq!(names.intern("ap_queue_push"), a);
    }
}
