//! OpenTelemetry's profiles with links to spans, and the spans: messages `ProfilesData` and `TracesData` of opentelemetry-proto
//! 1.11, as protobuf.
//!
//! They carry single transactions, of which a [`Profile`](crate::Profile) has only the types.
//!
//! Libraries: the crate `opentelemetry-proto` has the messages as structs of one version of the experimental format, and brings
//! prost and OpenTelemetry's SDK.

mod profiles;
mod spans;
#[cfg(test)]
mod tests;

use super::proto::Message;

pub use profiles::{Identity, LinkedProfiles};
pub use spans::{Span, SpanKind, Spans};

/// The name of the instrumentation scope.
const SCOPE: &str = "fulcrum";

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value<'v> {
    /// A text.
    Text(&'v str),
    /// A number.
    Number(i64),
    /// Yes or no.
    Flag(bool),
}

/// An attribute: its name in OpenTelemetry's semantic conventions, and its value.
pub type Attribute<'v> = (&'v str, Value<'v>);

/// A period of time, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The beginning.
    pub from_ns: u64,
    /// The end, not before the beginning.
    pub to_ns: u64,
}

/// A message `AnyValue`.
fn any_value(value: Value<'_>) -> Message {
    let mut message = Message::default();
    match value {
        Value::Text(text) => message.text(1, text),
        // In a `oneof`, the field that is set is written even if it is 0.
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
