//! Drift: where a line of the recorded source is in the current source.
//!
//! The two texts are compared line by line, ignoring white space around a line, so that indenting a block does not lose its
//! results. A line that the comparison drops is found elsewhere if its text is unique in both texts, so that a function that was
//! moved keeps its results.

pub(crate) mod line_mapping;

use std::collections::HashMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Whether a line is still what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The same text at the same line number.
    Exact,
    /// The same text at another line number.
    Moved,
    /// Changed or deleted.
    Stale,
}

/// Where a recorded line is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The 1-based line in the current text. For a stale line, where it would be.
    pub line: u32,
    /// Whether the line is still the same.
    pub state: State,
}

/// Where every line of an old text is in a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchors {
    lines: Vec<Anchor>,
    /// The lines that were deleted and not moved.
    gone: Vec<bool>,
    last: u32,
}

impl Anchors {
    /// Compares two texts.
    pub fn new(old: &str, new: &str) -> Anchors {
        let old: Vec<&str> = old.lines().map(str::trim).collect();
        let new: Vec<&str> = new.lines().map(str::trim).collect();
        let last = new.len().max(1) as u32;
        let mut lines = vec![
            Anchor {
                line: 1,
                state: State::Stale
            };
            old.len()
        ];
        let mut gone = vec![false; old.len()];
        for op in capture_diff_slices(Algorithm::Histogram, &old, &new) {
            match op {
                DiffOp::Equal {
                    old_index,
                    new_index,
                    len,
                } => {
                    for n in 0..len {
                        lines[old_index + n] = at(old_index + n, new_index + n);
                    }
                }
                DiffOp::Delete {
                    old_index,
                    old_len,
                    new_index,
                } => {
                    stale(
                        &mut lines[old_index..old_index + old_len],
                        new_index,
                        0,
                        last,
                    );
                    gone[old_index..old_index + old_len].fill(true);
                }
                DiffOp::Replace {
                    old_index,
                    old_len,
                    new_index,
                    new_len,
                } => {
                    stale(
                        &mut lines[old_index..old_index + old_len],
                        new_index,
                        new_len,
                        last,
                    );
                    let kept = old_len.min(new_len);
                    gone[old_index + kept..old_index + old_len].fill(true);
                }
                DiffOp::Insert { .. } => {}
            }
        }
        let mut anchors = Anchors { lines, gone, last };
        anchors.find_moved(&old, &new);
        anchors
    }

    /// Finds dropped lines elsewhere.
    fn find_moved(&mut self, old: &[&str], new: &[&str]) {
        let lines = &mut self.lines;
        let (old_unique, new_unique) = (unique(old), unique(new));
        for (n, text) in old.iter().enumerate() {
            if lines[n].state == State::Stale
                && old_unique.contains_key(text)
                && let Some(&now) = new_unique.get(text)
            {
                lines[n] = at(n, now);
            }
        }
        // A moved line takes its neighbours along: a brace is not unique, but the block that it closes is.
        for n in 1..old.len() {
            let now = lines[n - 1].line as usize;
            if lines[n].state == State::Stale
                && lines[n - 1].state != State::Stale
                && new.get(now) == Some(&old[n])
            {
                lines[n] = at(n, now);
            }
        }
    }

    /// The 1-based line that replaced a line: the line itself, or what it was changed to. `None` if it was deleted.
    pub fn successor(&self, line: u32) -> Option<u32> {
        let index = (line as usize).checked_sub(1)?;
        let anchor = self.lines.get(index)?;
        let deleted = anchor.state == State::Stale && self.gone[index];
        (!deleted).then_some(anchor.line)
    }

    /// The anchor of a 1-based recorded line. A line past the end of the recorded text is stale.
    pub fn anchor(&self, recorded: u32) -> Anchor {
        let index = (recorded as usize).checked_sub(1);
        index
            .and_then(|n| self.lines.get(n))
            .copied()
            .unwrap_or(Anchor {
                line: recorded.clamp(1, self.last),
                state: State::Stale,
            })
    }
}

fn at(old: usize, new: usize) -> Anchor {
    let state = if old == new {
        State::Exact
    } else {
        State::Moved
    };
    Anchor {
        line: new as u32 + 1,
        state,
    }
}

fn stale(lines: &mut [Anchor], new_index: usize, new_len: usize, last: u32) {
    for (n, anchor) in lines.iter_mut().enumerate() {
        let line = new_index + n.min(new_len.saturating_sub(1));
        *anchor = Anchor {
            line: (line as u32 + 1).min(last),
            state: State::Stale,
        };
    }
}

/// Lines that occur once and have at least four letters or digits, with their index.
fn unique<'t>(lines: &[&'t str]) -> HashMap<&'t str, usize> {
    let mut seen: HashMap<&str, Option<usize>> = HashMap::new();
    for (n, line) in lines.iter().enumerate() {
        if line.chars().filter(|c| c.is_alphanumeric()).count() >= 4 {
            seen.entry(line)
                .and_modify(|at| *at = None)
                .or_insert(Some(n));
        }
    }
    seen.into_iter()
        .filter_map(|(line, n)| Some((line, n?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expect`: for each old line, where it is now: `=n`, `>n` (moved) or `?n` (stale).
    fn check(old: &str, new: &str, expect: &str) {
        let anchors = Anchors::new(old, new);
        let got: Vec<String> = (1..=old.lines().count() as u32)
            .map(|line| {
                let anchor = anchors.anchor(line);
                let mark = match anchor.state {
                    State::Exact => '=',
                    State::Moved => '>',
                    State::Stale => '?',
                };
                format!("{mark}{}", anchor.line)
            })
            .collect();
        assert_eq!(got.join(" "), expect, "{old:?} to {new:?}");
    }

    #[test]
    fn lines_are_exact_moved_or_stale() {
        check("a\nb\nc\n", "a\nb\nc\n", "=1 =2 =3");
        check("a\nb\nc\n", "a\nb\nc", "=1 =2 =3");
        check("a\nb\nc\n", "x\na\nb\nc\n", ">2 >3 >4");
        check("a\nb\nc\n", "a\nx\ny\nc\n", "=1 ?2 >4");
        check("a\nb\nc\n", "a\nc\n", "=1 ?2 >2");
        check("a\nb\nc\n", "a\nb\n", "=1 =2 ?2");
        check("a\nb\n", "", "?1 ?1");
        check("", "a\n", "");
    }

    #[test]
    fn indentation_and_line_breaks_are_not_changes() {
        check(
            "f();\n  g();\nh();\n",
            "f();\r\n    g();\r\nh();\r\n",
            "=1 =2 =3",
        );
        check(
            "for (;;)\n  work();\n",
            "if (x) {\n  for (;;)\n    work();\n}\n",
            ">2 >3",
        );
    }

    #[test]
    fn a_moved_function_keeps_its_lines() {
        check(
            "void first() {\n  alpha();\n}\nvoid second() {\n  beta();\n  gamma();\n  delta();\n}\n",
            "void second() {\n  beta();\n  gamma();\n  delta();\n}\nvoid first() {\n  alpha();\n}\n",
            ">6 >7 >8 >1 >2 >3 >4 >5",
        );
    }

    #[test]
    fn lines_outside_the_recorded_text_are_stale() {
        let anchors = Anchors::new("a\nb\n", "a\nb\nc\n");
        for line in [0, 3, 99] {
            assert_eq!(anchors.anchor(line).state, State::Stale, "{line}");
        }
        assert_eq!(anchors.anchor(99).line, 3);
    }
}
