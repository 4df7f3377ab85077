//! A message `ProfilesData`: samples with links to spans.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::io::{self, Write};

use fulcrum_model::call_tree::{Frame, ValueType};

use super::super::pprof::unit;
use super::super::proto::Message;
use super::{Attribute, Period, any_value, resource, scope};

/// Profiles of several resources, one for each value type. Rows of the dictionary's tables are `u32`; row 0 means none.
#[derive(Debug)]
pub struct LinkedProfiles {
    /// Messages `ValueType`.
    types: Vec<Message>,
    taken: Period,
    strings: Table<String>,
    /// Name and file.
    functions: Table<[u32; 2]>,
    mappings: Table<u32>,
    /// Mapping, function and line.
    locations: Table<[u32; 3]>,
    stacks: Table<Vec<u32>>,
    links: Table<([u8; 16], [u8; 8])>,
    attributes: Table<Vec<u8>>,
    resources: Table<Vec<u8>>,
    costs: BTreeMap<(u32, Identity), Vec<i64>>,
}

/// What tells samples apart, in numbers that [`LinkedProfiles`] gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The stack; 0 means none.
    pub stack: u32,
    /// The span; 0 means none.
    pub link: u32,
    /// The attributes.
    pub attributes: Vec<u32>,
}

/// A table without duplicates. Row 0 is the empty one.
#[derive(Debug)]
struct Table<T> {
    rows: HashMap<T, u32>,
}

impl<T: Default + Eq + Hash> Default for Table<T> {
    fn default() -> Self {
        Table {
            rows: HashMap::from([(T::default(), 0)]),
        }
    }
}

impl<T: Eq + Hash> Table<T> {
    fn row(&mut self, of: T) -> u32 {
        let next = self.rows.len() as u32;
        *self.rows.entry(of).or_insert(next)
    }

    fn in_order(&self) -> Vec<&T> {
        let mut rows: Vec<(u32, &T)> = self.rows.iter().map(|(it, &row)| (row, it)).collect();
        rows.sort_unstable_by_key(|(row, _)| *row);
        rows.into_iter().map(|(_, it)| it).collect()
    }
}

impl LinkedProfiles {
    /// No samples yet. They will have these types and were taken in this period.
    pub fn new(types: &[ValueType], taken: Period) -> Self {
        let mut strings = Table::default();
        let types = types.iter();
        LinkedProfiles {
            types: types.map(|it| value_type(it, &mut strings)).collect(),
            taken,
            strings,
            functions: Table::default(),
            mappings: Table::default(),
            locations: Table::default(),
            stacks: Table::default(),
            links: Table::default(),
            attributes: Table::default(),
            resources: Table::default(),
            costs: BTreeMap::new(),
        }
    }

    /// The resource, a process, with these attributes.
    pub fn resource(&mut self, attributes: &[Attribute<'_>]) -> u32 {
        self.resources.row(resource(attributes).bytes().to_vec())
    }

    /// A location in a function. The frame's line is the one that ran.
    pub fn location(&mut self, frame: &Frame) -> u32 {
        let name = self.strings.row(frame.name.clone());
        let file = frame.file.clone().unwrap_or_default();
        let file = self.strings.row(file);
        let function = self.functions.row([name, file]);
        let mapping = match frame.binary.clone() {
            None => 0,
            Some(binary) => {
                let name = self.strings.row(binary);
                self.mappings.row(name)
            }
        };
        let line = frame.line.unwrap_or(0);
        self.locations.row([mapping, function, line])
    }

    /// A stack of locations, outermost first.
    pub fn stack(&mut self, locations: &[u32]) -> u32 {
        self.stacks.row(locations.iter().rev().copied().collect())
    }

    /// A span of a trace.
    pub fn link(&mut self, trace: &[u8; 16], span: &[u8; 8]) -> u32 {
        self.links.row((*trace, *span))
    }

    /// An attribute of samples.
    pub fn attribute(&mut self, (key, value): Attribute<'_>) -> u32 {
        let mut message = Message::default();
        message.number(1, self.strings.row(key.to_owned()).into());
        message.message(2, &any_value(value));
        self.attributes.row(message.bytes().to_vec())
    }

    /// Adds samples of a resource to those with the same identity.
    ///
    /// # Panics
    /// When there is not one value for each type.
    pub fn add(&mut self, resource: u32, identity: Identity, values: &[i64]) {
        assert_eq!(values.len(), self.types.len(), "a value of each type");
        let sum = self.costs.entry((resource, identity));
        let sum = sum.or_insert_with(|| vec![0; values.len()]);
        for (sum, value) in sum.iter_mut().zip(values) {
            *sum = sum.saturating_add(*value);
        }
    }

    /// Writes the message.
    ///
    /// # Errors
    /// When `to` fails.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        for (row, attributes) in self.resources.in_order().into_iter().enumerate() {
            let of_resource = self.of_resource(row as u32, attributes);
            if let Some(message) = of_resource {
                let mut out = Message::default();
                out.message(1, &message);
                to.write_all(out.bytes())?;
            }
        }
        let mut out = Message::default();
        out.message(2, &self.dictionary());
        to.write_all(out.bytes())
    }

    /// A message `ResourceProfiles`. Returns `None` when the resource has no samples.
    fn of_resource(&self, row: u32, attributes: &[u8]) -> Option<Message> {
        let first = (row, Identity::default());
        let costs = self.costs.range(first..).take_while(|(it, _)| it.0 == row);
        let costs: Vec<(&Identity, &Vec<i64>)> =
            costs.map(|((_, it), values)| (it, values)).collect();
        if costs.is_empty() {
            return None;
        }
        let mut of_scope = Message::default();
        of_scope.message(1, &scope());
        for (column, kind) in self.types.iter().enumerate() {
            let mut profile = Message::default();
            profile.message(1, kind);
            for (of, values) in costs.iter().filter(|(_, values)| values[column] != 0) {
                profile.message(2, &sample(of, values[column]));
            }
            profile.fixed64(3, self.taken.from_ns);
            profile.number(4, self.taken.to_ns.saturating_sub(self.taken.from_ns));
            of_scope.message(2, &profile);
        }
        let mut message = Message::default();
        message.bytes_field(1, attributes);
        message.message(2, &of_scope);
        Some(message)
    }

    fn dictionary(&self) -> Message {
        let mut out = Message::default();
        for name in self.mappings.in_order() {
            let mut mapping = Message::default();
            mapping.number(4, (*name).into());
            out.message(1, &mapping);
        }
        for location in self.locations.in_order() {
            out.message(2, &self::location(*location));
        }
        for [name, file] in self.functions.in_order() {
            let mut function = Message::default();
            function.number(1, (*name).into());
            function.number(3, (*file).into());
            out.message(3, &function);
        }
        for (trace, span) in self.links.in_order() {
            let mut link = Message::default();
            link.bytes_field(1, trace);
            link.bytes_field(2, span);
            out.message(4, &link);
        }
        for text in self.strings.in_order() {
            out.text(5, text);
        }
        for attribute in self.attributes.in_order() {
            out.bytes_field(6, attribute);
        }
        for locations in self.stacks.in_order() {
            let mut stack = Message::default();
            packed(&mut stack, 1, locations);
            out.message(7, &stack);
        }
        out
    }
}

/// A message `ValueType`.
fn value_type(kind: &ValueType, strings: &mut Table<String>) -> Message {
    let mut message = Message::default();
    message.number(1, strings.row(kind.name.clone()).into());
    message.number(2, strings.row(unit(&kind.unit).to_owned()).into());
    message
}

/// A message `Location`. Without a function it is row 0's.
fn location([mapping, function, line]: [u32; 3]) -> Message {
    let mut location = Message::default();
    location.number(1, mapping.into());
    if function != 0 {
        let mut of_line = Message::default();
        of_line.number(1, function.into());
        of_line.number(2, line.into());
        location.message(3, &of_line);
    }
    location
}

/// A message `Sample`.
fn sample(of: &Identity, value: i64) -> Message {
    let mut message = Message::default();
    message.number(1, of.stack.into());
    packed(&mut message, 2, &of.attributes);
    message.number(3, of.link.into());
    message.numbers(4, [value.cast_unsigned()]);
    message
}

fn packed(message: &mut Message, field: u64, numbers: &[u32]) {
    if !numbers.is_empty() {
        message.numbers(field, numbers.iter().map(|&it| it.into()));
    }
}
