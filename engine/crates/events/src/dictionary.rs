//! What a log names: methods and classes, and how methods with gates stood.

use std::collections::BTreeMap;

use fulcrum_wire::log::{Body, Damage, Payload, Record, kind};

use crate::event::{small, text};

/// A method that events are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// Its class, with dots: `java.util.Map$Entry`.
    pub class: String,
    /// Its name; constructors are `<init>`.
    pub name: String,
    /// Its descriptor: `(I)V`.
    pub descriptor: String,
    /// The source file's name without folders, or empty.
    pub source: String,
    /// Its first line, 0 when it is not known.
    pub line: u64,
}

impl Method {
    /// The source file in the folder that its package means: `shop/Cart.java`. `None` when the class does not tell it.
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

/// A class that events are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// Its name, with dots; arrays are `int[]`.
    pub name: String,
}

/// How a method with a gate stood when the log ended (refine loop).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Calls that were measured.
    pub metered: u64,
    /// Calls that fired and passed a shut gate. Threads that count at the same moment may lose some.
    pub passed: u64,
    /// What the measured ones cost together, by [`Trace::rule`](crate::Trace::rule): nanoseconds, or bytes.
    pub cost: f64,
    /// The method was known not to be a hotspot.
    pub off: bool,
}

/// What the dictionary's chunks tell.
#[derive(Default)]
pub(crate) struct Dictionary {
    pub methods: BTreeMap<u32, Method>,
    pub classes: BTreeMap<u32, Class>,
    pub rule: Option<String>,
    pub counts: BTreeMap<u32, Counts>,
    pub notes: Vec<String>,
}

impl Dictionary {
    /// Takes what a record tells.
    pub fn read(&mut self, record: &Record<'_>) -> Result<(), Damage> {
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
            // Another version's.
            _ => {}
        }
        Ok(())
    }
}
