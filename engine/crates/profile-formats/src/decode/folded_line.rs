//! One line of folded stacks: a stack and its count. Detection and the reader of folded stacks share it.

use crate::collect::units::signed;
use crate::decode::fault::Fault;

/// Whether a line is a stack with a count.
pub(crate) fn is_stack(line: &str) -> bool {
    split(line).is_some_and(|(path, count)| !path.is_empty() && count.fraction().is_some())
}

/// Whether a line should be a stack: not empty and not a comment.
pub(crate) fn is_record(line: &str) -> bool {
    !line.trim().is_empty() && !is_comment(line)
}

/// `# …` and `// …`. A function may be called `#block` or `//route`: a line without that space that ends with a count is a
/// stack.
fn is_comment(line: &str) -> bool {
    let rest = line.strip_prefix('#').or_else(|| line.strip_prefix("//"));
    rest.is_some_and(|rest| {
        rest.starts_with(char::is_whitespace)
            || split(line).is_none_or(|(_, count)| count.fraction().is_none())
    })
}

/// The text after a stack, not yet parsed.
#[derive(Clone, Copy)]
pub(crate) struct Count<'t>(&'t str);

impl Count<'_> {
    /// Returns `None` when it is not a 64-bit whole number.
    pub(crate) fn whole(self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Returns `None` when it is not a number.
    pub(crate) fn fraction(self) -> Option<f64> {
        self.0.parse().ok()
    }

    /// The count times `scale`, rounded. Returns `None` when it is not a number.
    pub(crate) fn scaled(self, scale: f64) -> Option<Result<i64, Fault>> {
        match self
            .whole()
            .and_then(|count| count.checked_mul(scale as i64))
        {
            Some(count) => Some(Ok(count)),
            None => self.fraction().map(|count| signed(count, scale)),
        }
    }
}

/// The frames and the count. Frames may contain spaces. For a sample without a stack, py-spy writes a space and the count.
pub(crate) fn split(line: &str) -> Option<(&str, Count<'_>)> {
    let (path, count) = line.trim_end().rsplit_once([' ', '\t'])?;
    Some((path.trim(), Count(count)))
}
