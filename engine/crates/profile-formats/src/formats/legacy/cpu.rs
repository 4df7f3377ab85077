//! gperftools' CPU profiles: words of four or eight bytes in either byte order, then the memory map.

use super::addresses::{Addresses, JAVA};
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::collect::stacks::Stacks;
use crate::collect::units::value;
use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// Samples between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;
/// The number of words before the first sample: 0, 3, a version, microseconds between samples, 0.
const HEADER: usize = 5;

/// The word size and byte order of a machine.
#[derive(Clone, Copy)]
struct Machine {
    bytes: usize,
    big_endian: bool,
}

const MACHINES: [Machine; 4] = [
    Machine {
        bytes: 8,
        big_endian: false,
    },
    Machine {
        bytes: 4,
        big_endian: false,
    },
    Machine {
        bytes: 8,
        big_endian: true,
    },
    Machine {
        bytes: 4,
        big_endian: true,
    },
];

impl Machine {
    /// The `n`-th word.
    fn word(self, bytes: &[u8], n: usize) -> Option<u64> {
        let from = n.checked_mul(self.bytes)?;
        let word = bytes.get(from..from.checked_add(self.bytes)?)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(match self.big_endian {
            true => word.iter().fold(0, add),
            false => word.iter().rev().fold(0, add),
        })
    }

    fn is_of(self, bytes: &[u8]) -> bool {
        let word = |n| self.word(bytes, n);
        word(0) == Some(0)
            && word(1) == Some(3)
            && matches!(word(2), Some(0 | 1))
            && word(3).is_some_and(|it| it > 0)
            && word(4) == Some(0)
    }
}

/// Whether bytes begin with the header of any machine.
pub(crate) fn is_profile(bytes: &[u8]) -> bool {
    MACHINES.iter().any(|machine| machine.is_of(bytes))
}

/// Reads the profile that begins at byte `start`. `symbols` are the lines of the symbol section.
pub(crate) fn read(input: &Input, symbols: &str, start: usize) -> Result<Collected, Fault> {
    let bytes = &input.bytes[start..];
    let Some(&machine) = MACHINES.iter().find(|machine| machine.is_of(bytes)) else {
        let problem = "expected the words 0, 3, 0, a period in microseconds, and 0";
        return Err(Fault::byte(start, problem));
    };
    if machine.word(bytes, 2) == Some(1) {
        let fault = Fault::byte(start, "this is a Java profile in gperftools' format");
        return Err(fault.advise(JAVA));
    }
    let period = machine.word(bytes, 3).unwrap_or_default();
    let period = i64::try_from(period)
        .ok()
        .and_then(|it| it.checked_mul(1000));
    let period = period.ok_or_else(|| Fault::byte(start, "the period is too large"))?;
    let mut addresses = Addresses::default();
    symbols.lines().for_each(|line| addresses.symbol(line));
    let (samples, end) = samples(input, machine, start)?;
    let map = String::from_utf8_lossy(&input.bytes[end..]);
    map.lines().for_each(|line| addresses.map(line));
    let types = vec![value("samples", "count"), value("cpu", "ns")];
    let mut stacks = Stacks::new(types, 1)?;
    for (n, sample) in samples.list.iter().enumerate() {
        if n.is_multiple_of(PROGRESS_STEP) {
            input.progress.at(n as f64 / samples.list.len() as f64)?;
        }
        let chain = &samples.addresses[sample.from..sample.to];
        let frames = addresses.frames(chain, input, &mut stacks)?;
        let time = sample.count.checked_mul(period).ok_or_else(too_large)?;
        let added = stacks.add(&frames, &[sample.count, time]);
        added.map_err(|fault| fault.at_byte(sample.at))?;
    }
    if !samples.closed {
        stacks.note("The file is cut short: the words that end its samples are missing.");
    }
    addresses.note().into_iter().for_each(|it| stacks.note(it));
    stacks.finish(Format::Gperftools)
}

#[derive(Default)]
struct Samples {
    list: Vec<Sample>,
    /// The addresses of all samples, innermost first in each. Return addresses point into their calls.
    addresses: Vec<u64>,
    /// The words that end the samples are there.
    closed: bool,
}

struct Sample {
    count: i64,
    from: usize,
    to: usize,
    at: usize,
}

/// All samples, and the byte where the text after them begins.
fn samples(input: &Input, machine: Machine, start: usize) -> Result<(Samples, usize), Fault> {
    let bytes = &input.bytes[start..];
    let mut all = Samples::default();
    let mut next = HEADER;
    while let Some(count) = machine.word(bytes, next) {
        let at = start + next * machine.bytes;
        let length = machine.word(bytes, next + 1);
        let left = (bytes.len() / machine.bytes).saturating_sub(next + 2);
        let Some(length) = length.filter(|&it| it <= left as u64) else {
            let problem = match length {
                Some(length) => format!("a sample claims {length} addresses, but {left} are left"),
                None => "the file ends inside a sample".to_owned(),
            };
            return Err(Fault::byte(at, problem));
        };
        let first = machine.word(bytes, next + 2);
        next += 2 + length as usize;
        if count == 0 && length == 1 && first == Some(0) {
            all.closed = true;
            break;
        }
        let from = all.addresses.len();
        for n in next - length as usize..next {
            let address = machine.word(bytes, n).unwrap_or_default();
            let caller = all.addresses.len() > from;
            all.addresses.push(address.wrapping_sub(u64::from(caller)));
        }
        // The interrupted function may occur twice: from the signal and from walking the stack.
        if let [leaf, again, ..] = all.addresses[from..]
            && leaf == again.wrapping_add(1)
        {
            all.addresses.remove(from + 1);
        }
        let count = i64::try_from(count).map_err(|_| too_large().at_byte(at))?;
        let to = all.addresses.len();
        all.list.push(Sample {
            count,
            from,
            to,
            at,
        });
    }
    Ok((all, start + (next * machine.bytes).min(bytes.len())))
}
