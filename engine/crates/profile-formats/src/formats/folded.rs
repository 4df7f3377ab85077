//! Folded stacks: `outer;inner;innermost 12`, one stack per line.
//!
//! Libraries: inferno reads this format only to draw it. Files have gigabytes, so several threads read pieces of the text,
//! and most of a stack is recognised by the hash of its beginning, without interning each frame's name.

mod piece;
mod prefixes;
pub(crate) mod text;

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::thread;

use fulcrum_model::call_tree::{CallTreeError, Forest, MAX_MAGNITUDE, Sorted};

use self::piece::{End, EndReason, Part};
use self::text::{Place, Text};
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::{Decimals, value};
use crate::decode::fault::Fault;
use crate::decode::folded_line::{is_record, is_stack, split};
use crate::decode::input::Input;
use crate::decode::wrong_lines::WrongLines;
use crate::{Format, Grain};

/// Detects a count at the end of the first line that is not a comment. Messages of the profiler may come first: then most
/// lines must be stacks with callers.
pub(crate) fn detect(input: &Input) -> bool {
    let lines = input.first_lines().map(|(_, line)| line);
    let mut records = lines.filter(|line| is_record(line)).peekable();
    if records.peek().is_some_and(|line| is_stack(line)) {
        return true;
    }
    let (mut all, mut stacks) = (0, 0);
    for line in records {
        all += 1;
        stacks += usize::from(line.contains(';') && is_stack(line));
    }
    2 * stacks > all
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    // Each thread checks itself whether its pieces are UTF-8.
    let bytes = match input.is_verbatim() {
        true => input.bytes,
        false => input.text().as_bytes(),
    };
    read_text(input, Text::Held(bytes))
}

/// Reads a text that begins as `input` does.
pub(crate) fn read_text(input: &Input, text: Text<'_>) -> Result<Collected, Fault> {
    if let Some(collected) = collect(input, text, None)? {
        return Ok(collected);
    }
    // Some counts have fractions. The number of decimals must be known before the first count is kept.
    let mut decimals = Decimals::default();
    text.each(|piece| {
        for line in records(&piece.text) {
            if let Some((_, count)) = split(line)
                && let Some(count) = count.fraction().filter(|it| it.is_finite())
            {
                decimals.include(count);
            }
        }
        Ok(None::<()>)
    })?;
    let collected = collect(input, text, Some(decimals))?;
    Ok(collected.expect("the decimals of all counts are known"))
}

/// Reads all stacks. Returns `None` when counts have fractions and `decimals` is unknown.
fn collect(
    input: &Input,
    text: Text<'_>,
    decimals: Option<Decimals>,
) -> Result<Option<Collected>, Fault> {
    let mut parts = piece::read_all(text, decimals, &input.progress)?;
    let scale = decimals.unwrap_or_default().scale();
    let cut = match end(text, &mut parts, scale)? {
        Some(End {
            at,
            reason: EndReason::Cut,
        }) => Some(text.line_number(at)?),
        Some(End {
            reason: EndReason::Fraction,
            ..
        }) => return Ok(None),
        Some(End { at, reason }) => return Err(fault(reason).at_line(text.line_number(at)?)),
        None => None,
    };
    let left_out = left_out(text, &mut parts)?;
    let unit = decimals.unwrap_or_default().unit("count");
    let mut stacks = Stacks::signed(vec![value(SAMPLES, &unit)], 0)?;
    join(parts, input.grain, &mut stacks)?;
    left_out.into_iter().for_each(|note| stacks.note(note));
    if let Some(cut) = cut {
        stacks.note(format!(
            "The file is cut short in line {cut}, which is left out."
        ));
    }
    if has_two_counts(input) {
        stacks.note(
            "Each stack has two numbers, and the first is read as the end of its function's name. If this is a file of \
             differences, open the two profiles that it was made of and compare them.",
        );
    }
    if scale > 1.0 {
        stacks.note(format!(
            "Counts have fractions; they are kept as whole multiples of {}.",
            1.0 / scale
        ));
    }
    stacks.finish(Format::Folded).map(Some)
}

/// The note about lines that are left out. A text is refused if more of its lines are wrong than right, or if some are wrong and
/// no stack has a caller: prose and tables of numbers are no stacks.
fn left_out(text: Text<'_>, parts: &mut [Part]) -> Result<Option<String>, Fault> {
    let count: u64 = parts.iter().map(|part| part.wrong.count).sum();
    let right = parts.iter().map(|part| part.wrong.right).sum();
    let firsts = parts.iter_mut().filter_map(|part| part.wrong.first.take());
    let Some((at, problem)) = firsts.min_by_key(|(at, _)| *at) else {
        return Ok(None);
    };
    let line = text.line_number(at)?;
    if !has_callers(text)? {
        return Err(Fault::line(line, problem));
    }
    let mut wrong = WrongLines::default();
    wrong.leave_out(line, || problem);
    wrong.leave_out_too(count - 1);
    wrong.note(right)
}

/// Whether a stack has more than one frame.
fn has_callers(text: Text<'_>) -> Result<bool, Fault> {
    let found = text.each(|piece| {
        let stacks = records(&piece.text).filter_map(|line| Some(split(line)?.0));
        Ok(stacks.into_iter().find(|it| it.contains(';')).map(|_| ()))
    });
    Ok(found?.is_some())
}

/// The value type's name.
const SAMPLES: &str = "samples";

fn fault(reason: EndReason) -> Fault {
    match reason {
        EndReason::Fault(fault) => fault,
        EndReason::TooMuch => {
            let value = SAMPLES.to_owned();
            CallTreeError::TooMuchCost { value }.into()
        }
        EndReason::Fraction | EndReason::Cut => unreachable!("the caller handles these"),
    }
}

/// Where the sum of all counts exceeds the limit, if it does before reading ends.
enum Sum {
    Fits,
    Exceeds(Place),
}

/// The first place where reading ends, if it ends before the text does, and why.
fn end(text: Text<'_>, parts: &mut [Part], scale: f64) -> Result<Option<End>, Fault> {
    let sum: u128 = parts.iter().map(|part| part.sum).sum();
    let ends = parts.iter_mut().filter_map(|part| part.end.take());
    let first = ends.min_by_key(|end| end.at);
    if sum <= MAX_MAGNITUDE as u128 {
        return Ok(first);
    }
    // All counts together are too much. The line is found by adding them in order.
    let before = first.as_ref().map(|end| end.at);
    let mut sum = 0;
    let crossed = text.each(|piece| {
        for line in records(&piece.text) {
            let at = piece.place(line);
            if before.is_some_and(|before| at >= before) {
                return Ok(Some(Sum::Fits));
            }
            let count = split(line).and_then(|(_, count)| count.scaled(scale)?.ok());
            sum += count.map_or(0, |count| u128::from(count.unsigned_abs()));
            if sum > MAX_MAGNITUDE as u128 {
                return Ok(Some(Sum::Exceeds(at)));
            }
        }
        Ok(None)
    })?;
    let reason = EndReason::TooMuch;
    Ok(match crossed {
        Some(Sum::Exceeds(at)) => Some(End { at, reason }),
        Some(Sum::Fits) | None => first,
    })
}

/// Joins the stacks of all parts.
fn join(parts: Vec<Part>, grain: Grain, stacks: &mut Stacks) -> Result<(), Fault> {
    let frame = |stacks: &mut Stacks, name: &str| match grain {
        Grain::Lines => stacks.placed(name),
        Grain::Functions => stacks.frame(name, "", 0),
    };
    // In the order of the text, whichever thread saw them first.
    let mut names: Vec<(Place, usize, u32)> = Vec::new();
    for (part, it) in parts.iter().enumerate() {
        let places = it.prefixes.places().iter().zip(0..);
        names.extend(places.map(|(&place, number)| (place, part, number)));
    }
    names.sort_unstable();
    let mut ids: Vec<Vec<FrameId>> = vec![Vec::new(); parts.len()];
    for (_, part, number) in names {
        ids[part].push(frame(stacks, parts[part].prefixes.name(number))?);
    }
    let mut bare: Option<i64> = None;
    let mut deep = Vec::new();
    let mut forests = Vec::new();
    for part in parts {
        // The sum of all counts was checked above.
        bare = part
            .bare
            .map_or(bare, |count| Some(bare.unwrap_or(0) + count));
        deep.extend(part.deep);
        forests.push(part.prefixes.forest);
    }
    let sort = |(forest, ids): (Forest, &Vec<FrameId>)| forest.sort(ids);
    let mut forests = forests.into_iter().zip(&ids);
    let first = forests.next();
    let sorted: Vec<Sorted> = thread::scope(|scope| {
        let threads: Vec<_> = forests.map(|it| scope.spawn(move || sort(it))).collect();
        let first = first.map(sort);
        let others = threads
            .into_iter()
            .map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
        first.into_iter().chain(others).collect()
    });
    sorted.into_iter().try_for_each(|it| stacks.graft(it))?;
    if let Some(count) = bare {
        stacks.add(&[], &[count])?;
    }
    deep.sort_unstable_by_key(|&(place, ..)| place);
    for (_, stack, count) in deep {
        let frames = stack.split(';').map(|name| frame(stacks, name));
        let frames: Vec<_> = frames.collect::<Result<_, _>>()?;
        stacks.add(&frames, &[count])?;
    }
    Ok(())
}

fn records(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| is_record(line))
}

/// Whether each stack occurs once, with two numbers, as in the output of `difffolded.pl`. Functions' names may end with a
/// number too.
fn has_two_counts(input: &Input) -> bool {
    let records = || input.first_lines().filter(|(_, line)| is_record(line));
    let two = |(_, line)| {
        let (path, _) = split(line)?;
        let (path, before) = split(path)?;
        before.whole().map(|_| path)
    };
    let stacks: Option<HashSet<&str>> = records().map(two).collect();
    let lines = records().count();
    lines > 1 && stacks.is_some_and(|stacks| stacks.len() == lines)
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

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
    fn a_function_may_begin_as_a_comment_does() {
        check(
            "# a;b 1\n#comment\n//\n// c 4\n#<Class:Shop>#each;block 2\n//route;get 3\n",
            "samples* 5
             #<Class:Shop>#each 0
             #<Class:Shop>#each;block 2
             //route 0
             //route;get 3",
        );
    }

    #[test]
    fn the_first_function_may_begin_as_json_does() {
        for name in ["[unknown]", "[kernel.kallsyms]", "{closure}", "[0]", "{}"] {
            check(
                format!("{name};main 3\n{name} 1\n"),
                &format!("samples* 4\n{name} 1\n{name};main 3"),
            );
        }
    }

    #[test]
    fn a_bell_in_a_name_is_text() {
        check("a\u{7}b 1\n", "samples* 1\na\u{7}b 1");
    }

    #[test]
    fn lines_may_end_with_carriage_returns_alone() {
        check("a;b 1\ra;c 2\r", "samples* 3\na 0\na;b 1\na;c 2");
        check_fault(
            "a 1\rnothing\ra 2\r",
            2,
            "expected a stack and a count, as in main;work 12, got \"nothing\"",
        );
    }

    #[test]
    fn large_counts_are_exact() {
        check(
            "a 9007199254740993\nb 1e3\nc +2\n",
            "samples* 9007199254741995
             a 9007199254740993
             b 1000
             c 2",
        );
        // In tenths.
        check(
            "a 900719925474099\nb 0.5\n",
            "samples 0.1 count* 9007199254740995
             a 9007199254740990
             b 5
             note: Counts have fractions; they are kept as whole multiples of 0.1.",
        );
    }

    #[test]
    fn two_counts_may_be_a_file_of_differences() {
        check(
            "a;b 10 20\na;c 3 1\n",
            "samples* 21
             a 0
             a;b 10 20
             a;c 3 1
             note: Each stack has two numbers, and the first is read as the end of its function's name. If this is a file of differences, open the two profiles that it was made of and compare them.",
        );
        // Functions with numbers in their names.
        check(
            "a;step 1 20\na;step 2 1\n",
            "samples* 21
             a 0
             a;step 1 20
             a;step 2 1",
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
        let read = |text: &str| crate::read(text.as_bytes(), "x.folded");
        let profile = read(&text).expect("folded stacks");
        let crate::Calls::Tree(tree) = profile.calls else {
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
            ("main NaN\n", lines + 1, "expected a number, got NaN"),
            ("nothing\nmain 1\n", lines + 1, "got \"nothing\""),
            ("\n\nnothing\n", lines + 3, "got \"nothing\""),
        ] {
            for rest in ["", &*text] {
                let profile = read(&format!("{text}{more}{rest}")).expect("the rest is right");
                let place = format!(" The first is line {line}: ");
                let note = &profile.notes[0];
                assert!(note.contains(&place), "{note}");
                assert!(note.ends_with(&format!("{problem}.")), "{note}");
            }
        }
        let error = read(&format!("{text}main 1e300\n")).expect_err("too large");
        assert_eq!(
            error.place,
            Some(fulcrum_model::Place::Line(lines as u64 + 1))
        );
        // The last line's fraction changes the unit of all.
        let profile = read(&format!("{text}main 0.5\n")).expect("folded stacks");
        assert_eq!(profile.value_types()[0].unit, "0.1 count");
    }

    /// A text that is not held, and the most that was read of it at once.
    struct Elsewhere {
        bytes: Vec<u8>,
        most: std::sync::atomic::AtomicUsize,
    }

    impl crate::ReadAt for Elsewhere {
        fn length(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_exact_at(&self, into: &mut [u8], at: u64) -> std::io::Result<()> {
            self.most
                .fetch_max(into.len(), std::sync::atomic::Ordering::Relaxed);
            let from = at as usize;
            let part = self.bytes.get(from..from + into.len());
            into.copy_from_slice(part.ok_or(std::io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
    }

    #[test]
    fn a_text_that_is_not_held_gives_the_same_profile() {
        use crate::{Calls, LargeText, Limits, begins_folded, read, read_large_text};
        let line = |n: usize| format!("main;caller{};work{} {}\n", n % 7, n % 1001, n % 5);
        let text: String = (0..200_000).map(line).collect();
        let deep = "deep".to_owned() + &";f".repeat(crate::MAX_DEPTH) + " 5\n";
        let half = format!("main {}\n", i64::MAX / 8 + 1);
        let with = |more: &[u8]| [text.as_bytes(), more, text.as_bytes()].concat();
        for bytes in [
            with(b""),
            with(b"main;caf\xe9 5\n\xe9;new 7\n 3\n"),
            with(deep.as_bytes()),
            with(b"main 0.25\n"),
            with(b"nothing\n"),
            with("nothing\n".repeat(500_000).as_bytes()),
            [text.as_bytes(), b"a;cut of"].concat(),
            [half.as_bytes(), text.as_bytes(), half.as_bytes()].concat(),
        ] {
            let head = &bytes[..1 << 20];
            assert!(begins_folded(head));
            let elsewhere = Elsewhere {
                bytes: bytes.clone(),
                most: 0.into(),
            };
            let large = LargeText {
                bytes: &elsewhere,
                head,
            };
            let nobody = fulcrum_model::Progress::default();
            let found = read_large_text(&large, "x", Limits::default(), &nobody);
            let found = found.map(|profile| profile.expect("nobody stops it"));
            match (read(&bytes, "x"), found) {
                (Ok(held), Ok(found)) => {
                    let (Calls::Tree(held_tree), Calls::Tree(tree)) = (&held.calls, &found.calls)
                    else {
                        panic!("expected trees");
                    };
                    assert!(tree == held_tree);
                    assert_eq!(found.notes, held.notes);
                }
                (held, found) => assert_eq!(found.map(|_| ()), held.map(|_| ())),
            }
            assert!(elsewhere.most.into_inner() <= super::text::SIZE + 1);
        }
    }

    #[test]
    fn only_what_must_be_folded_stacks_is_read_piece_by_piece() {
        use crate::begins_folded;
        let many = |line: &str| line.repeat((1 << 20) / line.len());
        for line in ["main;work 12\n", "[unknown];main 3\n", "# comment\na 1\n"] {
            assert!(begins_folded(many(line).as_bytes()), "{line}");
        }
        // Too little, no lines, other formats, and what stands around a text.
        for text in [
            "main;work 12\n",
            &many("main 1\r"),
            &many("a b c\n"),
            &many("{\"traceEvents\": []}\n"),
            &("\u{feff}".to_owned() + &many("main 1\n")),
            &("events: Ir\n".to_owned() + &many("fn=main\n1 2\n")),
        ] {
            assert!(
                !begins_folded(text.as_bytes()),
                "{}",
                &text[..20.min(text.len())]
            );
        }
    }

    #[test]
    fn names_that_are_no_utf8_are_read_as_everywhere_else() {
        // In one piece of many; the others are read anew as well.
        let many = "main;work 1\n".repeat(200_000);
        let mut bytes = many.clone().into_bytes();
        bytes.extend(b"main;caf\xe9 5\nmain;\xe9\xe9 7\n");
        bytes.extend(many.into_bytes());
        check(
            bytes,
            "samples* 400012
             main 0
             main;caf\u{fffd} 5
             main;work 400000
             main;\u{fffd}\u{fffd} 7",
        );
    }

    #[test]
    fn stacks_that_are_too_deep_keep_their_innermost_frames() {
        let deep = |outer: &str| outer.to_owned() + &";f".repeat(crate::MAX_DEPTH);
        let text = format!("{} 2\nmain;f 1\n{} 3\n", deep("main"), deep("other"));
        let profile = crate::read(text.as_bytes(), "x").expect("folded stacks");
        let crate::Calls::Tree(tree) = &profile.calls else {
            panic!("expected a tree");
        };
        let roots: Vec<_> = tree.roots().map(|n| &*tree.frame(n).name).collect();
        assert_eq!(roots, ["main", "[truncated]"]);
        assert_eq!((tree.total(0), tree.len()), (6, 3 + 4096));
        assert_eq!(tree.values(0).last(), Some(&5));
        assert_eq!(
            profile.notes,
            ["2 stacks have more than 4096 frames; their innermost ones are under [truncated]."]
        );
    }

    #[test]
    fn names_that_are_read_alike_are_one_frame() {
        let long = "x".repeat(crate::decode::texts::MAX_NAME);
        let text =
            format!("a;;c 1\na;[unknown];c 2\na;{long}1 4\na;{long}2 8\n[no stack] 16\n 32\n");
        check(
            text,
            &format!(
                "samples* 63
                 [no stack] 48
                 a 0
                 a;[unknown] 0
                 a;[unknown];c 3
                 a;{long} 12"
            ),
        );
    }

    #[test]
    fn the_first_thing_that_is_wrong_is_told_whichever_thread_finds_it() {
        let many = "main;work 1\n".repeat(200_000);
        let line = 200_001;
        let problem = "the value 1000000000000000000000000000000 is too large";
        let others = "main 1e40\nwrong\n".repeat(200_000);
        check_fault(format!("{many}main 1e30\n{many}{others}"), line, problem);
        // Each half alone would not be too much.
        let half = format!("main {}\n", i64::MAX / 8 + 1);
        let text = format!("{half}{many}{half}{many}nothing\n{many}");
        let problem = "the values of type \"samples\" add up to more than 64 bits can hold: use a larger unit";
        check_fault(text, line + 1, problem);
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
    fn counts_may_be_of_a_difference() {
        check(
            "a;b -3\na;b 1\na;c 2.5\n",
            "samples 0.1 count* 5
             a 0
             a;b -20
             a;c 25
             note: Counts have fractions; they are kept as whole multiples of 0.1.
             note: Some values of \"samples\" are negative, as in the difference of two profiles.",
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
    fn lines_that_are_no_stacks_are_left_out() {
        let note = "2 lines are wrong and left out. The first is line 2: expected a stack and a count, as in \
                    main;work 12, got \"invalid line\".";
        check(
            "a;b 1\ninvalid line\na;c 2\na;b NaN\n",
            &format!("samples* 3\na 0\na;b 1\na;c 2\nnote: {note}"),
        );
        // A count that is no number does not make the others fractions of anything.
        check(
            "a;b 1\na;b inf\na;b NaN\na;c 2.5\n",
            "samples 0.1 count* 35
             a 0
             a;b 10
             a;c 25
             note: 2 lines are wrong and left out. The first is line 2: expected a number, got inf.
             note: Counts have fractions; they are kept as whole multiples of 0.1.",
        );
        // What a profiler says before its stacks.
        check(
            "Warning: 3 chunks lost!\na;b 1\na;c 2\n",
            "samples* 3
             a 0
             a;b 1
             a;c 2
             note: 1 line is wrong and left out. The first is line 1: expected a stack and a count, as in main;work 12, got \"Warning: 3 chunks lost!\".",
        );
    }

    #[test]
    fn other_text_is_not_folded() {
        let expect = "expected a stack and a count, as in main;work 12, got \"invalid line\"";
        check_fault(
            "a;b 1\ninvalid line\n\nanother\n",
            2,
            &format!("{expect}; 2 of 3 lines are wrong"),
        );
        // Without a caller anywhere, a text need not be stacks at all.
        check_fault("a 1\ninvalid line\na 2\n", 2, expect);
        check_fault("a 1\na NaN\n", 2, "expected a number, got NaN");
        for text in [
            "Dear reader;\nthis is chapter 1\nof a story; it has no\nend, but page 3\n",
            "Warning\nmain;work 12\n",
        ] {
            let error = crate::read(text.as_bytes(), "x").expect_err("prose");
            assert!(error.problem.starts_with("the first record is "), "{error}");
        }
    }

    #[test]
    fn counts_that_are_too_large_are_errors() {
        check_fault(
            "a;b 1\na;b 1e30\na;b 2\n",
            2,
            "the value 1000000000000000000000000000000 is too large",
        );
        let twice = "a 2000000000000000000\nb 2000000000000000000\n";
        let expect = "the values of type \"samples\" add up to more than 64 bits can hold: use a larger unit";
        check_fault(twice, 2, expect);
    }
}
