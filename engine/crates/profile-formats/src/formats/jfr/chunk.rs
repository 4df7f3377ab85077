//! The chunks of a recording and their events, undecoded.

use super::values;
use crate::decode::cursor::Cursor;
use crate::decode::fault::Fault;

/// The first bytes of each chunk.
pub(crate) const MAGIC: &[u8] = b"FLR\0";
/// The size of a chunk's head in bytes.
const HEAD: usize = 68;
/// The versions that this reader reads.
const MAJOR: [u16; 2] = [1, 2];
const COMPRESSED_NUMBERS: u32 = 1;

/// A part of a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    /// The offset in the file.
    pub(crate) at: usize,
    /// The bytes of the events.
    pub(crate) events: Cursor<'a>,
    /// Ticks of the chunk's clock per second.
    pub(crate) frequency: u64,
    /// The chunk was never closed, or its end is missing.
    pub(crate) open: bool,
}

/// An event: the id of its class, and its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    pub(crate) at: usize,
    pub(crate) class: u64,
    pub(crate) body: Cursor<'a>,
}

/// All chunks of a file, up to the first fault.
pub(crate) fn chunks(bytes: &[u8]) -> impl Iterator<Item = Result<Chunk<'_>, Fault>> {
    let mut rest = Cursor::new(bytes);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let chunk = chunk(&mut rest);
        if chunk.is_err() {
            rest = Cursor::new(&[]);
        }
        Some(chunk)
    })
}

fn chunk<'a>(rest: &mut Cursor<'a>) -> Result<Chunk<'a>, Fault> {
    let at = rest.at();
    let mut head = rest.take(HEAD)?;
    if head.take(MAGIC.len())?.bytes() != MAGIC {
        return Err(Fault::byte(at, "expected another chunk of the recording"));
    }
    let (major, minor) = (values::be16(&mut head)?, values::be16(&mut head)?);
    if !MAJOR.contains(&major) {
        let problem = format!("the recording has version {major}.{minor}, expected 1 or 2");
        let fault = Fault::byte(at + 4, problem);
        return Err(match major {
            // JRockit's version, up to Oracle's JDK 8. The JDK's own tools do not read it any more either.
            0 => fault.advise("open it in JDK Mission Control, or record with JDK 8u262 or newer"),
            _ => fault,
        });
    }
    let size = values::be64(&mut head)?;
    // Offsets of the last checkpoint and the metadata, and times. The events have all of this too.
    head.take(5 * 8)?;
    let frequency = values::be64(&mut head)?;
    let features = values::be32(&mut head)?;
    if features & COMPRESSED_NUMBERS == 0 {
        let problem = "the recording has numbers of fixed size, which are not read";
        return Err(Fault::byte(at + HEAD - 4, problem));
    }
    let left = HEAD + rest.bytes().len();
    // The size is 0 until a chunk is closed.
    let size = usize::try_from(size).ok().filter(|&size| size != 0);
    let open = size.is_none_or(|size| size > left);
    let size = size.unwrap_or(left).min(left);
    let Some(size) = size.checked_sub(HEAD) else {
        let problem = format!("a chunk claims {size} bytes, expected at least {HEAD}");
        return Err(Fault::byte(at + 8, problem));
    };
    Ok(Chunk {
        at,
        events: rest.take(size)?,
        frequency,
        open,
    })
}

impl<'a> Chunk<'a> {
    /// The events in order. Of an open chunk, the complete ones.
    pub(crate) fn events(&self) -> impl Iterator<Item = Result<Event<'a>, Fault>> + use<'a> {
        let (mut rest, open) = (self.events, self.open);
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            match event(&mut rest) {
                Ok(event) => Some(Ok(event)),
                Err(fault) => {
                    rest = Cursor::new(&[]);
                    (!open).then_some(Err(fault))
                }
            }
        })
    }
}

fn event<'a>(rest: &mut Cursor<'a>) -> Result<Event<'a>, Fault> {
    let mut head = *rest;
    let at = head.at();
    let size = values::number(&mut head)?;
    let used = head.at() - at;
    let body = usize::try_from(size)
        .ok()
        .and_then(|size| size.checked_sub(used));
    let Some(body) = body else {
        let problem = format!("an event claims {size} bytes, less than its size takes");
        return Err(Fault::byte(at, problem));
    };
    let mut body = head.take(body)?;
    let class = values::number(&mut body)?;
    *rest = head;
    Ok(Event { at, class, body })
}
