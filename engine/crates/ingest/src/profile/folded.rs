//! Folded stacks: `outer;inner;innermost 12`, one stack a line.

mod piece;

use std::thread;

use self::piece::{Piece, Taker};
use super::Format;
use super::collected::Collected;
use super::fault::{Fault, quote};
use super::input::{Input, lines};
use super::stacks::{FrameId, Stacks};
use super::units::{Decimals, value, whole};

/// The first line that is no comment ends with a number.
pub fn detect(input: &Input) -> bool {
    let mut records = input.first_lines().filter(|(_, line)| !is_comment(line));
    records
        .next()
        .and_then(|(_, line)| split(line))
        .is_some_and(|(path, _)| !path.is_empty())
}

/// Reads a profile.
pub fn read(input: &Input) -> Result<Collected, Fault> {
    if let Some(collected) = collect(input, None)? {
        return Ok(collected);
    }
    // Some counts have fractions: how fine they are must be known before the first is kept.
    let mut decimals = Decimals::default();
    for (_, line) in records(&input.text) {
        if let Some((_, count)) = split(line) {
            decimals.see(count);
        }
    }
    let collected = collect(input, Some(decimals))?;
    Ok(collected.expect("the decimals of all counts are known"))
}

/// Reads all stacks. `None` when counts have fractions and `decimals` are not known.
fn collect(input: &Input, decimals: Option<Decimals>) -> Result<Option<Collected>, Fault> {
    let pieces = piece::cut(&input.text);
    let unit = decimals.unwrap_or_default().unit("count");
    let mut reader = Reader {
        stacks: Stacks::new(vec![value("samples", &unit)], 0)?,
        decimals,
        placed: input.lines(),
        lines: 0,
        cut: None,
        stack: Vec::new(),
    };
    let whole = thread::scope(|scope| {
        let mut takers = Taker::all(scope, &pieces);
        let mut frames = vec![Vec::new(); takers.len()];
        for (n, text) in pieces.iter().enumerate() {
            input.watch.at(n as f64 / pieces.len() as f64)?;
            let taker = n % takers.len();
            let piece = takers[taker].next(text);
            let piece = piece.expect("a thread ends only when it has done its pieces");
            match reader.add(&piece, &mut frames[taker]) {
                Ok(()) => {}
                Err(Trouble::Fraction) => return Ok(false),
                Err(Trouble::Wrong(line)) => return Err(Fault::line(line, expected(input, line))),
                Err(Trouble::Fault(fault)) => return Err(fault),
            }
        }
        Ok(true)
    })?;
    if !whole {
        return Ok(None);
    }
    let Reader {
        mut stacks, cut, ..
    } = reader;
    if let Some(cut) = cut {
        if input.text.ends_with('\n') {
            return Err(Fault::line(cut, expected(input, cut)));
        }
        stacks.note(format!(
            "The file is cut short in line {cut}, which is left out."
        ));
    }
    let scale = decimals.unwrap_or_default().scale();
    if scale > 1.0 {
        stacks.note(format!(
            "Counts have fractions; they are kept as whole multiples of {}.",
            1.0 / scale
        ));
    }
    stacks.finish(Format::Folded).map(Some)
}

/// Makes stacks of pieces, in the file's order.
struct Reader {
    stacks: Stacks,
    /// `None` as long as all counts are whole.
    decimals: Option<Decimals>,
    /// Whether names may tell the line that ran.
    placed: bool,
    /// Lines before the piece.
    lines: usize,
    /// A line that holds something else. It may be the last one.
    cut: Option<usize>,
    stack: Vec<FrameId>,
}

/// Why reading ends.
enum Trouble {
    /// A count has a fraction.
    Fraction,
    /// A line in the middle holds something else.
    Wrong(usize),
    Fault(Fault),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Trouble::Fault(fault)
    }
}

impl Reader {
    /// Adds a piece. `frames` are those of its thread's names so far.
    fn add(&mut self, piece: &Piece, frames: &mut Vec<FrameId>) -> Result<(), Trouble> {
        if let Some(cut) = self.cut
            && !(piece.stacks.is_empty() && piece.wrong.is_none())
        {
            return Err(Trouble::Wrong(cut));
        }
        for name in &piece.names {
            frames.push(match self.placed {
                true => self.stacks.placed(name)?,
                false => self.stacks.frame(name, "", 0)?,
            });
        }
        let scale = self.decimals.unwrap_or_default().scale();
        let mut from = 0;
        for it in &piece.stacks {
            let line = self.lines + it.line as usize + 1;
            let mut decimals = Decimals::default();
            decimals.see(it.count);
            if self.decimals.is_none() && decimals != Decimals::default() {
                return Err(Trouble::Fraction);
            }
            let count = whole(it.count, scale).map_err(|fault| fault.at_line(line))?;
            self.stack.clear();
            let numbers = piece.frames[from..it.end as usize].iter();
            self.stack.extend(numbers.map(|&n| frames[n as usize]));
            let added = self.stacks.add(&self.stack, &[count]);
            added.map_err(|fault| fault.at_line(line))?;
            from = it.end as usize;
        }
        if let Some(wrong) = piece.wrong {
            let line = self.lines + wrong as usize + 1;
            if piece.goes_on {
                return Err(Trouble::Wrong(line));
            }
            self.cut = Some(line);
        }
        self.lines += piece.lines;
        Ok(())
    }
}

fn records(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter(|(_, line)| !line.trim().is_empty() && !is_comment(line))
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//")
}

/// The frames and the count. Frames may hold spaces; py-spy writes a space and the count for samples without a stack.
fn split(line: &str) -> Option<(&str, f64)> {
    let (path, count) = line.trim_end().rsplit_once([' ', '\t'])?;
    Some((path.trim(), count.parse().ok()?))
}

fn expected(input: &Input, number: usize) -> String {
    let line = input.text.lines().nth(number - 1).unwrap_or("");
    format!(
        "expected a stack and a count, as in main;work 12, got {}",
        quote(line.trim())
    )
}

#[cfg(test)]
mod tests {
    use crate::profile::testing::{check, check_fault};

    #[test]
    fn stacks_are_summed_by_path() {
        check(
            "# comment\n// another\na;b;c 1\r\na;b;c 1\na;b;d 4\n\na;b;c 3\na;b 5\n",
            "samples* 14
             a 0
             a;b 5
             a;b;c 5
             a;b;d 4",
        );
    }

    #[test]
    fn samples_without_a_stack_are_counted() {
        check(
            "a;b 1\n 2\n",
            "samples* 3
             [no stack] 2
             a 0
             a;b 1",
        );
    }

    #[test]
    fn stacks_of_many_pieces_are_summed_and_errors_have_their_line() {
        use std::fmt::Write as _;
        let mut text = String::new();
        let (mut lines, mut expect) = (0, vec![0_i64; 100]);
        // More than three pieces, in which names first occur at different places.
        while text.len() < 7 << 19 {
            let (a, b) = (lines % 10, (lines / 1000) % 10);
            writeln!(
                text,
                "main;caller{a};a function with a long name{b} {}",
                lines % 7
            )
            .unwrap();
            expect[a * 10 + b] += (lines % 7) as i64;
            lines += 1;
        }
        let read = |text: &str| crate::profile::read(text.as_bytes(), "x.folded");
        let profile = read(&text).expect("folded stacks");
        let crate::profile::Calls::Tree(tree) = profile.calls else {
            panic!("expected a tree");
        };
        assert_eq!(tree.total(0), expect.iter().sum::<i64>());
        let mut leaves = 0;
        for n in (0..tree.len()).filter(|&n| tree.ends()[n as usize] == n + 1) {
            let name = |n: u32| tree.frame(n).name.as_bytes().last().expect("a digit") - b'0';
            let (a, b) = (name(tree.parents()[n as usize]), name(n));
            let slot = usize::from(a) * 10 + usize::from(b);
            assert_eq!(tree.values(0)[n as usize], expect[slot], "{a} {b}");
            leaves += 1;
        }
        assert_eq!(leaves, 100);
        // As they come first in the file, however many threads took it apart.
        let names: Vec<_> = tree.frames()[..4].iter().map(|it| &*it.name).collect();
        assert_eq!(
            names,
            ["main", "caller0", "a function with a long name0", "caller1"]
        );
        for (more, line, problem) in [
            (
                "main -1\n",
                lines + 1,
                "expected a value of at least 0, got -1",
            ),
            ("nothing\nmain 1\n", lines + 1, "got \"nothing\""),
            ("\n\nnothing\n", lines + 3, "got \"nothing\""),
        ] {
            for rest in ["", &*text] {
                let error = read(&format!("{text}{more}{rest}")).expect_err(problem);
                assert_eq!(error.place, Some(crate::Place::Line(line as u64)));
                assert!(error.problem.ends_with(problem), "{}", error.problem);
            }
        }
        // The last line's fraction changes the unit of all.
        let profile = read(&format!("{text}main 0.5\n")).expect("folded stacks");
        assert_eq!(profile.value_types()[0].unit, "0.1 count");
    }

    #[test]
    fn frames_hold_spaces_and_counts_fractions() {
        check(
            "main (a.py:1);call to f 0.5\nmain (a.py:1)\t1.25\n",
            "samples 0.01 count* 175
             main (a.py:1) 125
             main (a.py:1);call to f 50
             note: Counts have fractions; they are kept as whole multiples of 0.01.",
        );
    }

    #[test]
    fn a_last_line_cut_short_is_left_out() {
        check(
            "a;b 1\na;c",
            "samples* 1
             a 0
             a;b 1
             note: The file is cut short in line 2, which is left out.",
        );
    }

    #[test]
    fn what_is_nearly_folded_is_an_error_at_its_line() {
        let expect = "expected a stack and a count, as in main;work 12, got \"invalid line\"";
        check_fault("a;b 1\ninvalid line\n", 2, expect);
        check_fault("a;b 1\ninvalid line\na 2\n", 2, expect);
        check_fault(
            "a;b 1\n\na;b -2\n",
            3,
            "expected a value of at least 0, got -2",
        );
        check_fault(
            "a;b 1\na;b NaN\n",
            2,
            "expected a value of at least 0, got NaN",
        );
        check_fault("a;b inf\n", 1, "the value inf is too large");
        let twice = "a 2000000000000000000\nb 2000000000000000000\n";
        let expect = "the values of type \"samples\" add up to more than 64 bits can hold: use a larger unit";
        check_fault(twice, 2, expect);
    }
}
