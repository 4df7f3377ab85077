//! Lines of a text that a reader leaves out because they are wrong. One bad line does not make a recording useless, but a text
//! of which most lines are wrong is something else.

use fulcrum_model::text::counted;

use crate::decode::fault::Fault;

/// Counts the lines that are left out, and keeps the first one.
#[derive(Debug, Default)]
pub(crate) struct WrongLines {
    count: u64,
    /// The first one, from 1, and what is wrong with it.
    first: Option<(usize, String)>,
}

impl WrongLines {
    /// Leaves out a line. `problem` is computed for the first one only.
    pub(crate) fn leave_out(&mut self, line: usize, problem: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(|| (line, problem()));
    }

    /// Leaves out lines that follow a wrong one and mean nothing without it.
    pub(crate) fn leave_out_too(&mut self, lines: u64) {
        self.count += lines;
    }

    /// The note about what was left out, if anything was. `read` is the number of lines that were read.
    ///
    /// # Errors
    /// When more lines were left out than read.
    pub(crate) fn note(self, read: u64) -> Result<Option<String>, Fault> {
        let Some((line, problem)) = self.first else {
            return Ok(None);
        };
        let count = self.count;
        if count > read {
            let all = count.saturating_add(read);
            let problem = format!("{problem}; {count} of {all} lines are wrong");
            return Err(Fault::line(line, problem));
        }
        Ok(Some(format!(
            "{} wrong and left out. The first is line {line}: {problem}.",
            counted(count, "line is", "lines are")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_line_is_told_and_too_many_are_refused() {
        let wrong = |lines: u64| {
            let mut wrong = WrongLines::default();
            for line in 0..lines as usize {
                wrong.leave_out(5 + line, || format!("expected a, got {line}"));
            }
            wrong
        };
        assert_eq!(wrong(0).note(0), Ok(None));
        let note = "2 lines are wrong and left out. The first is line 5: expected a, got 0.";
        assert_eq!(wrong(2).note(2), Ok(Some(note.to_owned())));
        let problem = "expected a, got 0; 3 of 5 lines are wrong";
        assert_eq!(wrong(3).note(2), Err(Fault::line(5, problem)));
    }
}
