//! Converts location descriptions (DWARF 5 §2.6) to [`Place`]s, as far as a probe can follow them.

use gimli::{AttributeValue, Operation};

use super::frame::{Frame, Place, Unit, is_preserved};
use crate::elf::file::Reader;

/// The place of a parameter at an address. `None` if a probe cannot access it.
pub(crate) fn at<'r>(
    dwarf: &gimli::Dwarf<Reader<'r>>,
    unit: &Unit<'r>,
    location: Option<AttributeValue<Reader<'r>>>,
    address: u64,
    frame: &Frame,
) -> gimli::Result<Option<Place>> {
    match location {
        Some(AttributeValue::Exprloc(expression)) => place(expression, unit, frame),
        Some(value) => {
            let Some(mut list) = dwarf.attr_locations(unit, value)? else {
                return Ok(None);
            };
            while let Some(entry) = list.next()? {
                if (entry.range.begin..entry.range.end).contains(&address) {
                    return place(entry.data, unit, frame);
                }
            }
            Ok(None)
        }
        None => Ok(None),
    }
}

/// The register that an expression names.
pub(crate) fn register(
    expression: gimli::Expression<Reader<'_>>,
    unit: &Unit<'_>,
) -> gimli::Result<Option<u16>> {
    let mut operations = expression.operations(unit.encoding());
    Ok(match operations.next()? {
        Some(Operation::Register { register }) => Some(register.0),
        _ => None,
    })
}

fn place(
    expression: gimli::Expression<Reader<'_>>,
    unit: &Unit<'_>,
    frame: &Frame,
) -> gimli::Result<Option<Place>> {
    let mut operations = expression.operations(unit.encoding());
    let Some(first) = operations.next()? else {
        return Ok(None);
    };
    let second = operations.next()?;
    if operations.next()?.is_some() {
        return Ok(None);
    }
    let found = match (first, second) {
        (Operation::Register { register }, None) => Some(Place::Register(register.0)),
        (Operation::FrameOffset { offset }, None) => frame.at(offset),
        (
            Operation::RegisterOffset {
                register, offset, ..
            },
            None,
        ) => Some(Place::Memory(register.0, offset)),
        (Operation::UnsignedConstant { value }, Some(Operation::StackValue)) => {
            Some(Place::Constant(value.cast_signed()))
        }
        (Operation::SignedConstant { value }, Some(Operation::StackValue)) => {
            Some(Place::Constant(value))
        }
        // The value is lost, or in pieces.
        _ => None,
    };
    let reachable = found.filter(|place| match place {
        Place::Register(register) | Place::Memory(register, _) => is_preserved(*register),
        Place::Constant(_) => true,
    });
    Ok(reachable)
}
