//! Folded stacks: `outer;inner;innermost 12`, one stack a line.

use super::Format;
use super::collected::Collected;
use super::fault::{Fault, quote};
use super::input::{Input, lines};
use super::stacks::Stacks;
use super::units::{Decimals, value, whole};

/// The first line that is no comment ends with a number.
pub fn detect(input: &Input) -> bool {
    let mut records = input.first_lines().filter(|(_, line)| !is_comment(line));
    records
        .next()
        .is_some_and(|(_, line)| split(line).is_some())
}

/// Reads a profile.
pub fn read(input: &Input) -> Result<Collected, Fault> {
    let mut decimals = Decimals::default();
    for (_, line) in records(&input.text) {
        if let Some((_, count)) = split(line) {
            decimals.see(count);
        }
    }
    let samples = value("samples", &decimals.unit("count"));
    let mut stacks = Stacks::new(vec![samples], 0)?;
    let mut stack = Vec::new();
    let mut cut = None;
    for (number, line) in records(&input.text) {
        if let Some(cut) = cut {
            return Err(Fault::line(cut, expected(input, cut)));
        }
        let Some((path, count)) = split(line) else {
            cut = Some(number);
            continue;
        };
        let count = whole(count, decimals.scale()).map_err(|fault| fault.at_line(number))?;
        stack.clear();
        for name in path.split(';') {
            stack.push(stacks.frame(name, "", 0)?);
        }
        let added = stacks.add(&stack, &[count]);
        added.map_err(|fault| fault.at_line(number))?;
    }
    if let Some(cut) = cut {
        if input.text.ends_with('\n') {
            return Err(Fault::line(cut, expected(input, cut)));
        }
        stacks.note(format!(
            "The file is cut short in line {cut}, which is left out."
        ));
    }
    if decimals.scale() > 1.0 {
        stacks.note(format!(
            "Counts have fractions; they are kept as whole multiples of {}.",
            1.0 / decimals.scale()
        ));
    }
    stacks.finish(Format::Folded)
}

fn records(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter(|(_, line)| !line.trim().is_empty() && !is_comment(line))
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//")
}

/// The frames and the count. Frames may hold spaces.
fn split(line: &str) -> Option<(&str, f64)> {
    let (path, count) = line.trim().rsplit_once([' ', '\t'])?;
    let path = path.trim_end();
    let count = count.parse().ok()?;
    (!path.is_empty()).then_some((path, count))
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
