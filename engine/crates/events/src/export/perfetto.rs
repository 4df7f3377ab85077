//! Writes Perfetto's own format (`perfetto.protos.Trace`): a track for each thread, a slice for each call.
//!
//! By hand: `perfetto_protos` 0.51 builds with protobuf's compiler and over forty packages, `perfetto-recorder` 0.3 (over twenty)
//! records spans of its own program instead of writing given ones, and `prost` 0.14 (ten packages) needs our own copy of the messages,
//! which is the list of fields below.

use std::collections::HashMap;
use std::io::{self, Write};

use fulcrum_model::Progress;

use super::edges::{Edge, ExportError, Moment, edges, named, point_title, text, title};
use crate::reader::open::Trace;
use crate::tree::visit::TraceRange;
use crate::values::{CallValues, Value};

/// Numbers of fields, from Perfetto's `trace_packet.proto`, `track_event.proto`, `track_descriptor.proto`,
/// `debug_annotation.proto`.
mod field {
    pub(super) const PACKET: u32 = 1;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    pub(super) const EVENT_CATEGORY: u32 = 3;
    pub(super) const EVENT_ANNOTATION: u32 = 4;
    pub(super) const EVENT_TYPE: u32 = 9;
    pub(super) const EVENT_NAME: u32 = 10;
    pub(super) const EVENT_TRACK: u32 = 11;
    pub(super) const EVENT_THREAD_TIME_US: u32 = 17;
    pub(super) const INTERNED_CATEGORIES: u32 = 1;
    pub(super) const INTERNED_NAMES: u32 = 2;
    pub(super) const ANNOTATION_BOOLEAN: u32 = 2;
    pub(super) const ANNOTATION_UNSIGNED: u32 = 3;
    pub(super) const ANNOTATION_INTEGER: u32 = 4;
    pub(super) const ANNOTATION_DOUBLE: u32 = 5;
    pub(super) const ANNOTATION_TEXT: u32 = 6;
    pub(super) const ANNOTATION_POINTER: u32 = 7;
    pub(super) const ANNOTATION_NAME: u32 = 10;
    pub(super) const TRACK_UUID: u32 = 1;
    pub(super) const TRACK_PROCESS: u32 = 3;
    pub(super) const TRACK_THREAD: u32 = 4;
    pub(super) const TRACK_PARENT: u32 = 5;
}

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;

/// The first packet clears the state of names, which all others need.
const CLEARED: u64 = 1;
const NEEDED: u64 = 2;

/// The only sequence of packets, because there is one writer.
const SEQUENCE: u64 = 1;

/// The track of the process. Those of threads are their numbers plus 16.
const PROCESS_TRACK: u64 = 1;
const FIRST_THREAD_TRACK: u64 = 16;

/// Writes the calls, waits and collections within the scope, and returns what had to be left out. Times are by the clock, which includes
/// the cost of probes.
///
/// # Errors
/// When writing to `out` fails, or `progress` was cancelled.
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
            writer.event(SLICE_BEGIN, Some((&name, category)), at, &[])
        }
        Edge::End(at, values) => {
            let values = values.map_or_else(Vec::new, |it| annotations(trace, it));
            writer.event(SLICE_END, None, at, &values)
        }
        Edge::Point(what, at) => match point_title(trace, what) {
            Some(name) => writer.event(INSTANT, Some((&name, "jvm")), at, &[]),
            None => Ok(()),
        },
    })?;
    writer.out.flush()?;
    Ok(problems)
}

struct Packets<'a> {
    out: &'a mut dyn Write,
    /// The numbers of interned names and categories, by kind.
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

    fn event(
        &mut self,
        kind: u64,
        name: Option<(&str, &str)>,
        at: Moment,
        annotations: &[Message],
    ) -> io::Result<()> {
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
        for annotation in annotations {
            event.message(field::EVENT_ANNOTATION, annotation);
        }
        let mut packet = Message::default();
        packet.number(field::TIMESTAMP, at.ns);
        packet.message(field::TRACK_EVENT, &event);
        if !interned.0.is_empty() {
            packet.message(field::INTERNED, &interned);
        }
        self.packet(packet)
    }

    /// The number of a name. A new name is defined in the packet that first needs it.
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

/// The arguments and result of a call. Perfetto shows them with the slice, although they are written at its end.
fn annotations(trace: &Trace, values: &CallValues) -> Vec<Message> {
    let annotation = |(name, value): (String, &Value)| {
        let mut annotation = Message::default();
        annotation.text(field::ANNOTATION_NAME, &name);
        match value {
            Value::Boolean(value) => {
                annotation.number(field::ANNOTATION_BOOLEAN, u64::from(*value));
            }
            Value::Unsigned(value) => annotation.number(field::ANNOTATION_UNSIGNED, *value),
            Value::Integer(value) => {
                annotation.number(field::ANNOTATION_INTEGER, value.cast_unsigned());
            }
            Value::Single(bits) => {
                let value = f64::from(f32::from_bits(*bits));
                annotation.double(field::ANNOTATION_DOUBLE, value);
            }
            Value::Double(bits) => {
                annotation.double(field::ANNOTATION_DOUBLE, f64::from_bits(*bits));
            }
            Value::Address(value) => annotation.number(field::ANNOTATION_POINTER, *value),
            _ => annotation.text(field::ANNOTATION_TEXT, &text(trace, value)),
        }
        annotation
    };
    named(values).into_iter().map(annotation).collect()
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

    fn double(&mut self, field: u32, value: f64) {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
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
