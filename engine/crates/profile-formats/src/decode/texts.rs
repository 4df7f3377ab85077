//! Limits for names. Files store a name once and refer to it by number, so a small file could ask for many copies of a long
//! one.

use crate::decode::fault::Fault;

/// The longest name in bytes. The rest is cut.
pub(crate) const MAX_NAME: usize = 64 << 10;
/// The most bytes that a profile's names and files may have together.
const ALL: usize = 1 << 30;

/// Counts the bytes of a profile's names.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: usize,
}

impl Texts {
    /// Counts a text before it is copied.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), Fault> {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > ALL {
            let problem = format!("the names of functions have more than {ALL} bytes together");
            return Err(Fault::whole(problem));
        }
        Ok(())
    }
}

/// A name, cut to [`MAX_NAME`] bytes.
pub(crate) fn cut(name: &str) -> &str {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let long = "é".repeat(MAX_NAME / 2) + "x";
        assert_eq!(cut(&long), &long[..MAX_NAME]);
        assert_eq!(cut(&format!("x{long}")).len(), MAX_NAME - 1);
    }

    #[test]
    fn a_gigabyte_of_names_is_refused() {
        let name = "x".repeat(MAX_NAME);
        let mut texts = Texts::default();
        let most = (0..).take_while(|_| texts.add(&name).is_ok()).count();
        assert_eq!(most, ALL / MAX_NAME);
    }
}
