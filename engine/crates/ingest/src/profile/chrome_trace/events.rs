//! The events of a trace, one after the other: a trace is larger than what is kept of it.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::profile::fault::quote;

/// One event.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Its kind.
    #[serde(deserialize_with = "text")]
    pub ph: String,
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// Microseconds.
    pub ts: Option<f64>,
    /// Microseconds.
    pub dur: Option<f64>,
    pub pid: Value,
    pub tid: Value,
    pub id: Value,
    pub args: Value,
}

/// Some writers say that there is no name.
fn text<'de, D: serde::Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    Option::deserialize(text).map(Option::unwrap_or_default)
}

/// What takes the events.
pub trait Sink {
    /// Takes one; or says what is wrong with it.
    fn event(&mut self, event: &Event) -> Result<(), String>;
}

/// Hands every event to `sink`, up to the first error.
pub fn read(text: &str, sink: &mut impl Sink) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let events = Events {
        sink,
        inside: false,
    };
    events.deserialize(&mut reader)?;
    reader.end()
}

/// The array of events or the object around it; then, inside the array, one event.
struct Events<'s, S> {
    sink: &'s mut S,
    inside: bool,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Events<'_, S> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        match self.inside {
            true => reader.deserialize_map(self),
            false => reader.deserialize_any(self),
        }
    }
}

impl<'de, S: Sink> Visitor<'de> for Events<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self.inside {
            true => "an event",
            false => "an array of events",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Events { sink, inside } = self;
        if inside {
            let event = Event::deserialize(MapAccessDeserializer::new(map))?;
            // What the sink says against it is an error at its closing brace, where serde still knows the place.
            let wrong = |problem| format!("the event {}: {problem}", quote(&event.name));
            return sink.event(&event).map_err(|it| A::Error::custom(wrong(it)));
        }
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                map.next_value_seed(Events {
                    sink: &mut *sink,
                    inside,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Events { sink, .. } = self;
        let mut one = || {
            seq.next_element_seed(Events {
                sink: &mut *sink,
                inside: true,
            })
        };
        while one()?.is_some() {}
        Ok(())
    }
}
