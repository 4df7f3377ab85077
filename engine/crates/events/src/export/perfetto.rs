//! Perfetto's own format (`perfetto.protos.Trace`): a track a thread, a slice a call.

use std::collections::HashMap;
use std::io::{self, Write};

use fulcrum_model::Progress;

use super::edges::{Edge, ExportError, Moment, edges, point_title, title};
use crate::open::Trace;
use crate::visit::TraceRange;

/// Numbers of fields, from Perfetto's `trace_packet.proto`, `track_event.proto`, `track_descriptor.proto`.
mod field {
    pub const PACKET: u32 = 1;
    pub const TIMESTAMP: u32 = 8;
    pub const SEQUENCE: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const TRACK_DESCRIPTOR: u32 = 60;
    pub const EVENT_CATEGORY: u32 = 3;
    pub const EVENT_TYPE: u32 = 9;
    pub const EVENT_NAME: u32 = 10;
    pub const EVENT_TRACK: u32 = 11;
    pub const EVENT_THREAD_TIME_US: u32 = 17;
    pub const INTERNED_CATEGORIES: u32 = 1;
    pub const INTERNED_NAMES: u32 = 2;
    pub const TRACK_UUID: u32 = 1;
    pub const TRACK_PROCESS: u32 = 3;
    pub const TRACK_THREAD: u32 = 4;
    pub const TRACK_PARENT: u32 = 5;
}

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;

/// The state of names begins anew with the first packet, which all others need.
const CLEARED: u64 = 1;
const NEEDED: u64 = 2;

/// One writer: one sequence of packets.
const SEQUENCE: u64 = 1;

/// The process's track; threads' are their numbers and 16 more.
const PROCESS_TRACK: u64 = 1;
const FIRST_THREAD_TRACK: u64 = 16;

/// Writes the calls, waits and collections within the scope, and says what had to be left out. Times are the clock's, with
/// what probes cost.
///
/// # Errors
/// When `out` takes no more, or `progress` was cancelled.
pub fn perfetto(
    trace: &Trace,
    scope: &TraceRange,
    progress: &Progress,
    out: &mut dyn Write,
) -> Result<Vec<String>, ExportError> {
    let mut writer = Packets {
        out,
        names: HashMap::new(),
        track: 0,
        fresh: true,
    };
    let mut process = Message::default();
    process.number(field::TRACK_UUID, PROCESS_TRACK);
    let mut descriptor = Message::default();
    descriptor.number(1, trace.pid);
    descriptor.text(6, &format!("process {}", trace.pid));
    process.message(field::TRACK_PROCESS, &descriptor);
    writer.descriptor(&process)?;
    let problems = edges(trace, scope, progress, |edge| match edge {
        Edge::Thread(thread) => {
            writer.track = FIRST_THREAD_TRACK + u64::from(thread.id);
            let mut track = Message::default();
            track.number(field::TRACK_UUID, writer.track);
            track.number(field::TRACK_PARENT, PROCESS_TRACK);
            let mut descriptor = Message::default();
            descriptor.number(1, trace.pid);
            descriptor.number(2, u64::from(thread.id));
            descriptor.text(5, &thread.name);
            track.message(field::TRACK_THREAD, &descriptor);
            writer.descriptor(&track)
        }
        Edge::Begin(node, at) => {
            let (name, category) = title(trace, node);
            writer.event(SLICE_BEGIN, Some((&name, category)), at)
        }
        Edge::End(at) => writer.event(SLICE_END, None, at),
        Edge::Point(what, at) => match point_title(trace, what) {
            Some(name) => writer.event(INSTANT, Some((&name, "jvm")), at),
            None => Ok(()),
        },
    })?;
    writer.out.flush()?;
    Ok(problems)
}

struct Packets<'a> {
    out: &'a mut dyn Write,
    /// Interned names and categories by kind of name.
    names: HashMap<(u32, String), u64>,
    track: u64,
    fresh: bool,
}

impl Packets<'_> {
    fn descriptor(&mut self, track: &Message) -> io::Result<()> {
        let mut packet = Message::default();
        packet.message(field::TRACK_DESCRIPTOR, track);
        self.packet(packet)
    }

    fn event(&mut self, kind: u64, name: Option<(&str, &str)>, at: Moment) -> io::Result<()> {
        let mut event = Message::default();
        event.number(field::EVENT_TYPE, kind);
        event.number(field::EVENT_TRACK, self.track);
        if let Some(cpu) = at.cpu_ns {
            event.number(field::EVENT_THREAD_TIME_US, cpu / 1000);
        }
        let mut interned = Message::default();
        if let Some((name, category)) = name {
            let name = self.intern(field::INTERNED_NAMES, name, &mut interned);
            let category = self.intern(field::INTERNED_CATEGORIES, category, &mut interned);
            event.number(field::EVENT_NAME, name);
            event.number(field::EVENT_CATEGORY, category);
        }
        let mut packet = Message::default();
        packet.number(field::TIMESTAMP, at.ns);
        packet.message(field::TRACK_EVENT, &event);
        if !interned.0.is_empty() {
            packet.message(field::INTERNED, &interned);
        }
        self.packet(packet)
    }

    /// The number of a name; a new one is defined in the packet that first needs it.
    fn intern(&mut self, kind: u32, name: &str, interned: &mut Message) -> u64 {
        let next = self.names.len() as u64 + 1;
        let key = (kind, name.to_owned());
        let number = *self.names.entry(key).or_insert(next);
        if number == next {
            let mut entry = Message::default();
            entry.number(1, number);
            entry.text(2, name);
            interned.message(kind, &entry);
        }
        number
    }

    fn packet(&mut self, mut packet: Message) -> io::Result<()> {
        let flags = match std::mem::take(&mut self.fresh) {
            true => CLEARED | NEEDED,
            false => NEEDED,
        };
        packet.number(field::SEQUENCE, SEQUENCE);
        packet.number(field::SEQUENCE_FLAGS, flags);
        let mut trace = Message::default();
        trace.message(field::PACKET, &packet);
        self.out.write_all(&trace.0)
    }
}

/// A protobuf message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }
}
