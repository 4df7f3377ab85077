//! Go's execution traces since Go 1.22. They have CPU samples when a CPU profile was recorded at the same time; only these are read.
//!
//! A trace has generations, each with tables of its own. In Go's own terms a generation has batches, of which those with strings,
//! stacks and CPU samples are read, and all others skipped.
//!
//! Libraries: Go's own readers are written in Go. None in Rust was found.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Recorded, Stacks};
use crate::collect::units::value;
use crate::decode::cursor::Cursor;
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;

/// The length of the header.
const HEADER: usize = 16;
/// The versions of Go, after the `1.`, whose format this is.
const VERSIONS: RangeInclusive<u32> = 22..=26;
/// The first version that says where a generation ends.
const SAYS_ENDS: u32 = 26;
/// The most frames of a stack.
const MOST: u64 = 128;
/// Go keeps so many frames of a CPU sample, the innermost ones; a shorter stack is whole.
const KEPT: usize = 64;
/// Samples between two looks at whether to go on.
const PROGRESS_STEP: usize = 1 << 12;
/// What a trace is good for without samples.
const WAITING: &str = "what goroutines waited for is in `go tool trace -pprof=sched FILE > FILE.pb.gz` (or net, sync, syscall)";

/// Kinds of batches, and of what is in them.
const EVENTS: u8 = 1;
const STACKS: u8 = 2;
const STACK: u8 = 3;
const STRINGS: u8 = 4;
const STRING: u8 = 5;
const SAMPLES: u8 = 6;
const SAMPLE: u8 = 7;
const EXPERIMENT: u8 = 49;
const END: u8 = 52;

/// Detects the header.
pub(crate) fn detect(input: &Input) -> bool {
    version(input.bytes).is_some()
}

/// The second part of the version in a header: `go 1.26 trace`.
fn version(bytes: &[u8]) -> Option<u32> {
    let header = bytes.first_chunk::<HEADER>()?;
    let text = str::from_utf8(header).ok()?;
    let version = text.strip_prefix("go 1.")?.trim_end_matches('\0');
    version.strip_suffix(" trace")?.parse().ok()
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let version = version(input.bytes).unwrap_or(0);
    if !VERSIONS.contains(&version) {
        let (first, last) = (VERSIONS.start(), VERSIONS.end());
        let problem = format!(
            "a trace in the format of Go 1.{version}, expected that of Go 1.{first} to 1.{last}"
        );
        let advice = match version < *first {
            true => {
                format!("record with Go 1.{first} or later, and a CPU profile at the same time")
            }
            false => "use a newer version of Fulcrum".to_owned(),
        };
        return Err(Fault::whole(problem).advise(&format!("{advice}; {WAITING}")));
    }
    let mut trace = Trace {
        input,
        stacks: Stacks::new(vec![value("samples", "count")], 0)?,
        samples: 0,
        left_out: 0,
    };
    let says_ends = version >= SAYS_ENDS;
    let mut rest = Cursor::new(input.bytes);
    rest.take(HEADER)?;
    let mut generation = Generation::default();
    while !rest.is_empty() {
        input.read_until(rest.at())?;
        let batch = Batch::take(&mut rest)?;
        let begun = match batch {
            Batch::Part { number, .. } => Some(number),
            Batch::Cut { number } => number,
            Batch::End => None,
        };
        if begun.is_some() && begun != generation.number {
            trace.end(&std::mem::take(&mut generation), says_ends)?;
            generation.number = begun;
        }
        match batch {
            Batch::Part { data, .. } => generation.add(data)?,
            Batch::End => trace.add(&std::mem::take(&mut generation))?,
            Batch::Cut { number } => {
                trace.left_out += 1;
                let generation = std::mem::take(&mut generation);
                // The batch may have been the first one of the next generation.
                if number.is_none() && !says_ends && generation.dangling().is_none() {
                    trace.add(&generation)?;
                }
                break;
            }
        }
    }
    // A file may be cut between two batches.
    match generation.dangling() {
        Some(_) => trace.left_out += 1,
        None => trace.end(&generation, says_ends)?,
    }
    trace.finish()
}

/// What comes next in a trace.
enum Batch<'a> {
    /// A batch of a generation.
    Part { number: u64, data: Cursor<'a> },
    /// The generation ends.
    End,
    /// The file ends before the batch does, which is of this generation, if it says so much.
    Cut { number: Option<u64> },
}

impl<'a> Batch<'a> {
    fn take(rest: &mut Cursor<'a>) -> Result<Self, Fault> {
        let at = rest.at();
        let kind = rest.u8()?;
        if kind == END {
            return Ok(Batch::End);
        }
        if kind != EVENTS && kind != EXPERIMENT {
            let problem = format!("expected a batch of events, got an event of kind {kind}");
            return Err(Fault::byte(at, problem));
        }
        match Batch::header(rest, kind) {
            Ok((number, size)) if size <= rest.bytes().len() as u64 => {
                let data = rest.take(size as usize)?;
                let data = match kind {
                    EVENTS => data,
                    // Of another format.
                    _ => Cursor::new(&[]),
                };
                Ok(Batch::Part { number, data })
            }
            Ok((number, _)) => Ok(Batch::Cut {
                number: Some(number),
            }),
            Err(fault) if rest.bytes().len() >= LONGEST => Err(fault),
            // The trace ends within a number.
            Err(_) => Ok(Batch::Cut { number: None }),
        }
    }

    /// The generation and the size of a batch.
    fn header(rest: &mut Cursor, kind: u8) -> Result<(u64, u64), Fault> {
        if kind == EXPERIMENT {
            rest.u8()?;
        }
        let number = rest.varint()?;
        let (_thread, _time) = (rest.varint()?, rest.varint()?);
        Ok((number, rest.varint()?))
    }
}

/// The bytes of the longest number.
const LONGEST: usize = 10;

/// The tables of a generation, and its samples.
#[derive(Default)]
struct Generation<'a> {
    /// `None` before its first batch.
    number: Option<u64>,
    strings: HashMap<u64, &'a [u8]>,
    /// Where the frames of each stack are.
    stacks: HashMap<u64, Range<usize>>,
    /// Innermost first in each stack.
    frames: Vec<Frame>,
    /// The stack of each sample, and its place in the file.
    samples: Vec<(u64, usize)>,
}

struct Frame {
    function: u64,
    file: u64,
    line: u64,
}

impl<'a> Generation<'a> {
    fn add(&mut self, mut data: Cursor<'a>) -> Result<(), Fault> {
        let (kind, of) = match data.bytes().first() {
            Some(&STRINGS) => (STRING, "a string"),
            Some(&STACKS) => (STACK, "a stack"),
            Some(&SAMPLES) => (SAMPLE, "a CPU sample"),
            _ => return Ok(()),
        };
        data.u8()?;
        while !data.is_empty() {
            let at = data.at();
            let found = data.u8()?;
            if found != kind {
                let problem = format!("expected {of}, got an event of kind {found}");
                return Err(Fault::byte(at, problem));
            }
            match kind {
                STRING => self.string(&mut data)?,
                STACK => self.stack(&mut data)?,
                _ => {
                    let (_time, _thread) = (data.varint()?, data.varint()?);
                    let (_processor, _goroutine) = (data.varint()?, data.varint()?);
                    self.samples.push((data.varint()?, at));
                }
            }
        }
        Ok(())
    }

    fn string(&mut self, data: &mut Cursor<'a>) -> Result<(), Fault> {
        let id = data.varint()?;
        let length = usize::try_from(data.varint()?).unwrap_or(usize::MAX);
        let text = data.take(length)?;
        self.strings.insert(id, text.bytes());
        Ok(())
    }

    fn stack(&mut self, data: &mut Cursor<'a>) -> Result<(), Fault> {
        let at = data.at();
        let (id, count) = (data.varint()?, data.varint()?);
        if count > MOST {
            let problem = format!("expected a stack of at most {MOST} frames, got {count}");
            return Err(Fault::byte(at, problem));
        }
        let start = self.frames.len();
        for _ in 0..count {
            let _address = data.varint()?;
            self.frames.push(Frame {
                function: data.varint()?,
                file: data.varint()?,
                line: data.varint()?,
            });
        }
        self.stacks.insert(id, start..self.frames.len());
        Ok(())
    }

    /// A string. Number 0 is always the empty one.
    fn text(&self, id: u64) -> Result<Cow<'a, str>, Fault> {
        match self.strings.get(&id) {
            Some(text) => Ok(String::from_utf8_lossy(text)),
            None if id == 0 => Ok("".into()),
            None => Err(dangling("a stack", id, "string")),
        }
    }

    /// The frames of a stack, innermost first. Number 0 is always the empty one.
    fn stack_of(&self, id: u64) -> Result<&[Frame], Fault> {
        match self.stacks.get(&id) {
            Some(range) => Ok(&self.frames[range.clone()]),
            None if id == 0 => Ok(&[]),
            None => Err(dangling("a CPU sample", id, "stack")),
        }
    }

    /// What its samples need and its tables do not have.
    fn dangling(&self) -> Option<Fault> {
        let check = |id| -> Result<(), Fault> {
            for frame in self.stack_of(id)? {
                self.text(frame.function)?;
                self.text(frame.file)?;
            }
            Ok(())
        };
        let mut seen = HashSet::new();
        let mut samples = self.samples.iter().filter(|it| seen.insert(it.0));
        samples.find_map(|&(id, at)| check(id).err().map(|fault| fault.at_byte(at)))
    }
}

/// What is read of a trace.
struct Trace<'i, 'a> {
    input: &'i Input<'a>,
    stacks: Stacks,
    samples: u64,
    /// How many generations are not whole.
    left_out: u64,
}

impl Trace<'_, '_> {
    /// Adds a generation after which another one begins, or nothing.
    fn end(&mut self, generation: &Generation, says_ends: bool) -> Result<(), Fault> {
        match says_ends && generation.number.is_some() {
            true => self.left_out += 1,
            false => self.add(generation)?,
        }
        Ok(())
    }

    /// Adds the samples of a generation that is whole.
    fn add(&mut self, generation: &Generation) -> Result<(), Fault> {
        if let Some(fault) = generation.dangling() {
            return Err(fault);
        }
        let mut known: HashMap<u64, Vec<FrameId>> = HashMap::new();
        for (n, &(id, at)) in generation.samples.iter().enumerate() {
            if n.is_multiple_of(PROGRESS_STEP) {
                self.input.read_until(at)?;
            }
            let stack = match known.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.frames(generation, id)?),
            };
            let recorded = Recorded::from_cut(stack.len() >= KEPT);
            self.stacks.add_recorded(None, stack, recorded, &[1])?;
            self.samples += 1;
        }
        Ok(())
    }

    /// A stack, outermost frame first.
    fn frames(&mut self, generation: &Generation, stack: u64) -> Result<Vec<FrameId>, Fault> {
        let frames = generation.stack_of(stack)?.iter().rev();
        let ids = frames.map(|frame| {
            let line = match self.input.lines() {
                true => u32::try_from(frame.line).unwrap_or(0),
                false => 0,
            };
            let name = generation.text(frame.function)?;
            self.stacks
                .frame(&name, &generation.text(frame.file)?, line)
        });
        ids.collect()
    }

    fn finish(mut self) -> Result<Collected, Fault> {
        if self.samples == 0 {
            return Err(match self.left_out {
                0 => {
                    let problem = "the trace has no CPU samples, which a trace has when a CPU profile was recorded at the same time";
                    Fault::whole(problem).advise(&format!(
                        "record both, as `go test -trace FILE -cpuprofile OTHER` does; {WAITING}"
                    ))
                }
                _ => Fault::whole(
                    "the trace was cut short, and what is whole of it has no CPU samples",
                )
                .advise("record again, and stop the trace before the program ends"),
            });
        }
        if self.left_out > 0 {
            self.stacks.note(format!(
                "The trace was cut short: {} of its parts (Go calls them generations) without an end, and their samples, are left out.",
                self.left_out
            ));
        }
        self.stacks.note(
            "Only the CPU samples of the trace are read, one sample each; Go usually takes a hundred a second.",
        );
        self.stacks.finish(Format::GoTrace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_fault};
    use crate::{NoSymbols, Profile};

    fn number(mut number: u64, out: &mut Vec<u8>) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    fn batch(generation: u64, data: &[u8]) -> Vec<u8> {
        let mut out = vec![EVENTS];
        for it in [generation, u64::MAX, 123_456, data.len() as u64] {
            number(it, &mut out);
        }
        out.extend(data);
        out
    }

    fn strings(texts: &[(u8, &str)]) -> Vec<u8> {
        let mut data = vec![STRINGS];
        for (id, text) in texts {
            data.extend([STRING, *id, text.len() as u8]);
            data.extend(text.as_bytes());
        }
        data
    }

    /// The frames of a stack are numbers of functions; each is in the file 9, on ten times its number.
    fn stacks(all: &[(u8, &[u8])]) -> Vec<u8> {
        let mut data = vec![STACKS];
        for (id, functions) in all {
            data.extend([STACK, *id]);
            number(functions.len() as u64, &mut data);
            for function in *functions {
                data.extend([0x7f, *function, 9, 10 * function]);
            }
        }
        data
    }

    fn samples(stacks: &[u8]) -> Vec<u8> {
        let mut data = vec![SAMPLES];
        for stack in stacks {
            data.extend([SAMPLE, 0x80, 1, 2, 0, 33, *stack]);
        }
        data
    }

    /// One generation.
    fn trace_of_one(version: &str) -> Vec<u8> {
        let mut out = format!("go 1.{version} trace\0\0\0").into_bytes();
        let names = [(1, "main.main"), (2, "main.work"), (9, "/src/main.go")];
        // Batches come in any order; those of events and of experiments are skipped.
        out.extend(batch(1, &samples(&[1, 2, 1, 0])));
        out.extend(batch(1, &[14, 1, 2, 3]));
        out.extend([EXPERIMENT, 1, 1, 1, 1, 2, 77, 77]);
        out.extend(batch(1, &stacks(&[(1, &[2, 1]), (2, &[1])])));
        out.extend(batch(1, &strings(&names)));
        out.extend((version == "26").then_some(END));
        out
    }

    /// Two generations, in which the same numbers mean different things.
    fn trace(version: &str) -> Vec<u8> {
        let mut out = trace_of_one(version);
        let names = [(1, "main.rest"), (2, "main.main"), (9, "/src/main.go")];
        out.extend(batch(2, &stacks(&[(1, &[1, 2])])));
        out.extend(batch(2, &strings(&names)));
        out.extend(batch(2, &samples(&[1])));
        out.extend((version == "26").then_some(END));
        out
    }

    const NOTE: &str = "note: Only the CPU samples of the trace are read, one sample each; Go usually takes a hundred a second.";

    #[test]
    fn every_generation_has_its_own_tables() {
        for version in ["22", "23", "25", "26"] {
            let expect = format!(
                "samples* 5
                 [no stack] 1
                 main.main 1
                 main.main;main.rest 1
                 main.main;main.work 2
                 {NOTE}"
            );
            check(trace(version), &expect);
        }
    }

    const CUT: &str = "note: The trace was cut short: 1 of its parts (Go calls them generations) without an end, and their samples, are left out.";

    #[test]
    fn a_generation_that_was_cut_is_left_out() {
        let first = format!(
            "samples* 4
             [no stack] 1
             main.main 1
             main.main;main.work 2
             {CUT}
             {NOTE}"
        );
        let [old, new] = ["22", "26"].map(trace);
        let last = batch(2, &samples(&[1])).len();
        let second = old.len() - trace_of_one("22").len();
        // Within a batch, between two, in the header of the second generation's first, and before the end is told.
        for cut in [
            &old[..old.len() - 2],
            &old[..old.len() - second + 1],
            &old[..old.len() - second + 14],
            &new[..new.len() - 3],
            &new[..new.len() - 1],
            &new[..new.len() - 1 - last],
        ] {
            check(cut, &first);
        }
        // Between two batches, before the tables.
        let late = [
            trace_of_one("22"),
            batch(2, &samples(&[1])),
            batch(2, &[14, 1]),
        ];
        check(late.concat(), &first);
    }

    #[test]
    fn without_anything_whole_the_error_says_so() {
        let one = trace_of_one("26");
        let problem = "the trace was cut short, and what is whole of it has no CPU samples";
        for end in [one.len() - 1, one.len() - 5, HEADER + 3] {
            check_fault(&one[..end], 0, problem);
        }
    }

    #[test]
    fn number_0_is_the_empty_text() {
        let mut out = b"go 1.22 trace\0\0\0".to_vec();
        out.extend(batch(1, &stacks(&[(1, &[0, 1])])));
        out.extend(batch(1, &strings(&[(1, "main.main"), (9, "/src/main.go")])));
        out.extend(batch(1, &samples(&[1])));
        check(
            out,
            &format!(
                "samples* 1
                 main.main 0
                 main.main;[unknown] 1
                 {NOTE}"
            ),
        );
    }

    #[test]
    fn the_longest_stacks_were_cut() {
        let deep = |frames: usize| {
            let names = [(1, "main.down"), (2, "main.up"), (9, "/src/main.go")];
            let functions = vec![1; frames];
            let mut out = b"go 1.22 trace\0\0\0".to_vec();
            out.extend(batch(1, &strings(&names)));
            out.extend(batch(1, &stacks(&[(1, &functions)])));
            out.extend(batch(1, &samples(&[1])));
            let read = read(&Input::new(
                &out,
                Default::default(),
                &NoSymbols,
                Default::default(),
            ));
            read.expect("a trace").profile().expect("a tree")
        };
        let cut = |profile: &Profile| profile.notes.iter().any(|it| it.contains("were cut"));
        assert!(cut(&deep(KEPT)) && !cut(&deep(KEPT - 1)));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let header = |version: &str| format!("go 1.{version} trace\0\0\0").into_bytes();
        let with = |data: &[u8]| [header("22"), batch(1, data)].concat();
        for version in ["21", "27"] {
            let problem = format!(
                "a trace in the format of Go 1.{version}, expected that of Go 1.22 to 1.26"
            );
            check_fault(header(version), 0, &problem);
        }
        check_fault(
            with(&[STACKS, STACK, 1, 0x81, 1]),
            0,
            "expected a stack of at most 128 frames, got 129",
        );
        let none = "the trace has no CPU samples, which a trace has when a CPU profile was recorded at the same time";
        check_fault(header("26"), 0, none);
        check_fault(with(&[14, 1, 2]), 0, none);
        let followed = [with(&samples(&[7])), batch(2, &[14])].concat();
        check_fault(
            followed,
            0,
            "a CPU sample names stack 7, which the file does not have",
        );
        check_fault(
            with(&[STRINGS, SAMPLE]),
            0,
            "expected a string, got an event of kind 7",
        );
        check_fault(
            [header("22"), vec![9]].concat(),
            0,
            "expected a batch of events, got an event of kind 9",
        );
    }
}
