//! DTrace's output of counted stacks (`@[ustack()] = count()`): frames, innermost first, and a count below each stack.
//!
//! Libraries: inferno folds this output to text, without binaries and without the line of an error.

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::symbols::bracketed;
use crate::collect::units::value;
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};

/// Stacks between two progress reports.
const PROGRESS_STEP: u64 = 1 << 10;

/// Detects the heading that DTrace prints unless it is quiet, or a frame and a count on lines of their own.
pub(crate) fn detect(input: &Input) -> bool {
    let mut first = input.first_lines().map(|(_, line)| line);
    let is_headed = first.next().is_some_and(is_head);
    let any = |wanted: fn(&str) -> bool| input.first_lines().any(|(_, line)| wanted(line));
    is_headed || any(is_frame) && any(|line| count(line).is_some())
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut stacks = Stacks::new(vec![value("samples", "count")], 0)?;
    // The stack, innermost first, and its first line.
    let (mut stack, mut begins) = (Vec::new(), 0);
    let mut read = 0_u64;
    let mut rest = lines(input.text());
    while let Some((number, line)) = rest.next() {
        if is_head(line) {
            // The next line is the probe that ended the recording.
            rest.next();
        } else if let Some(count) = count(line) {
            if read.is_multiple_of(PROGRESS_STEP) {
                input.read_until_line(line)?;
            }
            read += 1;
            let count = count.map_err(|fault| fault.at_line(number))?;
            stack.reverse();
            let added = stacks.add(&stack, &[count]);
            added.map_err(|fault| fault.at_line(number))?;
            stack.clear();
        } else if !line.trim().is_empty() && !line.starts_with("dtrace:") {
            if stack.is_empty() {
                begins = number;
            }
            stack.push(frame(line.trim(), &mut stacks).map_err(|it| it.at_line(number))?);
        }
    }
    if !stack.is_empty() {
        stacks.note(format!(
            "The file is cut short: its last stack, from line {begins} on, has no count and is left out."
        ));
    }
    stacks.finish(Format::DTrace)
}

fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    ["CPU", "ID", "FUNCTION:NAME"]
        .iter()
        .all(|&word| words.next() == Some(word))
}

/// An indented frame. Lines of folded stacks end with a count instead.
fn is_frame(line: &str) -> bool {
    let function = line.trim().split_once('`').map(|(_, function)| function);
    line.starts_with([' ', '\t']) && function.is_some_and(|it| !it.contains([' ', ';']))
}

/// The count of a line that has nothing else.
fn count(line: &str) -> Option<Result<i64, Fault>> {
    let digits = line.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let too_large = || Fault::whole(format!("the count {} is too large", quote(digits)));
    is_number.then(|| digits.parse().map_err(|_| too_large()))
}

/// A frame ``module`function+0x1f``. Code without a name is ``module`0x1f``.
fn frame(text: &str, stacks: &mut Stacks) -> Result<FrameId, Fault> {
    let (module, function) = text.split_once('`').unwrap_or(("", text));
    let function = match function.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|it| it.is_ascii_hexdigit()) => name,
        _ => function,
    };
    match function.starts_with("0x") && !module.is_empty() {
        true => stacks.frame_in(&bracketed(module), "", 0, module),
        false => stacks.frame_in(function, "", 0, module),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const TEXT: &str = "\
CPU     ID                    FUNCTION:NAME
  1  29684                        :tick-60s 


              libc.so.1`write+0xa
              app`shop::pay(int)+0x1f
              app`main+0x2
                3

              app`0x10a3
              app`main+0x9
                1
              genunix`idle
               12
";

    #[test]
    fn stacks_have_the_counts_below_them() {
        let expect = "samples* 16
             idle 12
             main 0
             main;[app] 1
             main;shop::pay(int) 0
             main;shop::pay(int);write 3";
        check(TEXT, expect);
        // With -q, and with what dtrace says of itself.
        let quiet = TEXT.split_once(":tick-60s \n").expect("a head").1;
        check(
            quiet.replace(
                "                1\n",
                "dtrace: 5 drops on CPU 0\n                1\n",
            ),
            expect,
        );
        // What several recordings append to one file.
        check(
            [TEXT, TEXT].concat(),
            "samples* 32
             idle 24
             main 0
             main;[app] 2
             main;shop::pay(int) 0
             main;shop::pay(int);write 6",
        );
    }

    #[test]
    fn what_has_no_count_is_left_out() {
        check(
            TEXT.replace("               12\n", ""),
            "samples* 4
             main 0
             main;[app] 1
             main;shop::pay(int) 0
             main;shop::pay(int);write 3
             note: The file is cut short: its last stack, from line 13 on, has no count and is left out.",
        );
        check_fault(
            TEXT.replace("                3", "     93000000000000000000"),
            8,
            "the count \"93000000000000000000\" is too large",
        );
        check_fault(
            "CPU     ID                    FUNCTION:NAME\n  1  1  :END\n",
            0,
            "the profile has no samples",
        );
    }
}
