//! OTLP as protobuf, decoded to the same structs as the JSON.

use super::model::{
    AnyValue, Data, Dictionary, Function, KeyValue, KeyValueAndUnit, Line, Link, Location, Mapping,
    OneProfile, OneSample, Resource, ResourceProfiles, ScopeProfiles, Stack, ValueType,
};
use crate::decode::fault::Fault;
use crate::decode::wire::{Field, Message};

/// Whether the outermost message has resource profiles and a dictionary. pprof has value types there, whose fields are numbers.
pub(crate) fn detect(bytes: &[u8]) -> bool {
    let mut message = Message::new(bytes);
    while let Ok(Some((number, field))) = message.field() {
        match (number, field) {
            (1, Field::Bytes(mut inner)) => {
                return matches!(inner.field(), Ok(Some((1..=3, Field::Bytes(_)))));
            }
            (2, Field::Bytes(_)) => {}
            _ => return false,
        }
    }
    false
}

/// Reads the file.
pub(crate) fn read(bytes: &[u8]) -> Result<Data, Fault> {
    let mut data = Data::default();
    each(Message::new(bytes), &mut |number, field| {
        match (number, field) {
            (1, Field::Bytes(inner)) => data.resource_profiles.push(of_resource(inner)?),
            (2, Field::Bytes(inner)) => dictionary(inner, &mut data.dictionary)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(data)
}

/// Calls `take` with every field of a message.
fn each<'a>(
    mut message: Message<'a>,
    take: &mut dyn FnMut(u64, Field<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    while let Some((number, field)) = message.field()? {
        take(number, field)?;
    }
    Ok(())
}

fn of_resource(message: Message) -> Result<ResourceProfiles, Fault> {
    let mut found = ResourceProfiles::default();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, Field::Bytes(inner)) => found.resource = resource(inner)?,
            (2, Field::Bytes(inner)) => found.scope_profiles.push(of_scope(inner)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn resource(message: Message) -> Result<Resource, Fault> {
    let mut found = Resource::default();
    each(message, &mut |number, field| {
        if let (1, Field::Bytes(inner)) = (number, field) {
            found.attributes.push(key_value(inner)?);
        }
        Ok(())
    })?;
    Ok(found)
}

fn of_scope(message: Message) -> Result<ScopeProfiles, Fault> {
    let mut found = ScopeProfiles::default();
    each(message, &mut |number, field| {
        if let (2, Field::Bytes(inner)) = (number, field) {
            found.profiles.push(profile(inner)?);
        }
        Ok(())
    })?;
    Ok(found)
}

fn profile(message: Message) -> Result<OneProfile, Fault> {
    let mut found = OneProfile::default();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, Field::Bytes(inner)) => {
                let [kind, unit] = indices(inner, [1, 2])?;
                found.sample_type = ValueType {
                    type_strindex: kind,
                    unit_strindex: unit,
                };
            }
            (2, Field::Bytes(inner)) => found.samples.push(sample(inner)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn sample(message: Message) -> Result<OneSample, Fault> {
    let mut found = OneSample {
        at: message.at(),
        ..OneSample::default()
    };
    let mut values = Vec::new();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, field) => found.stack_index = index(field),
            (2, field) => append(field, &mut found.attribute_indices)?,
            (3, field) => found.link_index = index(field),
            (4, field) => field.numbers(&mut values)?,
            (5, Field::Bytes(times)) => found.timestamps_unix_nano += times.bytes().len() / 8,
            (5, Field::Fixed) => found.timestamps_unix_nano += 1,
            _ => {}
        }
        Ok(())
    })?;
    found.values = values.into_iter().map(u64::cast_signed).collect();
    Ok(found)
}

fn dictionary(message: Message, found: &mut Dictionary) -> Result<(), Fault> {
    each(message, &mut |number, field| {
        let Field::Bytes(inner) = field else {
            return Ok(());
        };
        match number {
            1 => {
                let [filename_strindex] = indices(inner, [4])?;
                found.mapping_table.push(Mapping { filename_strindex });
            }
            2 => found.location_table.push(location(inner)?),
            3 => found.function_table.push(function(inner)?),
            4 => found.link_table.push(link(inner)?),
            5 => found.string_table.push(text(inner)),
            6 => found.attribute_table.push(attribute(inner)?),
            7 => {
                let mut stack = Stack {
                    at: inner.at(),
                    ..Stack::default()
                };
                each(inner, &mut |number, field| match number {
                    1 => append(field, &mut stack.location_indices),
                    _ => Ok(()),
                })?;
                found.stack_table.push(stack);
            }
            _ => {}
        }
        Ok(())
    })
}

fn link(message: Message) -> Result<Link, Fault> {
    let mut found = Link::default();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, Field::Bytes(inner)) => found.trace_id = hexadecimal(inner, 16)?,
            (2, Field::Bytes(inner)) => found.span_id = hexadecimal(inner, 8)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

/// The id of a trace or span, `length` bytes long; empty means none.
fn hexadecimal(message: Message, length: usize) -> Result<String, Fault> {
    let bytes = message.bytes();
    if !bytes.is_empty() && bytes.len() != length {
        let found = bytes.len();
        let problem = format!("a link has an id of {found} bytes, expected {length}");
        return Err(Fault::byte(message.at(), problem));
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn location(message: Message) -> Result<Location, Fault> {
    let mut found = Location::default();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, field) => found.mapping_index = index(field),
            (3, Field::Bytes(inner)) => {
                let [function_index] = indices(inner, [1])?;
                found.lines.push(Line { function_index });
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn function(message: Message) -> Result<Function, Fault> {
    let mut start_line = 0;
    each(message, &mut |number, field| {
        if number == 4 {
            start_line = field.number().cast_signed();
        }
        Ok(())
    })?;
    let [name_strindex, system_name_strindex, filename_strindex] = indices(message, [1, 2, 3])?;
    Ok(Function {
        name_strindex,
        system_name_strindex,
        filename_strindex,
        start_line,
    })
}

fn attribute(message: Message) -> Result<KeyValueAndUnit, Fault> {
    let mut found = KeyValueAndUnit::default();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, field) => found.key_strindex = index(field),
            (2, Field::Bytes(inner)) => found.value = any(inner)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn key_value(message: Message) -> Result<KeyValue, Fault> {
    let mut found = KeyValue::default();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, Field::Bytes(inner)) => found.key = text(inner),
            (2, Field::Bytes(inner)) => found.value = any(inner)?,
            (3, field) => found.key_strindex = index(field),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn any(message: Message) -> Result<AnyValue, Fault> {
    let mut found = AnyValue::default();
    each(message, &mut |number, field| {
        match (number, field) {
            (1, Field::Bytes(inner)) => found.string_value = Some(text(inner)),
            (3, Field::Varint(value)) => found.int_value = Some(value.cast_signed()),
            (8, field) => found.string_value_strindex = index(field),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn text(message: Message) -> String {
    String::from_utf8_lossy(message.bytes()).into_owned()
}

/// An index into a table. Indices beyond 32 bits become -1, which no table has.
fn index(field: Field) -> i32 {
    i32::try_from(field.number().cast_signed()).unwrap_or(-1)
}

/// The fields of a message that are indices into tables.
fn indices<const N: usize>(message: Message, wanted: [u64; N]) -> Result<[i32; N], Fault> {
    let mut found = [0; N];
    each(message, &mut |number, field| {
        if let Some(place) = wanted.iter().position(|&it| it == number) {
            found[place] = index(field);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Appends indices into tables, packed or not.
fn append(field: Field, into: &mut Vec<i32>) -> Result<(), Fault> {
    let mut numbers = Vec::new();
    field.numbers(&mut numbers)?;
    let small = |number: u64| i32::try_from(number.cast_signed()).unwrap_or(-1);
    into.extend(numbers.into_iter().map(small));
    Ok(())
}
