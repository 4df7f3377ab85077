//! OpenTelemetry's profiles with links to spans, and the spans that they lead to: messages `ProfilesData` and `TracesData` of
//! opentelemetry-proto 1.11, as protobuf.
//!
//! What is written here knows transactions, of which a [`Profile`](crate::Profile) has no more than the types.

mod profiles;
mod spans;
#[cfg(test)]
mod tests;

use super::proto::Message;

pub use profiles::{Identity, LinkedProfiles};
pub use spans::{Span, SpanKind, Spans};

/// What wrote it: the scope's name.
const SCOPE: &str = "fulcrum";

/// What an attribute says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value<'v> {
    /// A text.
    Text(&'v str),
    /// A number.
    Number(i64),
    /// Yes or no.
    Flag(bool),
}

/// An attribute: its name, as OpenTelemetry's conventions have it, and what it says.
pub type Attribute<'v> = (&'v str, Value<'v>);

/// When something was, nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// From when on.
    pub from_ns: u64,
    /// Until when; not before.
    pub to_ns: u64,
}

/// A message `AnyValue`.
fn any_value(value: Value<'_>) -> Message {
    let mut message = Message::default();
    match value {
        Value::Text(text) => message.text(1, text),
        // A variant that is there is written, whatever it says.
        Value::Flag(flag) => message.present(2, u64::from(flag)),
        Value::Number(number) => message.present(3, number.cast_unsigned()),
    }
    message
}

/// A message `KeyValue`.
fn key_value((key, value): Attribute<'_>) -> Message {
    let mut message = Message::default();
    message.text(1, key);
    message.message(2, &any_value(value));
    message
}

/// A message `Resource`.
fn resource(attributes: &[Attribute<'_>]) -> Message {
    let mut message = Message::default();
    for attribute in attributes {
        message.message(1, &key_value(*attribute));
    }
    message
}

/// A message `InstrumentationScope`.
fn scope() -> Message {
    let mut message = Message::default();
    message.text(1, SCOPE);
    message.text(2, env!("CARGO_PKG_VERSION"));
    message
}
