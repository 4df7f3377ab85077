//! The legacy text formats: memory (`heap profile:`, `heap_v2/`), waiting (`--- contentionz`, `--- contention:`, `---
//! mutex:`), and Go's counts (`goroutine profile: total 7`).

use std::collections::HashMap;

use super::addresses::{Addresses, JAVA, hexadecimal};
use super::rows::{Counts, chain};
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::value;
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};

/// The heading of the symbols that a profiling server adds.
pub(crate) const SYMBOLS: &str = "--- symbol";
/// Lines between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;
/// The headings of the memory map.
const MAPS: [&str; 2] = ["MAPPED_LIBRARIES:", "--- Memory map:"];

/// What a profile counts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ProfileKind<'t> {
    /// Objects, sampled once in `rate` bytes; 0 and 1 mean all.
    Heap { rate: i64, total: Counts },
    /// jemalloc's objects, by thread.
    Threads { rate: i64 },
    /// Cycles or nanoseconds of waiting, and how often. Since Go 1.17, Go's rows of locks are already scaled up to all
    /// waits, although the file still states the sampling period.
    Waiting { estimated: bool },
    /// Counts of something, with the sum of all.
    Count { what: &'t str, total: i64 },
    /// Google's Java, whose addresses are numbers of functions.
    Java,
}

/// Whether a line begins such a profile.
pub(crate) fn begins(line: &str) -> bool {
    ProfileKind::of(line.trim()).is_some()
}

impl<'t> ProfileKind<'t> {
    fn of(line: &'t str) -> Option<Self> {
        if let Some(rest) = line.strip_prefix("heap profile:") {
            let (total, rest) = Counts::parse(rest)?;
            let label = rest.trim_start().strip_prefix('@')?.trim();
            let (name, rate) = label.split_once('/').unwrap_or((label, "0"));
            let rate = rate.parse().ok()?;
            let rate = match name {
                "heap_v2" | "heapz_v2" => rate,
                // Go writes twice its rate.
                "heap" => rate / 2,
                _ => 0,
            };
            return Some(ProfileKind::Heap { rate, total });
        }
        if let Some(rate) = line.strip_prefix("heap_v2/") {
            let rate = rate.parse().ok()?;
            return Some(ProfileKind::Threads { rate });
        }
        if let Some(rest) = line.strip_prefix("--- ") {
            return match rest.split([' ', ':']).next()? {
                "contentionz" | "contention" => Some(ProfileKind::Waiting { estimated: false }),
                "mutex" => Some(ProfileKind::Waiting { estimated: true }),
                "heapz" => Some(ProfileKind::Java),
                _ => None,
            };
        }
        let (what, total) = line.split_once(" profile: total ")?;
        let word = !what.is_empty()
            && what
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let total = total.parse().ok().filter(|_| word)?;
        Some(ProfileKind::Count { what, total })
    }
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let text = input.text();
    let end = MAPS
        .iter()
        .filter_map(|it| text.find(&format!("\n{it}")))
        .min();
    let (rows, map) = text.split_at(end.unwrap_or(text.len()));
    let mut addresses = Addresses::default();
    map.lines().for_each(|line| addresses.map(line));
    let mut rest = lines(rows);
    let kind = loop {
        let Some((number, line)) = rest.next() else {
            return Err(Fault::line(
                1,
                "expected a line such as heap profile: 1: 32 [1: 32] @ heapprofile",
            ));
        };
        match ProfileKind::of(line.trim()) {
            Some(ProfileKind::Java) => {
                let fault = Fault::line(number, "this is a Java profile in gperftools' format");
                return Err(fault.advise(JAVA));
            }
            Some(kind) => break kind,
            None if line.starts_with(SYMBOLS) || line.starts_with("binary=") => {}
            None => addresses.symbol(line),
        }
    };
    let mut reader = Reader::new(input, addresses, kind)?;
    for (number, line) in rest {
        if number.is_multiple_of(PROGRESS_STEP) {
            input.read_until_line(line)?;
        }
        reader
            .line(line.trim(), number)
            .map_err(|fault| fault.at_line(number))?;
    }
    reader.finish()
}

struct Reader<'i, 'a> {
    input: &'i Input<'a>,
    addresses: Addresses,
    kind: ProfileKind<'i>,
    stacks: Option<Stacks>,
    row: Option<Row>,
    /// The sums of the rows as written.
    sums: Counts,
    /// For waiting: cycles per second, and how many waits one sampled wait stands for.
    cycles: f64,
    period: i64,
    /// For jemalloc: the total of all stacks, and the names of threads by their numbers.
    total: Option<Counts>,
    threads: HashMap<String, String>,
}

/// A row. Further lines may belong to it.
struct Row {
    line: usize,
    chain: Vec<u64>,
    /// Frames that Go named itself, innermost first.
    named: Vec<FrameId>,
    values: Vec<i64>,
    /// For jemalloc: the counts of all threads, and of each.
    all: Counts,
    threads: Vec<(String, Counts)>,
}

impl<'i, 'a> Reader<'i, 'a> {
    fn new(
        input: &'i Input<'a>,
        addresses: Addresses,
        kind: ProfileKind<'i>,
    ) -> Result<Self, Fault> {
        let mut reader = Reader {
            input,
            addresses,
            kind,
            stacks: None,
            row: None,
            sums: Counts::default(),
            cycles: 0.0,
            period: 1,
            total: None,
            threads: HashMap::new(),
        };
        let stacks = match &reader.kind {
            ProfileKind::Heap { total, .. } => Some(heap(*total)?),
            ProfileKind::Count { what, .. } => Some(Stacks::new(vec![value(what, "count")], 0)?),
            ProfileKind::Waiting { .. } | ProfileKind::Java => {
                let types = vec![value("contentions", "count"), value("delay", "ns")];
                Some(Stacks::new(types, 1)?)
            }
            // The lines before the first stack decide.
            ProfileKind::Threads { .. } => None,
        };
        reader.stacks = stacks;
        Ok(reader)
    }

    fn stacks(&mut self) -> Result<&mut Stacks, Fault> {
        let total = self.total.unwrap_or_default();
        match &mut self.stacks {
            Some(stacks) => Ok(stacks),
            empty => Ok(empty.insert(heap(total)?)),
        }
    }

    fn line(&mut self, line: &str, number: usize) -> Result<(), Fault> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(comment) = line.strip_prefix('#') {
            return self.named(comment);
        }
        if line.starts_with("---") {
            return Ok(());
        }
        match self.kind {
            ProfileKind::Threads { .. } => self.of_thread(line, number),
            ProfileKind::Heap { rate, .. } => {
                let parts = Counts::parse(line).zip(line.split_once('@'));
                let ((counts, _), (_, addresses)) = parts
                    .ok_or_else(|| expected("a row such as 1: 32 [1: 32] @ 0x42ecc3", line))?;
                self.count(counts)?;
                let values = self.values(counts.estimate(rate));
                self.begin(number, addresses, values)
            }
            ProfileKind::Waiting { .. } if line.contains('@') => self.waiting(line, number),
            ProfileKind::Waiting { .. } => self.attribute(line),
            ProfileKind::Count { .. } => {
                let parts = line.split_once('@');
                let parts =
                    parts.and_then(|(count, rest)| Some((count.trim().parse().ok()?, rest)));
                let (count, addresses) =
                    parts.ok_or_else(|| expected("a row such as 1 @ 0x42ecc3", line))?;
                self.count(Counts {
                    in_use: (count, 0),
                    ..Counts::default()
                })?;
                self.begin(number, addresses, vec![count])
            }
            ProfileKind::Java => Ok(()),
        }
    }

    /// Reads a frame of the previous row that Go named: address, function and offset, file and line.
    fn named(&mut self, comment: &str) -> Result<(), Fault> {
        let words: Vec<_> = comment.split('\t').filter(|it| !it.is_empty()).collect();
        let (Some(row), [address, function, place]) = (&mut self.row, &words[..]) else {
            return Ok(());
        };
        if hexadecimal(address).is_none() {
            return Ok(());
        }
        let name = function
            .rsplit_once("+0x")
            .map_or(*function, |(name, _)| name);
        let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
        let line = match self.input.lines() {
            true => line.parse().unwrap_or(0),
            false => 0,
        };
        if let Some(stacks) = &mut self.stacks {
            row.named.push(stacks.frame(name, file, line)?);
        }
        Ok(())
    }

    /// Adds to the sums that are compared with the file's total.
    fn count(&mut self, counts: Counts) -> Result<(), Fault> {
        if counts.is_impossible() && !matches!(self.kind, ProfileKind::Count { .. }) {
            return Err(Fault::whole("a row has bytes but no objects"));
        }
        let add = |sum: &mut i64, value: i64| {
            *sum = sum.checked_add(value).ok_or_else(too_large)?;
            Ok::<(), Fault>(())
        };
        add(&mut self.sums.in_use.0, counts.in_use.0)?;
        add(&mut self.sums.in_use.1, counts.in_use.1)?;
        add(&mut self.sums.allocated.0, counts.allocated.0)?;
        add(&mut self.sums.allocated.1, counts.allocated.1)
    }

    /// The values of a row, one of each type.
    fn values(&self, counts: Counts) -> Vec<i64> {
        let (used, all) = (counts.in_use, counts.allocated);
        match self.stacks.as_ref().map(Stacks::width) {
            Some(4) => vec![all.0, all.1, used.0, used.1],
            _ => vec![used.0, used.1],
        }
    }

    fn begin(&mut self, line: usize, addresses: &str, values: Vec<i64>) -> Result<(), Fault> {
        self.end()?;
        self.row = Some(Row {
            line,
            chain: chain(addresses)?,
            named: Vec::new(),
            values,
            all: Counts::default(),
            threads: Vec::new(),
        });
        Ok(())
    }

    /// Reads `19490304 27 @ 0xbccc97`: cycles and waits.
    fn waiting(&mut self, line: &str, number: usize) -> Result<(), Fault> {
        let parts = line.split_once('@').and_then(|(counts, rest)| {
            let (cycles, waits) = counts.trim().split_once(char::is_whitespace)?;
            let number = |text: &str| text.trim().parse::<i64>().ok();
            Some((number(cycles)?, number(waits)?, rest))
        });
        let (cycles, waits, addresses) =
            parts.ok_or_else(|| expected("a row such as 19490304 27 @ 0x42ecc3", line))?;
        let waits = waits.checked_mul(self.period).ok_or_else(too_large)?;
        let delay = match self.cycles > 0.0 {
            true => (cycles as f64 * self.period as f64 / (self.cycles / 1e9)) as i64,
            false => cycles,
        };
        self.begin(number, addresses, vec![waits, delay])
    }

    /// Reads `sampling period = 100`.
    fn attribute(&mut self, line: &str) -> Result<(), Fault> {
        let wrong = || expected("a line such as sampling period = 100", line);
        let (name, text) = line.split_once('=').ok_or_else(wrong)?;
        let number = || text.trim().parse::<i64>().map_err(|_| wrong());
        match name.trim() {
            "cycles/second" => self.cycles = number()?.max(0) as f64,
            "sampling period" if self.kind != (ProfileKind::Waiting { estimated: true }) => {
                self.period = number()?.max(1);
            }
            "format" => {
                let fault = Fault::whole("this is a Java profile in gperftools' format");
                return Err(fault.advise(JAVA));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a line of jemalloc. `@ 0x42ecc3` begins a stack; `t*: 1: 32 [0: 0]` and `t3: 1: 32 [0: 0] name` are its costs.
    fn of_thread(&mut self, line: &str, number: usize) -> Result<(), Fault> {
        if let Some(addresses) = line.strip_prefix('@') {
            self.stacks()?;
            return self.begin(number, addresses, Vec::new());
        }
        let parts = line.strip_prefix('t').and_then(|it| it.split_once(':'));
        let parts = parts.and_then(|(id, rest)| Some((id, Counts::parse(rest)?)));
        let Some((id, (counts, name))) = parts else {
            return Err(expected("a row such as t*: 1: 32 [0: 0]", line));
        };
        match (&mut self.row, id) {
            (None, "*") => self.total = Some(counts),
            (None, _) => {
                let name = match name.trim() {
                    "" => format!("thread {id}"),
                    name => format!("{name} ({id})"),
                };
                self.threads.insert(id.to_owned(), name);
            }
            (Some(row), "*") => {
                row.all = counts;
                self.count(counts)?;
            }
            (Some(row), _) => row.threads.push((id.to_owned(), counts)),
        }
        Ok(())
    }

    /// Adds the current row: no more lines belong to it.
    fn end(&mut self) -> Result<(), Fault> {
        let Some(row) = self.row.take() else {
            return Ok(());
        };
        let line = row.line;
        self.add(row).map_err(|fault| fault.at_line(line))
    }

    fn add(&mut self, mut row: Row) -> Result<(), Fault> {
        self.stacks()?;
        let Some(stacks) = &mut self.stacks else {
            return Ok(());
        };
        let frames = match row.named.is_empty() {
            true => self.addresses.frames(&row.chain, self.input, stacks)?,
            false => {
                row.named.reverse();
                row.named
            }
        };
        let ProfileKind::Threads { rate } = self.kind else {
            return stacks.add(&frames, &row.values);
        };
        for (container, counts) in shares(&row.all, &row.threads, rate, self.threads.len() > 1) {
            let container = match &container {
                Some(id) => {
                    let name = self.threads.get(id).cloned();
                    Some(stacks.container(&name.unwrap_or_else(|| format!("thread {id}")))?)
                }
                None => None,
            };
            let (used, all) = (counts.in_use, counts.allocated);
            let values = match stacks.width() {
                4 => vec![all.0, all.1, used.0, used.1],
                _ => vec![used.0, used.1],
            };
            stacks.add_in(container, &frames, &values)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Collected, Fault> {
        self.end()?;
        self.stacks()?;
        let stated = match &self.kind {
            ProfileKind::Heap { total, .. } => Some(*total),
            ProfileKind::Count { total, .. } => Some(Counts {
                in_use: (*total, 0),
                ..Counts::default()
            }),
            // jemalloc rounds each count separately.
            ProfileKind::Threads { .. } | ProfileKind::Waiting { .. } | ProfileKind::Java => None,
        };
        let mut stacks = self
            .stacks
            .take()
            .ok_or_else(|| Fault::whole("the profile has no samples"))?;
        if let Some(stated) = stated {
            let (sum, total, unit) = match self.kind {
                ProfileKind::Count { .. } => (self.sums.in_use.0, stated.in_use.0, ""),
                _ => (self.sums.in_use.1, stated.in_use.1, " bytes"),
            };
            if sum != total {
                stacks.note(format!(
                    "The rows add up to {sum}{unit}, but the file's own total is {total}: some may be missing."
                ));
            }
        }
        self.addresses
            .note()
            .into_iter()
            .for_each(|it| stacks.note(it));
        stacks.finish(Format::PprofText)
    }
}

/// Each thread's part of a stack's estimate. The parts add up to the estimate. When the threads do not add up to the stack,
/// only the stack's own estimate.
fn shares(
    all: &Counts,
    threads: &[(String, Counts)],
    rate: i64,
    several: bool,
) -> Vec<(Option<String>, Counts)> {
    let whole = all.estimate(rate);
    let sum = |of: fn(&Counts) -> i64| {
        threads
            .iter()
            .try_fold(0_i64, |sum, (_, it)| sum.checked_add(of(it)))
    };
    let adds_up = [
        (sum(|it| it.in_use.0), all.in_use.0),
        (sum(|it| it.in_use.1), all.in_use.1),
        (sum(|it| it.allocated.0), all.allocated.0),
        (sum(|it| it.allocated.1), all.allocated.1),
    ];
    let positive = threads.iter().all(|(_, it)| it.is_positive());
    let adds_up = positive && adds_up.iter().all(|&(sum, all)| sum == Some(all));
    if !several || !adds_up {
        return vec![(None, whole)];
    }
    let (mut left, mut of) = (whole, *all);
    threads
        .iter()
        .map(|(id, counts)| {
            let mut share = Counts::default();
            take(
                &mut share.in_use.0,
                &mut left.in_use.0,
                counts.in_use.0,
                &mut of.in_use.0,
            );
            take(
                &mut share.in_use.1,
                &mut left.in_use.1,
                counts.in_use.1,
                &mut of.in_use.1,
            );
            take(
                &mut share.allocated.0,
                &mut left.allocated.0,
                counts.allocated.0,
                &mut of.allocated.0,
            );
            take(
                &mut share.allocated.1,
                &mut left.allocated.1,
                counts.allocated.1,
                &mut of.allocated.1,
            );
            (Some(id.clone()), share)
        })
        .collect()
}

/// Moves to `share` the fraction `part / of` of what is left.
fn take(share: &mut i64, left: &mut i64, part: i64, of: &mut i64) {
    if *of != 0 {
        *share = (i128::from(*left) * i128::from(part) / i128::from(*of)) as i64;
    }
    *left -= *share;
    *of -= part;
}

/// Stacks for memory. Differences have negative values. The bytes in use are shown first.
fn heap(total: Counts) -> Result<Stacks, Fault> {
    match total.has_allocated() {
        true => {
            let types = vec![
                value("alloc_objects", "count"),
                value("alloc_space", "bytes"),
                value("inuse_objects", "count"),
                value("inuse_space", "bytes"),
            ];
            Stacks::signed(types, 3)
        }
        false => Stacks::signed(vec![value("objects", "count"), value("space", "bytes")], 1),
    }
}

fn expected(what: &str, line: &str) -> Fault {
    Fault::whole(format!("expected {what}, got {}", quote(line)))
}
