//! Legacy text: memory (`heap profile:`, `heap_v2/`), waiting (`--- contentionz`, `--- contention:`, `--- mutex:`), and Go's
//! counts (`goroutine profile: total 7`).

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

/// The section of a file that a profiler's server symbolised.
pub(crate) const SYMBOLS: &str = "--- symbol";
/// Lines between two looks at whether anybody waits for them.
const WATCHED: usize = 1 << 12;
/// What stands before the map of memory.
const MAPS: [&str; 2] = ["MAPPED_LIBRARIES:", "--- Memory map:"];

/// What a file counts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind<'t> {
    /// Rows of objects, one object in so many bytes sampled; 0 and 1 are all.
    Heap { rate: i64, total: Counts },
    /// jemalloc's, whose rows tell threads apart.
    Threads { rate: i64 },
    /// Rows of cycles, or nanoseconds, and how often. Go's of locks stand already for those that it did not sample, since Go 1.17,
    /// though they tell their sampling period.
    Waiting { estimated: bool },
    /// Rows of this, with the sum of all.
    Count { what: &'t str, total: i64 },
    /// Google's own Java, whose addresses are numbers of functions.
    Java,
}

/// Whether a line begins such a profile.
pub(crate) fn begins(line: &str) -> bool {
    Kind::of(line.trim()).is_some()
}

impl<'t> Kind<'t> {
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
            return Some(Kind::Heap { rate, total });
        }
        if let Some(rate) = line.strip_prefix("heap_v2/") {
            let rate = rate.parse().ok()?;
            return Some(Kind::Threads { rate });
        }
        if let Some(rest) = line.strip_prefix("--- ") {
            return match rest.split([' ', ':']).next()? {
                "contentionz" | "contention" => Some(Kind::Waiting { estimated: false }),
                "mutex" => Some(Kind::Waiting { estimated: true }),
                "heapz" => Some(Kind::Java),
                _ => None,
            };
        }
        let (what, total) = line.split_once(" profile: total ")?;
        let word = !what.is_empty()
            && what
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let total = total.parse().ok().filter(|_| word)?;
        Some(Kind::Count { what, total })
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
        match Kind::of(line.trim()) {
            Some(Kind::Java) => {
                let fault =
                    Fault::line(number, "this is a profile of Java's in gperftools' format");
                return Err(fault.advise(JAVA));
            }
            Some(kind) => break kind,
            None if line.starts_with(SYMBOLS) || line.starts_with("binary=") => {}
            None => addresses.symbol(line),
        }
    };
    let mut reader = Reader::new(input, addresses, kind)?;
    for (number, line) in rest {
        if number.is_multiple_of(WATCHED) {
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
    kind: Kind<'i>,
    stacks: Option<Stacks>,
    row: Option<Row>,
    /// What the rows add up to, as they stand there.
    sums: Counts,
    /// Of waiting: cycles in a second, and waits that one row stands for.
    cycles: f64,
    period: i64,
    /// jemalloc's: what the file says of all stacks, and its threads by their numbers.
    total: Option<Counts>,
    threads: HashMap<String, String>,
}

/// A row, while lines that belong to it may follow.
struct Row {
    line: usize,
    chain: Vec<u64>,
    /// What Go names itself, innermost first.
    named: Vec<FrameId>,
    values: Vec<i64>,
    /// jemalloc's: of all threads, and of each.
    all: Counts,
    threads: Vec<(String, Counts)>,
}

impl<'i, 'a> Reader<'i, 'a> {
    fn new(input: &'i Input<'a>, addresses: Addresses, kind: Kind<'i>) -> Result<Self, Fault> {
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
            Kind::Heap { total, .. } => Some(heap(total.tells_allocated())?),
            Kind::Count { what, .. } => Some(Stacks::new(vec![value(what, "count")], 0)?),
            Kind::Waiting { .. } | Kind::Java => {
                let types = vec![value("contentions", "count"), value("delay", "ns")];
                Some(Stacks::new(types, 1)?)
            }
            // The lines before the first stack tell.
            Kind::Threads { .. } => None,
        };
        reader.stacks = stacks;
        Ok(reader)
    }

    fn stacks(&mut self) -> Result<&mut Stacks, Fault> {
        let total = self.total.unwrap_or_default();
        match &mut self.stacks {
            Some(stacks) => Ok(stacks),
            empty => Ok(empty.insert(heap(total.tells_allocated())?)),
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
            Kind::Threads { .. } => self.of_thread(line, number),
            Kind::Heap { rate, .. } => {
                let parts = Counts::parse(line).zip(line.split_once('@'));
                let ((counts, _), (_, addresses)) = parts
                    .ok_or_else(|| expected("a row such as 1: 32 [1: 32] @ 0x42ecc3", line))?;
                self.count(counts)?;
                let values = self.values(counts.estimate(rate));
                self.begin(number, addresses, values)
            }
            Kind::Waiting { .. } if line.contains('@') => self.waiting(line, number),
            Kind::Waiting { .. } => self.attribute(line),
            Kind::Count { .. } => {
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
            Kind::Java => Ok(()),
        }
    }

    /// A frame of the row before, as Go names it: address, function and distance, file and line.
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

    /// Adds to the sums that the file is held to.
    fn count(&mut self, counts: Counts) -> Result<(), Fault> {
        if counts.is_impossible() && !matches!(self.kind, Kind::Count { .. }) {
            return Err(Fault::whole("bytes are without an object"));
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

    /// One value of each type.
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

    /// `19490304 27 @ 0xbccc97`: cycles and waits.
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

    /// `sampling period = 100`.
    fn attribute(&mut self, line: &str) -> Result<(), Fault> {
        let wrong = || expected("a line such as sampling period = 100", line);
        let (name, text) = line.split_once('=').ok_or_else(wrong)?;
        let number = || text.trim().parse::<i64>().map_err(|_| wrong());
        match name.trim() {
            "cycles/second" => self.cycles = number()?.max(0) as f64,
            "sampling period" if self.kind != (Kind::Waiting { estimated: true }) => {
                self.period = number()?.max(1);
            }
            "format" => {
                let fault = Fault::whole("this is a profile of Java's in gperftools' format");
                return Err(fault.advise(JAVA));
            }
            _ => {}
        }
        Ok(())
    }

    /// `@ 0x42ecc3` begins a stack of jemalloc's; `t*: 1: 32 [0: 0]` and `t3: 1: 32 [0: 0] name` say what it costs.
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

    /// Adds the row that no more lines belong to.
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
        let Kind::Threads { rate } = self.kind else {
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
        let told = match &self.kind {
            Kind::Heap { total, .. } => Some(*total),
            Kind::Count { total, .. } => Some(Counts {
                in_use: (*total, 0),
                ..Counts::default()
            }),
            // jemalloc rounds each of its counts by itself.
            Kind::Threads { .. } | Kind::Waiting { .. } | Kind::Java => None,
        };
        let mut stacks = self
            .stacks
            .take()
            .ok_or_else(|| Fault::whole("the profile has no samples"))?;
        if let Some(told) = told {
            let (sum, total, unit) = match self.kind {
                Kind::Count { .. } => (self.sums.in_use.0, told.in_use.0, ""),
                _ => (self.sums.in_use.1, told.in_use.1, " bytes"),
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

/// What each thread has of a stack, all of them scaled alike so that they add up to what the stack is estimated at; or the
/// stack's alone, where its threads do not add up to it.
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

/// Moves the part of what is left that is `part` of what it stands `of`.
fn take(share: &mut i64, left: &mut i64, part: i64, of: &mut i64) {
    if *of != 0 {
        *share = (i128::from(*left) * i128::from(part) / i128::from(*of)) as i64;
    }
    *left -= *share;
    *of -= part;
}

/// Values of memory, which a difference has below zero; what is in use is shown first.
fn heap(allocated: bool) -> Result<Stacks, Fault> {
    match allocated {
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
