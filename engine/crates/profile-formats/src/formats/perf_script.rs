//! The text of `perf script`: a header line and a stack, innermost first, for each sample.
//!
//! Libraries: inferno folds this text to counts of one event's samples, without their periods, and rewrites functions' names.

use std::collections::BTreeSet;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::value;
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};
use crate::decode::wrong_lines::WrongLines;

/// The most events that a file may have.
const EVENTS: usize = 64;

/// A header line: `comm pid/tid [cpu] time: period event:`. A sample without a call chain has its frame on the same line.
struct Header<'a> {
    comm: &'a str,
    pid: &'a str,
    period: Option<u64>,
    event: &'a str,
    rest: &'a str,
}

impl Header<'_> {
    /// The container's name for the thread.
    fn thread(&self) -> String {
        match self.pid {
            "" => self.comm.to_owned(),
            pid => format!("{} ({pid})", self.comm),
        }
    }
}

/// A line of a stack.
#[derive(Debug, PartialEq, Eq)]
struct Frame<'a> {
    symbol: &'a str,
    /// The file of the code; empty when perf does not know it.
    object: &'a str,
}

/// Parses a line as a sample's header.
type Parse = fn(&str) -> Option<Header<'_>>;

/// Detects a sample's header in the first lines, or a header without time or event in the first one.
pub(crate) fn detect(input: &Input) -> bool {
    input.first_lines().any(|(_, line)| header(line).is_some()) || bare(input).is_some()
}

/// The header of the first sample, without time or event, as `perf script -F` may write it. The frame below shows that it
/// is one. When frames are not indented by tabs, as in old perf's text and in pasted text, the header must have a process
/// and an event.
fn bare<'i>(input: &'i Input) -> Option<(usize, &'i str)> {
    let mut lines = input.first_lines().filter(|(_, line)| is_record(line));
    let (head, below) = (lines.next()?, lines.next()?.1);
    let is_frame = match below.starts_with('\t') {
        true => !frame(below.trim_start())?.symbol.is_empty() && !head.1.starts_with('\t'),
        false => {
            let short = short_header(head.1)?;
            is_whole_frame(below) && !short.pid.is_empty() && !short.event.is_empty()
        }
    };
    is_frame.then_some(head)
}

/// Whether a line has address, function and file. No header looks like that.
fn is_whole_frame(line: &str) -> bool {
    frame(line.trim()).is_some_and(|it| !it.symbol.is_empty() && !it.object.is_empty())
}

/// Samples between two progress reports.
const PROGRESS_STEP: u64 = 1 << 10;

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut parse: Parse = header;
    let mut outline = Outline::new(input.text(), parse)?;
    if outline.threads.is_empty() && bare(input).is_some() {
        parse = short_header;
        outline = Outline::new(input.text(), parse)?;
    }
    let mut types = vec![value("samples", "count")];
    if outline.has_values() {
        let events = outline.events.iter();
        types.extend(events.map(|event| match outline.periods {
            true => value(event, unit(event)),
            false => value(event, "count"),
        }));
    }
    let mut reader = Reader {
        stacks: Stacks::new(types, usize::from(outline.has_values()))?,
        outline,
        parse,
        sample: Sample::default(),
        samples: 0,
        right: 0,
        wrong: WrongLines::default(),
        between: true,
        lost: false,
    };
    for (number, line) in lines(input.text()) {
        if line.trim().is_empty() {
            reader.between = true;
        } else if is_record(line) {
            if reader.line(number, line)? && reader.samples.is_multiple_of(PROGRESS_STEP) {
                input.read_until_line(line)?;
            }
            reader.between = false;
        }
    }
    let Reader {
        mut stacks,
        mut sample,
        right,
        wrong,
        ..
    } = reader;
    sample.finish(&mut stacks)?;
    wrong
        .note(right)?
        .into_iter()
        .for_each(|note| stacks.note(note));
    stacks.finish(Format::PerfScript)
}

struct Reader<'t> {
    outline: Outline<'t>,
    parse: Parse,
    stacks: Stacks,
    sample: Sample,
    samples: u64,
    /// How many lines were read.
    right: u64,
    wrong: WrongLines,
    /// The line before was empty, as between samples.
    between: bool,
    /// The sample's first line was wrong, so the frames after it belong to no sample.
    lost: bool,
}

impl<'t> Reader<'t> {
    /// Reads a line. Returns whether it begins a sample.
    fn line(&mut self, number: usize, line: &'t str) -> Result<bool, Fault> {
        let indented = line.starts_with([' ', '\t']);
        if let Some(header) = (self.parse)(line) {
            self.begin(&header, number)?;
            return Ok(true);
        }
        if !indented && !is_whole_frame(line) {
            let problem = || {
                format!(
                    "expected the first line of a sample, got {}",
                    quote(line.trim())
                )
            };
            self.wrong.leave_out(number, problem);
            // In the middle of a sample, it is a message.
            if self.between {
                self.sample.finish(&mut self.stacks)?;
                self.lost = true;
            }
            return Ok(false);
        }
        let frame = frame(line.trim_start());
        if frame.is_none() && !is_source(line.trim()) {
            let problem = || {
                format!(
                    "expected an address and a function, got {}",
                    quote(line.trim())
                )
            };
            self.wrong.leave_out(number, problem);
            return Ok(false);
        }
        if self.lost {
            self.wrong.leave_out_too(1);
            return Ok(false);
        }
        self.right += 1;
        // Frames before the first sample are ignored.
        if let Some(frame) = frame
            && self.sample.values.is_some()
        {
            self.sample.push(&mut self.stacks, &frame)?;
        }
        Ok(false)
    }

    fn begin(&mut self, header: &Header<'t>, number: usize) -> Result<(), Fault> {
        self.sample.finish(&mut self.stacks)?;
        self.samples += 1;
        self.right += 1;
        self.lost = false;
        self.sample.line = number;
        self.sample.values = Some(self.outline.values(header, number)?);
        self.sample.container = match self.outline.threads.len() {
            1 => None,
            _ => Some(self.stacks.container(&header.thread())?),
        };
        if let Some(frame) = frame(header.rest.trim()) {
            self.sample.push(&mut self.stacks, &frame)?;
        }
        Ok(())
    }
}

/// A sample while its stack is read.
#[derive(Default)]
struct Sample {
    line: usize,
    container: Option<FrameId>,
    /// Innermost first.
    stack: Vec<FrameId>,
    values: Option<Vec<i64>>,
}

impl Sample {
    fn push(&mut self, stacks: &mut Stacks, frame: &Frame) -> Result<(), Fault> {
        let base = frame.object.rsplit('/').next().unwrap_or("");
        let base = base.trim_start_matches('[').trim_end_matches(']');
        let known = !base.is_empty() && base != "unknown";
        let object = if known { frame.object } else { "" };
        let id = match frame.symbol {
            "[unknown]" | "" if known => stacks.frame_in(&format!("[{base}]"), "", 0, object)?,
            "" => stacks.frame_in("[unknown]", "", 0, object)?,
            symbol => stacks.frame_in(symbol, "", 0, object)?,
        };
        self.stack.push(id);
        Ok(())
    }

    fn finish(&mut self, stacks: &mut Stacks) -> Result<(), Fault> {
        let Some(values) = self.values.take() else {
            return Ok(());
        };
        self.stack.reverse();
        let added = stacks.add_in(self.container, &self.stack, &values);
        self.stack.clear();
        added.map_err(|fault| fault.at_line(self.line))
    }
}

/// What must be known before samples are added.
struct Outline<'a> {
    /// In the order of their first samples.
    events: Vec<&'a str>,
    /// Whether samples have periods.
    periods: bool,
    /// Names and ids.
    threads: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Outline<'a> {
    fn new(text: &'a str, parse: Parse) -> Result<Self, Fault> {
        let mut outline = Outline {
            events: Vec::new(),
            periods: false,
            threads: BTreeSet::new(),
        };
        let headers = records(text).filter_map(|(number, line)| Some((number, parse(line)?)));
        for (number, header) in headers {
            outline.periods |= header.period.is_some();
            outline.threads.insert((header.comm, header.pid));
            if !outline.events.contains(&header.event) {
                outline.events.push(header.event);
            }
            if outline.events.len() > EVENTS {
                let problem = format!("expected at most {EVENTS} kinds of event");
                return Err(Fault::line(number, problem));
            }
        }
        Ok(outline)
    }

    /// Whether each event is a value type. Samples of different events must not be added up.
    fn has_values(&self) -> bool {
        self.periods || self.events.len() > 1
    }

    /// A sample's values: 1, and its period for its event, or 1 without periods.
    fn values(&self, header: &Header, number: usize) -> Result<Vec<i64>, Fault> {
        let mut values = vec![1];
        if self.has_values() {
            let period = header.period.unwrap_or(1);
            let period = i64::try_from(period)
                .map_err(|_| Fault::line(number, format!("the period {period} is too large")))?;
            let events = self.events.iter();
            values.extend(events.map(|&it| if it == header.event { period } else { 0 }));
        }
        Ok(values)
    }
}

fn records(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter(|(_, line)| is_record(line))
}

/// Whether a line belongs to a sample: not a comment, and not a line of `--show-mmap-events` and the like.
fn is_record(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#') && !line.contains(": PERF_RECORD_")
}

/// Clocks count nanoseconds.
fn unit(event: &str) -> &'static str {
    let name = event.split(':').next().unwrap_or(event);
    match name {
        "cpu-clock" | "task-clock" => "ns",
        _ => "count",
    }
}

fn header(line: &str) -> Option<Header<'_>> {
    // A program's name may contain spaces and numbers. The first number that a time follows is the process.
    let line = line.trim_start();
    let mut from = 0;
    loop {
        let space = from + line.get(from..)?.find(char::is_whitespace)?;
        let comm = line[..space].trim_end();
        let (pid, after) = word(&line[space..])?;
        let is_pid = pid.split('/').all(is_number);
        if is_pid && let Some((period, event, rest)) = after_pid(after) {
            return Some(Header {
                comm,
                pid,
                period,
                event,
                rest,
            });
        }
        from = line.len() - line[space..].trim_start().len();
    }
}

/// A header without a time, from `perf script -F`: `comm pid/tid [cpu] misc period event:`, each of which may be missing. A
/// line that begins with a tab is a frame, as is one with an address and a file. A sample's first frame is on its own line.
fn short_header(line: &str) -> Option<Header<'_>> {
    if line.starts_with('\t') || line.starts_with(' ') && is_source(line.trim()) {
        return None;
    }
    if is_whole_frame(line) {
        return None;
    }
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let event = words.last().and_then(|it| it.strip_suffix(':'));
    let event = event.filter(|it| !is_time(it) && !it.is_empty());
    words.truncate(words.len() - usize::from(event.is_some()));
    // The fields after the name. The name may contain anything, and is missing only when nothing but the event was requested.
    let is_field = |it: &&&str| {
        let cpu = it.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let time = it.strip_suffix(':').is_some_and(is_time);
        cpu.is_some_and(is_number) || time || it.split('/').all(is_number) || is_misc(it)
    };
    let fields = words.iter().skip(1).rev().take_while(is_field).count();
    let fields = &words[words.len() - fields..];
    let numbers: Vec<&str> = fields
        .iter()
        .copied()
        .filter(|it| it.split('/').all(is_number))
        .collect();
    let (pid, period) = match numbers[..] {
        [] => ("", None),
        [pid] => (pid, None),
        [pid, .., period] => (pid, period.parse().ok()),
    };
    let start = fields.first().map_or(event, |it| Some(*it));
    let offset = |it: &str| it.as_ptr().addr() - line.as_ptr().addr();
    let end = start.map_or(line.len(), offset);
    Some(Header {
        comm: line[..end].trim(),
        pid,
        period: period.filter(|_| event.is_some()),
        event: event.unwrap_or_default(),
        rest: "",
    })
}

fn is_time(text: &str) -> bool {
    let parts = text.split_once('.');
    parts.is_some_and(|(seconds, fraction)| is_number(seconds) && is_number(fraction))
}

/// Whether a word is the field `misc` of a sample: a letter each for kernel, user, hypervisor and so on.
fn is_misc(word: &str) -> bool {
    word.len() <= 4 && !word.is_empty() && word.bytes().all(|it| b"KUHGgMESFp".contains(&it))
}

/// Parses `[cpu] misc time: period event: rest`. The processor, `misc` and the period may be missing.
fn after_pid(text: &str) -> Option<(Option<u64>, &str, &str)> {
    let (mut time, mut text) = word(text)?;
    let cpu = time.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    if cpu.is_some_and(is_number) {
        (time, text) = word(text)?;
    }
    if is_misc(time) {
        (time, text) = word(text)?;
    }
    if !is_time(time.strip_suffix(':')?) {
        return None;
    }
    let (mut event, mut rest) = word(text)?;
    let mut period = None;
    if is_number(event) {
        period = Some(event.parse().ok()?);
        (event, rest) = word(rest)?;
    }
    Some((period, event.strip_suffix(':')?, rest))
}

fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses `address symbol+0xoffset (object)`. The object may contain spaces and brackets.
fn frame(text: &str) -> Option<Frame<'_>> {
    let (address, rest) = word(text)?;
    let address = address.strip_prefix("0x").unwrap_or(address);
    if !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.trim();
    let (symbol, object) = match rest.strip_suffix(')').and_then(opening) {
        Some(at) => (rest[..at].trim_end(), &rest[at + 1..rest.len() - 1]),
        None => (rest, ""),
    };
    let symbol = match symbol.rsplit_once("+0x") {
        Some((symbol, offset)) if offset.bytes().all(|it| it.is_ascii_hexdigit()) => symbol,
        _ => symbol,
    };
    Some(Frame { symbol, object })
}

/// Where the bracket that closes after `text` opens.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Whether a line is the source line that perf prints below a frame: `file.c:12`, or `program[1bdc]` without source lines.
fn is_source(text: &str) -> bool {
    let text = text.strip_suffix(" (inlined)").unwrap_or(text);
    let line = text.rsplit_once(':').map(|(_, line)| line);
    let place = || text.strip_suffix(']')?.rsplit_once('[');
    line.is_some_and(is_number)
        || place().is_some_and(|(name, at)| {
            !name.is_empty() && !at.is_empty() && at.bytes().all(|it| it.is_ascii_hexdigit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_fault};

    const TEXT: &str = "\
# captured on: today
my app 2 61/62 [002] 203265.377019:    1001001 cpu-clock:u: 
\t             6f1 leaf(int)+0x14 (/work dir/app (deleted))
\t             789 [unknown] (/lib/libc-2.27.so)
\t             790 main (inlined)
\t 606258d4c544155 [unknown] ([unknown])

my app 2 61/63 [003] 203265.378000:        500 cycles: 
\tffffffffad14d115 [unknown] ([kernel.kallsyms])
\t             790 main (/work dir/app)
\tapp.c:12

";

    #[test]
    fn samples_and_events_are_summed_by_stack() {
        check(
            TEXT,
            "samples 2
             cpu-clock:u ns* 1001001
             cycles 500
             {my app 2 (61/62)} 0 0 0
             {my app 2 (61/62)};[unknown] 0 0 0
             {my app 2 (61/62)};[unknown];main 0 0 0
             {my app 2 (61/62)};[unknown];main;[libc-2.27.so] 0 0 0
             {my app 2 (61/62)};[unknown];main;[libc-2.27.so];leaf(int) 1 1001001 0
             {my app 2 (61/63)} 0 0 0
             {my app 2 (61/63)};main 0 0 0
             {my app 2 (61/63)};main;[kernel.kallsyms] 1 0 500",
        );
    }

    #[test]
    fn what_perf_tells_between_samples_is_left_out() {
        check(
            "app 61 1.5: PERF_RECORD_COMM exec: app:61/61\n\
             app 61 1.6: PERF_RECORD_MMAP2 61/61: [0x55d0(0x1000) @ 0 fe:00 12 34]: r-xp /bin/app\n\
             app 61 2.0: 7 cycles: \n\t 6f1 f (/bin/app)\n\n\
             app 61 3.0: PERF_RECORD_EXIT(61:61):(60:60)\n",
            "samples 1
             cycles* 7
             f 1 7",
        );
    }

    #[test]
    fn fields_may_be_missing() {
        for head in [
            "my app   61",
            "my app   61 cycles: ",
            "  my app   61 [000] cycles:u: ",
            "my app 1.5: ",
            "my app   61/62 U",
            "my app",
        ] {
            check(
                format!(
                    "# captured\n{head}\n\t             6f1 f+0x4 (/bin/app)\n  app.c:12\n\n{head}\n\t 6f2 g (/bin/app)\n"
                ),
                "samples* 2
                 f 1
                 g 1",
            );
        }
        // Only the event.
        check("cycles: \n\t6f1 f (/bin/app)\n", "samples* 1\nf 1");
    }

    #[test]
    fn frames_may_have_no_tabs() {
        // Old perf's text, and text that was pasted.
        for indent in ["            ", ""] {
            check(
                format!(
                    "node-v1 31 cpu-clock: \n{indent}13a80b608e0a RegExp:[&] (/tmp/perf-7.map)\n\
                     {indent}dd777 v8::Call(int, bool) (/tmp/node)\n\n\
                     node-v1 31 cpu-clock:\n{indent}dd777 v8::Call(int, bool) (/tmp/node)\n"
                ),
                "samples* 2
                 v8::Call(int, bool) 1
                 v8::Call(int, bool);RegExp:[&] 1",
            );
        }
        // Neither is a sample.
        for text in ["note 3\n  1 of (these)\n", "see page 3:\nadd two (eggs)\n"] {
            assert!(crate::read(text.as_bytes(), "x").is_err(), "{text}");
        }
    }

    #[test]
    fn without_times_events_periods_and_threads_are_still_apart() {
        check(
            "app 61 7 cycles: \n\t6f1 f (/bin/app)\n\n\
             app 62 3 cycles: \n\t6f1 f (/bin/app)\n",
            "samples 2
             cycles* 10
             {app (61)} 0 0
             {app (61)};f 1 7
             {app (62)} 0 0
             {app (62)};f 1 3",
        );
        check(
            "one\n\t6f1 f (/bin/app)\n\ntwo 2\n\t6f1 f (/bin/app)\n",
            "samples* 2
             {one} 0
             {one};f 1
             {two (2)} 0
             {two (2)};f 1",
        );
    }

    #[test]
    fn letters_of_misc_are_passed_over() {
        check(
            "app 61 [001] U 10.5: 7 cycles: \n\t6f1 f (/bin/app)\n",
            "samples 1
             cycles* 7
             f 1 7",
        );
    }

    #[test]
    fn a_sample_without_call_chain_stands_on_one_line() {
        check(
            "            perf 12 10.5: cycles:  55a1 main+0x1 (/bin/a)\n            perf 12 10.6: cycles:  55a1 main+0x1 (/bin/a)\n",
            "samples* 2
             main 2",
        );
    }

    #[test]
    fn a_long_name_of_an_event_is_cut_in_the_error() {
        let event = "e".repeat(3000);
        check_fault(
            format!("a 1 1.0: 5111111111111501002 {event}: \n\t6f1 f (/bin/a)\n"),
            1,
            &format!(
                "the values of type \"{}…\" add up to more than 64 bits can hold: use a larger unit",
                &event[..40]
            ),
        );
    }

    #[test]
    fn events_without_periods_are_counted_apart() {
        check(
            "a 1 10.5: kmem:kmalloc: \n\t55a1 main+0x1 (/bin/a)\n\n\
             a 1 10.6: sched:sched_switch: prev_comm=a\n\t55a1 main+0x1 (/bin/a)\n\n\
             a 1 10.7: kmem:kmalloc: \n\t55a1 main+0x1 (/bin/a)\n",
            "samples 3
             kmem:kmalloc* 2
             sched:sched_switch 1
             main 3 2 1",
        );
    }

    #[test]
    fn a_long_header_hides_nothing() {
        let header = "# sibling threads : 0\n".repeat(200);
        check(
            format!("{header}perf 12 10.5: cycles:  55a1 main+0x1 (/bin/a)\n"),
            "samples* 1
             main 1",
        );
    }

    #[test]
    fn places_below_frames_are_passed_over() {
        for (text, expected) in [
            ("app.c:12", true),
            ("libc-start.c:360 (inlined)", true),
            ("bare[1bdc]", true),
            ("[kernel.kallsyms][ffffffff8175336a]", true),
            ("what is this", false),
            ("[1bdc]", false),
            ("bare[xyz]", false),
        ] {
            assert_eq!(is_source(text), expected, "{text}");
        }
    }

    #[test]
    fn frames_are_taken_apart() {
        for (text, symbol, object) in [
            ("6f1 f (/a)", "f", "/a"),
            ("6f1 operator()(int)+0x1f (/a b)", "operator()(int)", "/a b"),
            ("6f1 a+0xzz ([kernel])", "a+0xzz", "[kernel]"),
            ("6f1 f (/memfd:x (deleted))", "f", "/memfd:x (deleted)"),
            ("6f1 f", "f", ""),
        ] {
            assert_eq!(frame(text), Some(Frame { symbol, object }), "{text}");
        }
        assert_eq!(frame("main (/a)"), None);
    }

    #[test]
    fn a_line_that_is_no_frame_is_left_out() {
        let wrong = TEXT.replace("789 [unknown] (/lib", "what is this (/lib");
        check(
            wrong,
            "samples 2
             cpu-clock:u ns* 1001001
             cycles 500
             {my app 2 (61/62)} 0 0 0
             {my app 2 (61/62)};[unknown] 0 0 0
             {my app 2 (61/62)};[unknown];main 0 0 0
             {my app 2 (61/62)};[unknown];main;leaf(int) 1 1001001 0
             {my app 2 (61/63)} 0 0 0
             {my app 2 (61/63)};main 0 0 0
             {my app 2 (61/63)};main;[kernel.kallsyms] 1 0 500
             note: 1 line is wrong and left out. The first is line 4: expected an address and a function, got \"what is this (/lib/libc-2.27.so)\".",
        );
    }

    const SAMPLE: &str = "app 61 1.5: cycles: \n\t6f1 f (/bin/app)\n\t6f2 g (/bin/app)\n\n";

    #[test]
    fn a_sample_without_its_first_line_is_left_out() {
        let wrong = SAMPLE.replace("app 61 1.5", "app 61/x 1.5");
        check(
            [SAMPLE, &wrong, SAMPLE].concat(),
            "samples* 2
             g 0
             g;f 2
             note: 3 lines are wrong and left out. The first is line 5: expected the first line of a sample, got \"app 61/x 1.5: cycles:\".",
        );
        check_fault(
            [SAMPLE, &wrong, &wrong].concat(),
            5,
            "expected the first line of a sample, got \"app 61/x 1.5: cycles:\"; 6 of 9 lines are wrong",
        );
    }

    #[test]
    fn a_message_inside_a_sample_does_not_end_it() {
        let message = SAMPLE.replace("\t6f2", "Warning: lost events\n\t6f2");
        check(
            [SAMPLE, &message].concat(),
            "samples* 2
             g 0
             g;f 2
             note: 1 line is wrong and left out. The first is line 7: expected the first line of a sample, got \"Warning: lost events\".",
        );
    }

    #[test]
    fn a_period_that_is_too_large_is_an_error() {
        let wrong = TEXT.replace(" 500 ", " 9300000000000000000 ");
        check_fault(&wrong, 8, "the period 9300000000000000000 is too large");
    }
}
