//! One line: a stack, and how often it was seen.

use crate::collect::units::signed;
use crate::decode::fault::Fault;

/// Whether a line is a stack with its count.
pub(crate) fn is_stack(line: &str) -> bool {
    split(line).is_some_and(|(path, count)| !path.is_empty() && count.fraction().is_some())
}

/// Whether a line is to be a stack: not empty, and no comment.
pub(crate) fn is_record(line: &str) -> bool {
    !line.trim().is_empty() && !is_comment(line)
}

/// `# …` and `// …`. A function may be called `#block` or `//route`: what has no space there and ends with a count is a stack.
fn is_comment(line: &str) -> bool {
    let behind = line.strip_prefix('#').or_else(|| line.strip_prefix("//"));
    behind.is_some_and(|behind| {
        behind.starts_with(char::is_whitespace)
            || split(line).is_none_or(|(_, count)| count.fraction().is_none())
    })
}

/// What stands behind a stack, which is no number yet.
#[derive(Clone, Copy)]
pub(crate) struct Count<'t>(&'t str);

impl Count<'_> {
    /// `None` when it has a fraction, or is no whole number of 64 bits at all.
    pub(crate) fn whole(self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// `None` when it is no number.
    pub(crate) fn fraction(self) -> Option<f64> {
        self.0.parse().ok()
    }

    /// In parts of one: how many are in one is `scale`. `None` when it is no number.
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

/// The frames and what stands behind. Frames may hold spaces; py-spy writes a space and the count for samples without a stack.
pub(crate) fn split(line: &str) -> Option<(&str, Count<'_>)> {
    let (path, count) = line.trim_end().rsplit_once([' ', '\t'])?;
    Some((path.trim(), Count(count)))
}
