//! The records of `perf.data`: maps, names and forks of processes, and samples.

use super::events::{self, Sample};
use super::header::Header;
use super::tracepoints;
use crate::decode::cursor::Cursor;
use crate::decode::fault::Fault;
use crate::decode::limits::Limits;
use crate::decode::unwrap::unzstd_open;

// Kinds of records.
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
/// Each holds the next part of one compressed stream of records.
const COMPRESSED: u32 = 81;
/// The same, padded behind its size.
const COMPRESSED2: u32 = 83;

// Bits of a record's head.
const MODE: u16 = 7;
const KERNEL: u16 = 1;
/// What the kernel itself is called among the files.
pub(crate) const KERNEL_FILE: &str = "[kernel.kallsyms]";
const EXEC: u16 = 1 << 13;
const MAP_BUILD_ID: u16 = 1 << 14;

/// A record that matters.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its place in the file.
    pub(crate) at: usize,
    pub(crate) time: u64,
    pub(crate) what: What,
}

/// What a record says.
#[derive(Debug)]
pub(crate) enum What {
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
        /// It goes on with its parent's maps.
        maps: bool,
    },
    Sample(Sample),
}

/// A file that became part of a process.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) pid: u32,
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// Where in the file it begins.
    pub(crate) offset: u64,
    pub(crate) file: String,
    pub(crate) build_id: Option<Vec<u8>>,
    /// The kernel, or one of its modules.
    pub(crate) kernel: bool,
}

impl Record {
    /// The sample, when it is one.
    pub(crate) fn sample(&self) -> Option<&Sample> {
        match &self.what {
            What::Sample(sample) => Some(sample),
            _ => None,
        }
    }
}

/// All records that matter: in the order of the file, those that were compressed behind the others. Beside them what the
/// compressed ones became, for the copies of stacks in it. A pipe's header grows while they are read.
pub(crate) fn read(
    bytes: &[u8],
    header: &mut Header,
    limits: Limits,
) -> Result<(Vec<Record>, Vec<u8>), Fault> {
    let data = header.data.unwrap_or_else(|| Cursor::new(&[]));
    let mut reader = Reader {
        header,
        records: Vec::new(),
        compressed: Vec::new(),
        first: None,
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
        reader.all(Cursor::new(&unpacked)).map_err(inside)?;
        for record in &mut reader.records[before..] {
            record.at = first;
            if let What::Sample(Sample {
                user: Some(user), ..
            }) = &mut record.what
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
    Ok((reader.records, unpacked))
}

struct Reader<'r, 'a> {
    header: &'r mut Header<'a>,
    records: Vec<Record>,
    /// The compressed stream so far.
    compressed: Vec<u8>,
    /// Where it begins.
    first: Option<usize>,
}

impl Reader<'_, '_> {
    fn all(&mut self, mut data: Cursor) -> Result<(), Fault> {
        while !data.is_empty() {
            let at = data.at();
            let mut next = data;
            if self.header.truncated && next.bytes().len() < 8 {
                break;
            }
            let kind = next.u32()?;
            let misc = next.u16()?;
            let size = usize::from(next.u16()?);
            let Some(size) = size.checked_sub(8) else {
                return Err(Fault::byte(
                    at,
                    format!("a record is said to have {size} bytes, expected at least 8"),
                ));
            };
            if self.header.truncated && next.bytes().len() < size {
                break;
            }
            let body = next.take(size)?;
            let read = self.one(kind, misc, body, &mut next, at);
            read.map_err(|fault| fault.at_byte(at))?;
            data = next;
        }
        Ok(())
    }

    /// Reads a record, and what stands behind it in `data` when that belongs to it.
    fn one(
        &mut self,
        kind: u32,
        misc: u16,
        mut body: Cursor,
        data: &mut Cursor,
        at: usize,
    ) -> Result<(), Fault> {
        match kind {
            ATTR => attr(self.header, body)?,
            FEATURE => {
                let feature = body.u64()?;
                // Records are padded, so the last list may end early; names are not worth an error.
                let _ = self.header.feature(feature as u32, body);
            }
            BUILD_ID => self.header.build_id(misc, body)?,
            // What follows stands outside of the record.
            TRACING_DATA => {
                let tracing = data.take(body.u32()? as usize)?;
                self.header.tracepoints.extend(tracepoints::names(tracing));
            }
            AUXTRACE => skip(data, body.u64()?)?,
            COMPRESSED | COMPRESSED2 => {
                self.first.get_or_insert(at);
                if kind == COMPRESSED2 {
                    let size = usize::try_from(body.u64()?).unwrap_or(usize::MAX);
                    body = body.take(size)?;
                }
                self.compressed.extend_from_slice(body.bytes());
            }
            kind => self
                .records
                .extend(record(kind, misc, body, self.header, at)?),
        }
        Ok(())
    }
}

fn skip(data: &mut Cursor, bytes: u64) -> Result<(), Fault> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    data.take(bytes).map(|_| ())
}

fn attr(header: &mut Header, mut body: Cursor) -> Result<(), Fault> {
    // The attribute says its own size, behind its kind.
    let mut peek = body;
    peek.u32()?;
    let size = peek.u32()? as usize;
    let attr = body.take(size)?;
    header.event(attr, body)
}

fn record(
    kind: u32,
    misc: u16,
    mut body: Cursor,
    header: &Header,
    at: usize,
) -> Result<Option<Record>, Fault> {
    let time = header
        .events
        .first()
        .and_then(|event| event.time(body.bytes()));
    let what = match kind {
        MMAP | MMAP2 => What::Map(map(kind, misc, body, header)?),
        COMM => What::Name {
            pid: body.u32()?,
            tid: body.u32()?,
            name: body.text(),
            exec: misc & EXEC != 0,
        },
        FORK => {
            let (pid, parent) = (body.u32()?, body.u32()?);
            let (tid, parent_tid) = (body.u32()?, body.u32()?);
            What::Fork {
                pid,
                tid,
                parent,
                parent_tid,
                // Else perf found it running, and tells its maps next.
                maps: misc & EXEC == 0,
            }
        }
        SAMPLE => {
            let sample = events::sample(&header.events, &header.rows, body, misc & MODE == KERNEL)?;
            return Ok(Some(Record {
                at,
                time: sample.time,
                what: What::Sample(sample),
            }));
        }
        _ => return Ok(None),
    };
    Ok(Some(Record {
        at,
        time: time.unwrap_or(0),
        what,
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
        // The symbol behind the name, `_text`, is what `offset` is the address of in that boot, 0 when it was hidden.
        // The kernel's build id is told without it.
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
