//! Reads samples.

use std::collections::HashMap;
use std::fmt;

use fulcrum_model::text::counted;

use super::{HEAD, Kind, MAGIC, MARK, MAX_STACK, MAX_TEXT, Module, Sample, VERSION};

/// The samples of a run, read piece by piece from the file's bytes.
#[derive(Clone, Debug)]
pub struct Samples<'a> {
    bytes: &'a [u8],
    /// The length of the whole records.
    end: usize,
    names: HashMap<u64, &'a [u8]>,
    programs: HashMap<u32, &'a [u8]>,
    modules: HashMap<u32, Vec<Module<'a>>>,
    lost: u64,
    notes: Vec<String>,
}

/// Why bytes are not samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplesError {
    /// They end within the header.
    Short(u64),
    /// They begin with another word.
    Magic(u64),
    /// They have another version.
    Version(u64),
}

/// A record, split into its parts.
struct Record<'a> {
    kind: Kind,
    pid: u32,
    tid: u32,
    words: &'a [u8],
    text: &'a [u8],
    length: usize,
}

impl<'a> Samples<'a> {
    /// Reads a file of samples. What follows the first damaged record is left out, and reported by [`Samples::notes`].
    ///
    /// # Errors
    /// [`SamplesError`], if this is no such file.
    pub fn read(bytes: &'a [u8]) -> Result<Self, SamplesError> {
        let word = |at: usize| {
            let word = bytes.get(at..at + 8)?;
            Some(u64::from_le_bytes(word.try_into().ok()?))
        };
        let short = SamplesError::Short(bytes.len() as u64);
        match (word(0).ok_or(short)?, word(8).ok_or(short)?) {
            (MAGIC, VERSION) => {}
            (MAGIC, version) => return Err(SamplesError::Version(version)),
            (magic, _) => return Err(SamplesError::Magic(magic)),
        }
        let mut samples = Samples {
            bytes,
            end: HEAD,
            names: HashMap::new(),
            programs: HashMap::new(),
            modules: HashMap::new(),
            lost: 0,
            notes: Vec::new(),
        };
        while let Some(record) = record_at(bytes, samples.end) {
            samples.take(&record);
            samples.end += record.length;
        }
        let rest = bytes.len() - samples.end;
        if rest > 0 {
            samples.notes.push(format!(
                "The samples are damaged or cut off at byte {}: {} not read.",
                samples.end,
                counted(rest as u64, "byte was", "bytes were")
            ));
        }
        Ok(samples)
    }

    fn take(&mut self, record: &Record<'a>) {
        let word = |n: usize| words(record.words).nth(n).unwrap_or(0);
        match record.kind {
            Kind::Sample => {}
            Kind::Process => {
                self.programs.insert(record.pid, record.text);
            }
            Kind::Module => self.modules.entry(record.pid).or_default().push(Module {
                start: word(0),
                end: word(1),
                offset: word(2),
                file: record.text,
            }),
            Kind::Lost => self.lost = self.lost.saturating_add(word(0)),
            Kind::Note => {
                let note = String::from_utf8_lossy(record.text).into_owned();
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
        }
    }

    /// Calls `each` for all samples in the order in which they were written, with the threads' names filled in.
    pub fn each(&mut self, mut each: impl FnMut(&Sample<'_>)) {
        let mut at = HEAD;
        let mut stack = Vec::new();
        while at < self.end
            && let Some(record) = record_at(self.bytes, at)
        {
            at += record.length;
            if record.kind != Kind::Sample {
                continue;
            }
            let of = u64::from(record.pid) << 32 | u64::from(record.tid);
            if !record.text.is_empty() {
                self.names.insert(of, record.text);
            }
            let mut numbers = words(record.words);
            let (time_ns, weight_ns) = (numbers.next(), numbers.next());
            stack.clear();
            stack.extend(numbers);
            each(&Sample {
                pid: record.pid,
                tid: record.tid,
                time_ns: time_ns.unwrap_or(0),
                weight_ns: weight_ns.unwrap_or(0),
                thread: self.names.get(&of).copied().unwrap_or_default(),
                stack: &stack,
            });
        }
        self.names.clear();
    }

    /// The program of a process without a log.
    pub fn program(&self, pid: u32) -> Option<&'a [u8]> {
        self.programs.get(&pid).copied()
    }

    /// The code mapped in a process without a log.
    pub fn modules(&self, pid: u32) -> &[Module<'a>] {
        self.modules.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Samples that the recorder lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// What a reader should know, as whole sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes
        .chunks_exact(8)
        .map(|it| u64::from_le_bytes(it.try_into().unwrap_or_default()))
}

/// The whole, valid record at an offset.
fn record_at(bytes: &[u8], at: usize) -> Option<Record<'_>> {
    let head = bytes.get(at..at + 16)?;
    let (first, who) = (words(head).next()?, words(head).nth(1)?);
    let (kind, numbers) = match first as u8 {
        1 => (Kind::Sample, 2..=2 + MAX_STACK),
        2 => (Kind::Process, 0..=0),
        4 => (Kind::Module, 3..=3),
        7 => (Kind::Lost, 1..=1),
        8 => (Kind::Note, 0..=0),
        _ => return None,
    };
    let text = (first >> 16 & 0xffff) as usize;
    let length = (first >> 32) as usize * 8;
    let words = length.checked_sub(16 + text.next_multiple_of(8))?;
    let is_right = (first >> 8) as u8 == MARK
        && text <= MAX_TEXT
        && numbers.contains(&(words / 8))
        && length <= bytes.len() - at;
    let text_at = at + 16 + words;
    is_right.then(|| Record {
        kind,
        pid: who as u32,
        tid: (who >> 32) as u32,
        words: &bytes[at + 16..text_at],
        text: &bytes[text_at..text_at + text],
        length,
    })
}

impl fmt::Display for SamplesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SamplesError::Short(length) => {
                write!(f, "it has {length} bytes, expected a head of {HEAD}")
            }
            SamplesError::Magic(word) => {
                write!(f, "it begins with {word:#x}, expected {MAGIC:#x}")
            }
            SamplesError::Version(version) => write!(
                f,
                "it has version {version}, expected {VERSION}: another version of Fulcrum wrote it"
            ),
        }
    }
}

impl std::error::Error for SamplesError {}
