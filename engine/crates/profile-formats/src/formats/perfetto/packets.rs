//! The packets of a trace, including compressed ones, reduced to the fields that the reader needs.

use std::io::Read;

use flate2::bufread::ZlibDecoder;

use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::wire::{Field, Message};

/// The field of a trace that is a packet.
const PACKET: u64 = 1;
/// The field of a packet that holds other packets, compressed.
const COMPRESSED: u64 = 50;
/// How many packets are inspected to tell a trace from other protobuf.
const INSPECTED: usize = 64;
/// Packets between two progress reports.
const PROGRESS_STEP: usize = 1 << 10;
/// Decompressed bytes that are always allowed.
const FREE: usize = 64 << 20;

/// The fields of a packet that the reader needs.
#[derive(Default)]
pub(crate) struct Packet<'t> {
    /// The writer.
    pub(crate) sequence: u64,
    /// The writer clears its interned data first.
    pub(crate) cleared: bool,
    pub(crate) interned: Option<Message<'t>>,
    pub(crate) sample: Option<Message<'t>>,
    pub(crate) streaming: Option<Message<'t>>,
    /// The writer is this thread.
    pub(crate) thread: Option<Message<'t>>,
    pub(crate) process_tree: Option<Message<'t>>,
    pub(crate) symbols: Option<Message<'t>>,
    /// What shortened names of a package were in the source.
    pub(crate) deobfuscation: Option<Message<'t>>,
    pub(crate) packages: Option<Message<'t>>,
    /// Whether it has heap samples.
    pub(crate) heap: bool,
}

/// Whether bytes begin with a packet that has a writer or a time. In pprof, the first field is a value type, and in OTLP
/// resource profiles; these have no such fields.
pub(crate) fn is_trace(bytes: &[u8]) -> bool {
    let mut trace = Message::new(bytes);
    for _ in 0..INSPECTED {
        // The last packet may be cut.
        let Ok(Some((PACKET, Field::Bytes(mut packet)))) = trace.field() else {
            return false;
        };
        loop {
            match packet.field() {
                Ok(Some((8 | 10 | 13 | 58, Field::Varint(_)))) => return true,
                Ok(Some((COMPRESSED, Field::Bytes(_)))) => return true,
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return false,
            }
        }
    }
    false
}

/// All packets of a file.
pub(crate) struct Trace<'a> {
    bytes: &'a [u8],
    /// The decompressed parts, in the order of their packets.
    inflated: Vec<Vec<u8>>,
}

impl<'a> Trace<'a> {
    /// Decompresses all compressed packets.
    pub(crate) fn new(input: &Input<'a>) -> Result<Self, Fault> {
        let bytes = input.bytes;
        let mut left = bytes.len().saturating_mul(input.limits.ratio).max(FREE);
        left = left.min(input.limits.bytes);
        let mut inflated = Vec::new();
        let mut file = Message::new(bytes);
        while let Some((number, field)) = file.field()? {
            let Some(mut packet) = field.message().filter(|_| number == PACKET) else {
                continue;
            };
            while let Some((number, field)) = packet.field()? {
                if let (COMPRESSED, Some(data)) = (number, field.message()) {
                    let out = inflate(data.bytes(), left).map_err(|it| it.at_byte(data.at()))?;
                    left -= out.len();
                    inflated.push(out);
                }
            }
        }
        Ok(Trace { bytes, inflated })
    }

    /// Calls `take` with every packet. `from` is the part of the work that is already done.
    pub(crate) fn each<'t>(
        &'t self,
        input: &Input,
        from: f64,
        take: &mut dyn FnMut(&Packet<'t>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut file = Message::new(self.bytes);
        let mut inflated = self.inflated.iter();
        let mut count = 0_usize;
        while let Some((number, field)) = file.field()? {
            let Some(message) = field.message().filter(|_| number == PACKET) else {
                continue;
            };
            count += 1;
            if count.is_multiple_of(PROGRESS_STEP) {
                let done = file.at() as f64 / self.bytes.len() as f64;
                input.progress.at(from + 0.5 * done)?;
            }
            let (packet, compressed) = packet(message)?;
            take(&packet).map_err(|fault| fault.at_byte(message.at()))?;
            for _ in 0..compressed {
                let Some(inner) = inflated.next() else {
                    continue;
                };
                let at = |fault: Fault| {
                    Fault {
                        place: None,
                        ..fault
                    }
                    .at_byte(message.at())
                };
                let mut inner = Message::new(inner);
                while let Some((number, field)) = inner.field().map_err(at)? {
                    if let Some(message) = field.message().filter(|_| number == PACKET) {
                        let (packet, _) = self::packet(message).map_err(at)?;
                        take(&packet).map_err(at)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads a packet. Also returns the number of its compressed parts.
fn packet<'t>(mut message: Message<'t>) -> Result<(Packet<'t>, usize), Fault> {
    let mut packet = Packet::default();
    let mut compressed = 0;
    while let Some((number, field)) = message.field()? {
        match (number, field.message()) {
            (10, None) => packet.sequence = field.number(),
            // SEQ_INCREMENTAL_STATE_CLEARED
            (13, None) => packet.cleared |= field.number() & 1 != 0,
            (41, None) => packet.cleared |= field.number() != 0,
            (2, tree) => packet.process_tree = tree,
            (12, interned) => packet.interned = interned,
            (37, Some(_)) => packet.heap = true,
            (44, thread) => packet.thread = thread,
            (47, packages) => packet.packages = packages,
            (54, streaming) => packet.streaming = streaming,
            (60, Some(mut track)) => {
                while let Some((number, field)) = track.field()? {
                    if number == 4 {
                        packet.thread = field.message();
                    }
                }
            }
            (61, symbols) => packet.symbols = symbols,
            (64, mapping) => packet.deobfuscation = mapping,
            (66, sample) => packet.sample = sample,
            (COMPRESSED, Some(_)) => compressed += 1,
            _ => {}
        }
    }
    Ok((packet, compressed))
}

/// Decompresses at most `most` bytes.
fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut reader = ZlibDecoder::new(bytes).take(most as u64 + 1);
    let read = reader.read_to_end(&mut out);
    read.map_err(|error| Fault::whole(format!("the compressed packets are damaged: {error}")))?;
    if out.len() > most {
        let problem = format!(
            "the compressed packets become larger than {most} bytes, which is not accepted"
        );
        return Err(Fault::whole(problem));
    }
    Ok(out)
}
