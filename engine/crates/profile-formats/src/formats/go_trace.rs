//! Go's execution traces since Go 1.22. They have CPU samples when a CPU profile was recorded at the same time; only these are read.
//!
//! A trace has generations, each with tables of its own. In Go's own terms a generation has batches, of which those with strings,
//! stacks and CPU samples are read, and all others skipped.
//!
//! Libraries: Go's own readers are written in Go. None in Rust was found.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Recorded, Stacks};
use crate::collect::units::value;
use crate::decode::cursor::Cursor;
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;

/// The length of the header.
const HEADER: usize = 16;
/// The first version of Go with this format, 1.22.
const FIRST: u32 = 22;
/// Go keeps at least so many of a stack's frames, the innermost ones; a shorter stack is whole.
const KEPT: usize = 128;
/// The first version that says where a generation ends.
const SAYS_ENDS: u32 = 26;

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
    if version < FIRST {
        let problem = format!("a trace of Go 1.{version}, expected one of Go 1.{FIRST} or later");
        return Err(Fault::whole(problem).advise(&format!(
            "record with Go 1.{FIRST} or later, and a CPU profile at the same time"
        )));
    }
    let mut trace = Trace {
        lines: input.lines(),
        stacks: Stacks::new(vec![value("samples", "count")], 0)?,
        samples: 0,
    };
    let mut rest = Cursor::new(input.bytes);
    rest.take(HEADER)?;
    let mut generation = Generation::default();
    while !rest.is_empty() {
        input.read_until(rest.at())?;
        let at = rest.at();
        match Batch::take(&mut rest)? {
            Batch::Part { number, data } => {
                if generation.number != Some(number) {
                    trace.add(&std::mem::take(&mut generation))?;
                    generation.number = Some(number);
                }
                generation.add(data)?;
            }
            Batch::End => trace.add(&std::mem::take(&mut generation))?,
            Batch::Cut => {
                trace.stacks.note(format!(
                    "The trace ends in the middle of a batch, which begins at byte {at}: what was recorded last is left out."
                ));
                generation = Generation::default();
                break;
            }
        }
    }
    if version < SAYS_ENDS {
        trace.add(&generation)?;
    } else if generation.number.is_some() {
        trace
            .stacks
            .note("The trace does not say that its last generation ended: it is left out.");
    }
    if trace.samples == 0 {
        let problem = "the trace has no CPU samples, which a trace has when a CPU profile was recorded at the same time";
        return Err(Fault::whole(problem).advise(
            "record both, as `go test -trace FILE -cpuprofile OTHER` does; what goroutines waited for is in \
             `go tool trace -pprof=sched FILE > FILE.pb.gz` (or net, sync, syscall)",
        ));
    }
    trace
        .stacks
        .note("Only the CPU samples of the trace are read, one sample each; Go usually takes a hundred a second.");
    trace.stacks.finish(Format::GoTrace)
}

/// What comes next in a trace.
enum Batch<'a> {
    /// A batch of a generation.
    Part { number: u64, data: Cursor<'a> },
    /// The generation ends.
    End,
    /// The file ends before the batch does.
    Cut,
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
        // A number that is not whole is the end of a trace that was cut.
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
            Err(fault) if rest.bytes().len() >= LONGEST => Err(fault),
            Ok(_) | Err(_) => Ok(Batch::Cut),
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
    stacks: HashMap<u64, std::ops::Range<usize>>,
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
        let (id, count) = (data.varint()?, data.varint()?);
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

    fn text(&self, id: u64) -> Result<std::borrow::Cow<'a, str>, Fault> {
        let text = self.strings.get(&id).copied();
        let text = text.ok_or_else(|| dangling("a stack", id, "string"))?;
        Ok(String::from_utf8_lossy(text))
    }
}

/// What is read of a trace.
struct Trace {
    /// Whether frames are told apart by the lines that ran.
    lines: bool,
    stacks: Stacks,
    samples: u64,
}

impl Trace {
    /// Adds the samples of a generation that is whole.
    fn add(&mut self, generation: &Generation) -> Result<(), Fault> {
        let mut known: HashMap<u64, Vec<FrameId>> = HashMap::new();
        for &(id, at) in &generation.samples {
            let stack = match known.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let frames = self.frames(generation, id);
                    new.insert(frames.map_err(|fault| fault.at_byte(at))?)
                }
            };
            let recorded = Recorded::from_cut(stack.len() >= KEPT);
            self.stacks.add_recorded(None, stack, recorded, &[1])?;
            self.samples += 1;
        }
        Ok(())
    }

    /// A stack, outermost frame first.
    fn frames(&mut self, generation: &Generation, stack: u64) -> Result<Vec<FrameId>, Fault> {
        // Go's own number for no stack.
        if stack == 0 {
            return Ok(Vec::new());
        }
        let range = generation.stacks.get(&stack).cloned();
        let range = range.ok_or_else(|| dangling("a CPU sample", stack, "stack"))?;
        let frames = generation.frames[range].iter().rev();
        let ids = frames.map(|frame| {
            let line = match self.lines {
                true => u32::try_from(frame.line).unwrap_or(0),
                false => 0,
            };
            let name = generation.text(frame.function)?;
            self.stacks
                .frame(&name, &generation.text(frame.file)?, line)
        });
        ids.collect()
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

    /// Two generations, in which the same numbers mean different things.
    fn trace(version: &str) -> Vec<u8> {
        let mut out = format!("go 1.{version} trace\0\0\0").into_bytes();
        let end = |out: &mut Vec<u8>| out.extend((version == "26").then_some(END));
        let names = [(1, "main.main"), (2, "main.work"), (9, "/src/main.go")];
        let other = [(1, "main.rest"), (2, "main.main"), (9, "/src/main.go")];
        // Batches come in any order; those of events and of experiments are skipped.
        out.extend(batch(1, &samples(&[1, 2, 1, 0])));
        out.extend(batch(1, &[14, 1, 2, 3]));
        out.extend([EXPERIMENT, 1, 1, 1, 1, 2, 77, 77]);
        out.extend(batch(1, &stacks(&[(1, &[2, 1]), (2, &[1])])));
        out.extend(batch(1, &strings(&names)));
        end(&mut out);
        out.extend(batch(2, &stacks(&[(1, &[1, 2])])));
        out.extend(batch(2, &strings(&other)));
        out.extend(batch(2, &samples(&[1])));
        end(&mut out);
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

    #[test]
    fn a_generation_that_was_cut_is_left_out() {
        let whole = trace("26");
        let first = "samples* 4
             [no stack] 1
             main.main 1
             main.main;main.work 2";
        let cut = &whole[..whole.len() - 2];
        let at = whole.len() - 1 - batch(2, &samples(&[1])).len();
        check(
            cut,
            &format!(
                "{first}
                 note: The trace ends in the middle of a batch, which begins at byte {at}: what was recorded last is left out.
                 {NOTE}"
            ),
        );
        check(
            &whole[..whole.len() - 1],
            &format!(
                "{first}
                 note: The trace does not say that its last generation ended: it is left out.
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
        check_fault(
            header("21"),
            0,
            "a trace of Go 1.21, expected one of Go 1.22 or later",
        );
        let none = "the trace has no CPU samples, which a trace has when a CPU profile was recorded at the same time";
        check_fault(header("26"), 0, none);
        check_fault(with(&[14, 1, 2]), 0, none);
        check_fault(
            with(&samples(&[7])),
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
