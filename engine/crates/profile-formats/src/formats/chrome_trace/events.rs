//! The events of a trace, one at a time, because a trace is much larger than what is kept of it.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::samples::{Sample, StackFrame};
use crate::decode::fault::quote;
use crate::decode::json::{number_or_text, text_or_null};

/// One event.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event {
    /// The event's type.
    #[serde(deserialize_with = "text_or_null")]
    pub(crate) ph: String,
    #[serde(deserialize_with = "text_or_null")]
    pub(crate) name: String,
    /// Microseconds.
    #[serde(deserialize_with = "number_or_text")]
    pub(crate) ts: Option<f64>,
    /// Microseconds.
    #[serde(deserialize_with = "number_or_text")]
    pub(crate) dur: Option<f64>,
    /// The duration in the thread's CPU time. Microseconds.
    #[serde(deserialize_with = "number_or_text")]
    pub(crate) tdur: Option<f64>,
    pub(crate) pid: Value,
    pub(crate) tid: Value,
    pub(crate) id: Value,
    pub(crate) args: Value,
}

/// Receives the events, and the samples that some traces have beside them.
pub(crate) trait Sink {
    /// Takes an event. The error says what is wrong with it.
    fn event(&mut self, event: &Event) -> Result<(), String>;

    /// Takes a sample. The error says what is wrong with it.
    fn sample(&mut self, sample: &Sample) -> Result<(), String>;

    /// Takes a frame of the samples' stacks.
    fn frame(&mut self, id: String, frame: StackFrame);
}

/// Passes every event to `sink`, up to the first error.
pub(crate) fn read(text: &str, sink: &mut impl Sink) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let events = Events {
        sink,
        inside: false,
    };
    events.deserialize(&mut reader)?;
    reader.end()
}

/// The array of events or the object around it; inside the array, one event.
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
            // An error of the sink is reported at the closing brace, where serde still knows the line.
            let wrong = |problem| format!("the event {}: {problem}", quote(&event.name));
            return sink.event(&event).map_err(|it| A::Error::custom(wrong(it)));
        }
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "traceEvents" => map.next_value_seed(Events {
                    sink: &mut *sink,
                    inside,
                })?,
                "samples" => map.next_value_seed(AllSamples(&mut *sink))?,
                "stackFrames" => map.next_value_seed(AllFrames(&mut *sink))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
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

/// The array of samples.
struct AllSamples<'s, S>(&'s mut S);

impl<'de, S: Sink> DeserializeSeed<'de> for AllSamples<'_, S> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for AllSamples<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of samples")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(sample) = seq.next_element::<Sample>()? {
            let taken = self.0.sample(&sample);
            taken.map_err(|problem| A::Error::custom(format!("a sample: {problem}")))?;
        }
        Ok(())
    }
}

/// The frames of all stacks by id.
struct AllFrames<'s, S>(&'s mut S);

impl<'de, S: Sink> DeserializeSeed<'de> for AllFrames<'_, S> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for AllFrames<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("stack frames by their ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((id, frame)) = map.next_entry::<String, StackFrame>()? {
            self.0.frame(id, frame);
        }
        Ok(())
    }
}
