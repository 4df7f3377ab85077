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
    pub ph: String,
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

/// What takes the events.
pub trait Sink {
    /// Takes one; or says what is wrong with it.
    fn event(&mut self, event: &Event) -> Result<(), String>;
}

/// Hands every event to `sink`, up to the first error.
pub fn read(text: &str, sink: &mut impl Sink) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Outer(sink).deserialize(&mut reader)?;
    reader.end()
}

/// The array, or the object around it.
struct Outer<'s, S>(&'s mut S);

impl<'de, S: Sink> DeserializeSeed<'de> for Outer<'_, S> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Outer<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of events")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                map.next_value_seed(Outer(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(One(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// One event. What the sink says against it is an error at its closing brace, where serde still knows the place.
struct One<'s, S>(&'s mut S);

impl<'de, S: Sink> DeserializeSeed<'de> for One<'_, S> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for One<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let event = Event::deserialize(MapAccessDeserializer::new(map))?;
        let taken = self.0.event(&event);
        taken.map_err(|problem| {
            A::Error::custom(format!("the event {}: {problem}", quote(&event.name)))
        })
    }
}
