//! The records of `perf.data`: maps, names and forks of processes, and samples.

use super::events::{self, Sample};
use super::header::{Extent, Header};
use super::tracepoints;
use crate::decode::cursor::Cursor;
use crate::decode::fault::Fault;
use crate::decode::limits::Limits;
use crate::decode::unwrap::unzstd_open;

// Types of records.
const MMAP: u32 = 1;
const COMM: u32 = 3;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const ATTR: u32 = 64;
const BUILD_ID: u32 = 67;
const TRACING_DATA: u32 = 66;
const AUXTRACE: u32 = 71;
const FEATURE: u32 = 80;
/// The next part of the compressed stream of records.
const COMPRESSED: u32 = 81;
/// The same, with its size and padding.
const COMPRESSED2: u32 = 83;

// Bits in a record's head.
const MODE: u16 = 7;
const KERNEL: u16 = 1;
/// The file name of the kernel.
pub(crate) const KERNEL_FILE: &str = "[kernel.kallsyms]";
const EXEC: u16 = 1 << 13;
const MAP_BUILD_ID: u16 = 1 << 14;

const UNCLOSED: &str = "The recording was not closed: it ends with its last whole record, and events are named by their numbers.";
const CUT: &str = "The recording was cut short: it ends with its last whole record.";
const MESSAGES: &str =
    "Messages of perf are among the recording's records (`2>&1`), and are left out.";

const TRACES: &str = "Traces of instructions or memory accesses (Intel PT, CoreSight, SPE) are left out: `perf script --itrace=i100usg > FILE` \
                      makes samples of them.";

/// How perf's messages begin. No record does: read as its type, the first four bytes are a large number.
const MESSAGE: &[u8] = b"[ perf record: ";

/// A record that the reader needs.
#[derive(Debug)]
pub(crate) struct Record {
    /// The offset in the file.
    pub(crate) at: usize,
    pub(crate) time: u64,
    pub(crate) body: Body,
}

/// The contents of a record.
#[derive(Debug)]
pub(crate) enum Body {
    Map(Map),
    Name {
        pid: u32,
        tid: u32,
        name: String,
        exec: bool,
    },
    Fork {
        pid: u32,
        tid: u32,
        parent: u32,
        parent_tid: u32,
        /// It has its parent's maps.
        maps: bool,
    },
    Sample(Sample),
}

/// A mapping of a file.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) pid: u32,
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// The file offset of its first byte.
    pub(crate) offset: u64,
    pub(crate) file: String,
    pub(crate) build_id: Option<Vec<u8>>,
    /// Whether it is the kernel or one of its modules.
    pub(crate) kernel: bool,
}

impl Record {
    /// The sample; `None` for other records.
    pub(crate) fn sample(&self) -> Option<&Sample> {
        match &self.body {
            Body::Sample(sample) => Some(sample),
            _ => None,
        }
    }
}

/// What the reader needs of a file's records.
#[derive(Debug)]
pub(crate) struct Records {
    /// In the order of the file; compressed ones come last.
    pub(crate) records: Vec<Record>,
    /// The decompressed records, which contain copies of stacks.
    pub(crate) unpacked: Vec<u8>,
    /// Notes on what is missing.
    pub(crate) notes: Vec<&'static str>,
}

/// Reads all records. A pipe's header grows meanwhile.
pub(crate) fn read(bytes: &[u8], header: &mut Header, limits: Limits) -> Result<Records, Fault> {
    let data = header.data.unwrap_or_else(|| Cursor::new(&[]));
    let mut reader = Reader {
        header,
        records: Vec::new(),
        compressed: Vec::new(),
        first: None,
        cut: false,
        messages: false,
        traces: false,
    };
    reader.all(data)?;
    let mut unpacked = Vec::new();
    if let Some(first) = reader.first {
        let compressed = std::mem::take(&mut reader.compressed);
        let inside = |fault: Fault| match fault.place {
            Some(fulcrum_model::Place::Byte(at)) => Fault::byte(
                first,
                format!("at byte {at} of the compressed records: {}", fault.problem),
            ),
            _ => fault.at_byte(first),
        };
        unpacked = unzstd_open(compressed, limits).map_err(inside)?;
        let before = reader.records.len();
        let all = Cursor::new(&unpacked).in_order(reader.header.order);
        reader.all(all).map_err(inside)?;
        for record in &mut reader.records[before..] {
            record.at = first;
            if let Body::Sample(Sample {
                user: Some(user), ..
            }) = &mut record.body
            {
                user.unpacked = true;
            }
        }
        if !reader.compressed.is_empty() {
            let problem = "the compressed records hold compressed records";
            return Err(Fault::byte(first, problem));
        }
    }
    if reader.header.events.is_empty() {
        return Err(Fault::byte(bytes.len(), "the file names no events"));
    }
    for event in &mut reader.header.events {
        event.name_tracepoint(&reader.header.tracepoints);
    }
    let notes = [
        (reader.header.extent == Extent::Unclosed, UNCLOSED),
        (reader.cut, CUT),
        (reader.messages, MESSAGES),
        (reader.traces, TRACES),
    ];
    let notes = notes.into_iter().filter(|(applies, _)| *applies);
    Ok(Records {
        records: reader.records,
        unpacked,
        notes: notes.map(|(_, note)| note).collect(),
    })
}

/// The head of a record.
struct Head {
    kind: u32,
    misc: u16,
    /// The offset in the file.
    at: usize,
}

struct Reader<'r, 'a> {
    header: &'r mut Header<'a>,
    records: Vec<Record>,
    /// The compressed stream so far.
    compressed: Vec<u8>,
    /// The offset in the file where it begins.
    first: Option<usize>,
    /// A pipe ends within a record.
    cut: bool,
    /// Messages of perf were skipped.
    messages: bool,
    /// Data of a processor's tracing unit was skipped.
    traces: bool,
}

impl Reader<'_, '_> {
    fn all(&mut self, mut data: Cursor) -> Result<(), Fault> {
        while !data.is_empty() {
            if self.header.extent == Extent::Pipe && data.bytes().starts_with(MESSAGE) {
                let length = memchr::memchr(b'\n', data.bytes());
                data.take(length.map_or(data.bytes().len(), |at| at + 1))?;
                self.messages = true;
                continue;
            }
            if self.header.extent != Extent::Known && !begins_whole(data) {
                self.cut |= self.header.extent == Extent::Pipe;
                break;
            }
            let at = data.at();
            let kind = data.u32()?;
            let misc = data.u16()?;
            let size = usize::from(data.u16()?);
            let Some(size) = size.checked_sub(8) else {
                return Err(Fault::byte(
                    at,
                    format!("a record is said to have {size} bytes, expected at least 8"),
                ));
            };
            let body = data.take(size)?;
            let head = Head { kind, misc, at };
            let read = self.one(&head, body, &mut data);
            read.map_err(|fault| fault.at_byte(at))?;
        }
        Ok(())
    }

    /// Reads a record, and the bytes after it in `data` that belong to it.
    fn one(&mut self, head: &Head, mut body: Cursor, data: &mut Cursor) -> Result<(), Fault> {
        match head.kind {
            ATTR => attr(self.header, body)?,
            FEATURE => {
                let feature = body.u64()?;
                // Records are padded, so the last list may end early. Missing names are not an error.
                let _ = self.header.feature(feature as u32, body);
            }
            BUILD_ID => self.header.build_id(head.misc, body)?,
            // The data follows outside of the record.
            TRACING_DATA => {
                let tracing = data.take(body.u32()? as usize)?;
                self.header.tracepoints.extend(tracepoints::names(tracing));
            }
            AUXTRACE => {
                self.traces = true;
                skip(data, body.u64()?)?;
            }
            COMPRESSED | COMPRESSED2 => {
                self.first.get_or_insert(head.at);
                if head.kind == COMPRESSED2 {
                    let size = usize::try_from(body.u64()?).unwrap_or(usize::MAX);
                    body = body.take(size)?;
                }
                self.compressed.extend_from_slice(body.bytes());
            }
            _ => self.records.extend(record(head, body, self.header)?),
        }
        Ok(())
    }
}

/// Whether the first record of `data` is there as a whole, with the bytes after it that belong to it.
fn begins_whole(mut data: Cursor) -> bool {
    let mut whole = || {
        let kind = data.u32()?;
        data.u16()?;
        let size = usize::from(data.u16()?);
        let mut body = data.take(size.saturating_sub(8))?;
        match kind {
            TRACING_DATA => skip(&mut data, body.u32()?.into()),
            AUXTRACE => skip(&mut data, body.u64()?),
            _ => Ok(()),
        }
    };
    whole().is_ok()
}

fn skip(data: &mut Cursor, bytes: u64) -> Result<(), Fault> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    data.take(bytes).map(|_| ())
}

fn attr(header: &mut Header, mut body: Cursor) -> Result<(), Fault> {
    // The attribute's own size follows its type.
    let mut peek = body;
    peek.u32()?;
    let size = peek.u32()? as usize;
    let attr = body.take(size)?;
    header.event(attr, body)
}

/// Reads a record. Returns `None` for a type that is not needed.
fn record(head: &Head, mut body: Cursor, header: &Header) -> Result<Option<Record>, Fault> {
    let &Head { kind, misc, at } = head;
    let time = header.events.first().and_then(|event| event.time(body));
    let contents = match kind {
        MMAP | MMAP2 => Body::Map(map(kind, misc, body, header)?),
        COMM => Body::Name {
            pid: body.u32()?,
            tid: body.u32()?,
            name: body.text(),
            exec: misc & EXEC != 0,
        },
        FORK => {
            let (pid, parent) = (body.u32()?, body.u32()?);
            let (tid, parent_tid) = (body.u32()?, body.u32()?);
            Body::Fork {
                pid,
                tid,
                parent,
                parent_tid,
                // Otherwise perf found the process running, and its maps follow.
                maps: misc & EXEC == 0,
            }
        }
        SAMPLE => {
            let sample = events::sample(&header.events, &header.rows, body, misc & MODE == KERNEL)?;
            return Ok(Some(Record {
                at,
                time: sample.time,
                body: Body::Sample(sample),
            }));
        }
        _ => return Ok(None),
    };
    Ok(Some(Record {
        at,
        time: time.unwrap_or(0),
        body: contents,
    }))
}

fn map(kind: u32, misc: u16, mut body: Cursor, header: &Header) -> Result<Map, Fault> {
    let pid = body.u32()?;
    body.u32()?;
    let (start, mut length, mut offset) = (body.u64()?, body.u64()?, body.u64()?);
    let mut build_id = None;
    if kind == MMAP2 {
        let id = body.take(24)?.bytes();
        if misc & MAP_BUILD_ID != 0 {
            build_id = Some(id[4..4 + usize::from(id[0].min(20))].to_vec());
        }
        body.take(8)?;
    }
    let kernel = misc & MODE == KERNEL;
    let mut file = body.text();
    if kernel && file.starts_with(KERNEL_FILE) {
        // `offset` is the address of the symbol after the name, `_text`, in that boot; 0 when it was hidden. The kernel's
        // build id is stored without the symbol.
        file.truncate(KERNEL_FILE.len());
        match start.checked_sub(offset) {
            Some(distance) if offset > 0 => offset = distance,
            _ => length = 0,
        }
    }
    if build_id.is_none() {
        build_id = header.build_ids.get(&file).cloned();
    }
    Ok(Map {
        pid,
        start,
        length,
        offset,
        file,
        build_id,
        kernel,
    })
}
