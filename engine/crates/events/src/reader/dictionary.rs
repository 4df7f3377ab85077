//! The dictionary of a log: methods, classes, and the counts of methods with gates.

use std::collections::BTreeMap;

use fulcrum_wire::log::{Body, Damage, Payload, Record, kind};

use crate::reader::event::{small, text};

/// A method that occurs in events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// The class, with dots: `java.util.Map$Entry`.
    pub class: String,
    /// The name. Constructors are `<init>`.
    pub name: String,
    /// The descriptor, such as `(I)V`.
    pub descriptor: String,
    /// The name of the source file without folders, or empty.
    pub source: String,
    /// The first line, or 0 if unknown.
    pub line: u64,
}

impl Method {
    /// The path of the source file according to the package, such as `shop/Cart.java`. `None` if the class has none.
    pub fn source_path(&self) -> Option<String> {
        if self.source.is_empty() {
            return None;
        }
        Some(match self.class.rsplit_once('.') {
            Some((package, _)) => format!("{}/{}", package.replace('.', "/"), self.source),
            None => self.source.clone(),
        })
    }
}

/// A class that occurs in events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// The name, with dots. Arrays are `int[]`.
    pub name: String,
}

/// The counts of a method with a gate when the log ended (refine loop).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// The number of calls that were measured.
    pub metered: u64,
    /// The number of calls that fired and passed a shut gate. Concurrent threads may lose some.
    pub passed: u64,
    /// The total cost of the measured calls by [`Trace::rule`](crate::Trace::rule), in nanoseconds or bytes.
    pub cost: f64,
    /// Whether the method was known not to be a hotspot.
    pub off: bool,
}

/// The contents of the dictionary's chunks.
#[derive(Default)]
pub(crate) struct Dictionary {
    pub(crate) methods: BTreeMap<u32, Method>,
    pub(crate) classes: BTreeMap<u32, Class>,
    pub(crate) rule: Option<String>,
    pub(crate) counts: BTreeMap<u32, Counts>,
    pub(crate) notes: Vec<String>,
}

impl Dictionary {
    /// Reads a record.
    pub(crate) fn read(&mut self, record: &Record<'_>) -> Result<(), Damage> {
        let Body::Payload(payload) = record.body else {
            return Err(Damage::Bad);
        };
        let mut fields = Payload(payload);
        match record.kind {
            kind::DEFINE_METHOD => {
                let id = small(&mut fields)?;
                let method = Method {
                    class: text(&mut fields)?,
                    name: text(&mut fields)?,
                    descriptor: text(&mut fields)?,
                    source: text(&mut fields)?,
                    line: fields.number()?,
                };
                self.methods.insert(id, method);
            }
            kind::DEFINE_CLASS => {
                let id = small(&mut fields)?;
                let name = text(&mut fields)?;
                self.classes.insert(id, Class { name });
            }
            kind::COUNTS => {
                let id = small(&mut fields)?;
                let counts = Counts {
                    metered: fields.number()?,
                    passed: fields.number()?,
                    cost: fields.number()? as f64 / 1000.0,
                    off: fields.number()? != 0,
                };
                self.counts.insert(id, counts);
            }
            kind::RULE => self.rule = Some(text(&mut fields)?),
            kind::NOTE => self.notes.push(text(&mut fields)?),
            // Of another version.
            _ => {}
        }
        Ok(())
    }
}
