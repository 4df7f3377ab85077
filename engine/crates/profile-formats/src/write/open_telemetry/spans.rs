//! A message `TracesData`: spans.

use std::collections::HashMap;
use std::io::{self, Write};

use super::super::proto::Message;
use super::{Attribute, Period, key_value, resource, scope};

/// The role of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// A part of the process's own work.
    Internal,
    /// Handles a request.
    Server,
}

/// A span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'s> {
    /// The trace's id.
    pub trace: &'s [u8; 16],
    /// The span's id.
    pub id: &'s [u8; 8],
    /// The span that it is a part of, or that sent the request.
    pub parent: Option<&'s [u8; 8]>,
    /// The flags of W3C Trace Context, when the trace came with a request.
    pub flags: u8,
    /// The name.
    pub name: &'s str,
    /// The role.
    pub kind: SpanKind,
    /// When it began and ended.
    pub time: Period,
    /// Further attributes.
    pub attributes: &'s [Attribute<'s>],
}

/// Spans of several resources.
#[derive(Debug, Default)]
pub struct Spans {
    rows: HashMap<Vec<u8>, usize>,
    /// The attributes and spans of each resource.
    resources: Vec<(Vec<u8>, Message)>,
    count: u64,
}

impl Spans {
    /// The resource, a process, with these attributes.
    pub fn resource(&mut self, attributes: &[Attribute<'_>]) -> usize {
        let attributes = resource(attributes).bytes().to_vec();
        *self
            .rows
            .entry(attributes)
            .or_insert_with_key(|attributes| {
                let mut of_scope = Message::default();
                of_scope.message(1, &scope());
                self.resources.push((attributes.clone(), of_scope));
                self.resources.len() - 1
            })
    }

    /// Adds a span of a resource.
    ///
    /// # Panics
    /// When there is no such resource.
    pub fn add(&mut self, resource: usize, span: &Span<'_>) {
        self.count += 1;
        let (_, of_scope) = &mut self.resources[resource];
        of_scope.message(2, &message(span));
    }

    /// The number of spans.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Writes the message.
    ///
    /// # Errors
    /// When `to` fails.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        for (attributes, of_scope) in &self.resources {
            let mut of_resource = Message::default();
            of_resource.bytes_field(1, attributes);
            of_resource.message(2, of_scope);
            let mut out = Message::default();
            out.message(1, &of_resource);
            to.write_all(out.bytes())?;
        }
        Ok(())
    }
}

/// A message `Span`.
fn message(span: &Span<'_>) -> Message {
    let mut message = Message::default();
    message.bytes_field(1, span.trace);
    message.bytes_field(2, span.id);
    if let Some(parent) = span.parent {
        message.bytes_field(4, parent);
    }
    message.text(5, span.name);
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
    };
    message.number(6, kind);
    message.fixed64(7, span.time.from_ns);
    message.fixed64(8, span.time.to_ns);
    for attribute in span.attributes {
        message.message(9, &key_value(*attribute));
    }
    message.fixed32(16, span.flags.into());
    message
}
