//! The types of values: numbers, names and texts.

use gimli::AttributeValue;

use super::frame::{Entry, Unit};
use super::result::{ReturnRegister, ReturnSlot};
use crate::elf::file::Reader;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A signed integer with this number of bytes.
    Signed(u8),
    /// An unsigned integer with this number of bytes.
    Unsigned(u8),
    /// A Boolean of one byte.
    Boolean,
    /// A character with this number of bytes.
    Character(u8),
    /// A floating-point number of 4 bytes.
    Single,
    /// A floating-point number of 8 bytes.
    Double,
    /// The address of a zero-terminated string of one-byte characters.
    Text,
    /// Any other address.
    Address,
    /// An integer with this number of bytes, and the names of some values.
    Named(u8, Vec<(i64, String)>),
}

impl ValueType {
    /// Where functions return a value of this type.
    pub(super) fn return_slot(&self) -> ReturnSlot {
        let size = match self {
            ValueType::Signed(size)
            | ValueType::Unsigned(size)
            | ValueType::Character(size)
            | ValueType::Named(size, _) => usize::from(*size),
            ValueType::Boolean => 1,
            ValueType::Single => 4,
            ValueType::Double | ValueType::Text | ValueType::Address => 8,
        };
        let register = match self {
            ValueType::Single | ValueType::Double => ReturnRegister::Xmm0,
            ValueType::Signed(_)
            | ValueType::Unsigned(_)
            | ValueType::Boolean
            | ValueType::Character(_)
            | ValueType::Text
            | ValueType::Address
            | ValueType::Named(..) => ReturnRegister::Rax,
        };
        ReturnSlot { register, size }
    }
}

/// The most names of an enumeration that are kept.
const MOST_NAMES: usize = 256;
/// The longest chain of types that refer to others. A longer one is damage.
const MOST_STEPS: usize = 32;

/// An attribute of an entry, or of an entry that it refers to.
pub(crate) fn attribute<'r>(
    unit: &Unit<'r>,
    entry: &Entry<'r>,
    name: gimli::DwAt,
) -> gimli::Result<Option<AttributeValue<Reader<'r>>>> {
    if let Some(value) = entry.attr_value(name) {
        return Ok(Some(value));
    }
    let mut next = origin(entry);
    for _ in 0..MOST_STEPS {
        let Some(offset) = next else { break };
        let entry = unit.entry(offset)?;
        if let Some(value) = entry.attr_value(name) {
            return Ok(Some(value));
        }
        next = origin(&entry);
    }
    Ok(None)
}

/// The entry to which an entry refers, in the same unit.
fn origin(entry: &Entry<'_>) -> Option<gimli::UnitOffset> {
    let names = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
    let found = names.into_iter().find_map(|name| entry.attr_value(name));
    match found {
        Some(AttributeValue::UnitRef(offset)) => Some(offset),
        _ => None,
    }
}

/// The type to which an attribute refers. `None` for structures, and for types in other units.
pub(crate) fn of<'r>(
    dwarf: &gimli::Dwarf<Reader<'r>>,
    unit: &Unit<'r>,
    reference: AttributeValue<Reader<'r>>,
) -> gimli::Result<Option<ValueType>> {
    let mut reference = Some(reference);
    for _ in 0..MOST_STEPS {
        let Some(AttributeValue::UnitRef(offset)) = reference else {
            return Ok(None);
        };
        let entry = unit.entry(offset)?;
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => reference = entry.attr_value(gimli::DW_AT_type),
            gimli::DW_TAG_base_type => return base(dwarf, unit, &entry),
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => {
                let to = entry.attr_value(gimli::DW_AT_type);
                let is_pointer = entry.tag() == gimli::DW_TAG_pointer_type;
                let is_text = is_pointer && is_character(dwarf, unit, to)?;
                return Ok(Some(match is_text {
                    true => ValueType::Text,
                    false => ValueType::Address,
                }));
            }
            gimli::DW_TAG_enumeration_type => return enumeration(dwarf, unit, offset),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn size(entry: &Entry<'_>) -> Option<u8> {
    let size = entry.attr_value(gimli::DW_AT_byte_size)?.udata_value()?;
    matches!(size, 1 | 2 | 4 | 8).then_some(size as u8)
}

fn base<'r>(
    dwarf: &gimli::Dwarf<Reader<'r>>,
    unit: &Unit<'r>,
    entry: &Entry<'r>,
) -> gimli::Result<Option<ValueType>> {
    let (Some(size), Some(AttributeValue::Encoding(encoding))) =
        (size(entry), entry.attr_value(gimli::DW_AT_encoding))
    else {
        return Ok(None);
    };
    let name = match entry.attr_value(gimli::DW_AT_name) {
        Some(name) => dwarf
            .attr_string(unit, name)?
            .to_string_lossy()
            .into_owned(),
        None => String::new(),
    };
    Ok(match encoding {
        gimli::DW_ATE_boolean if size == 1 => Some(ValueType::Boolean),
        gimli::DW_ATE_UTF => Some(ValueType::Character(size)),
        // `signed char` and `unsigned char` are usually small numbers, not characters.
        gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char if name == "char" => {
            Some(ValueType::Character(size))
        }
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => Some(ValueType::Signed(size)),
        gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char => Some(ValueType::Unsigned(size)),
        gimli::DW_ATE_float if size == 4 => Some(ValueType::Single),
        gimli::DW_ATE_float if size == 8 => Some(ValueType::Double),
        _ => None,
    })
}

/// Whether a type is `char` or `const char`.
fn is_character<'r>(
    dwarf: &gimli::Dwarf<Reader<'r>>,
    unit: &Unit<'r>,
    reference: Option<AttributeValue<Reader<'r>>>,
) -> gimli::Result<bool> {
    let mut reference = reference;
    for _ in 0..MOST_STEPS {
        let Some(AttributeValue::UnitRef(offset)) = reference else {
            return Ok(false);
        };
        let entry = unit.entry(offset)?;
        match entry.tag() {
            gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type | gimli::DW_TAG_typedef => {
                reference = entry.attr_value(gimli::DW_AT_type);
            }
            gimli::DW_TAG_base_type => {
                let of = base(dwarf, unit, &entry)?;
                return Ok(of == Some(ValueType::Character(1)));
            }
            _ => return Ok(false),
        }
    }
    Ok(false)
}

fn enumeration<'r>(
    dwarf: &gimli::Dwarf<Reader<'r>>,
    unit: &Unit<'r>,
    offset: gimli::UnitOffset,
) -> gimli::Result<Option<ValueType>> {
    let Some(size) = size(&unit.entry(offset)?) else {
        return Ok(None);
    };
    let mut names = Vec::new();
    let mut tree = unit.entries_tree(Some(offset))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() != gimli::DW_TAG_enumerator || names.len() == MOST_NAMES {
            continue;
        }
        let value = entry.attr_value(gimli::DW_AT_const_value);
        let value = value.and_then(|it| {
            it.sdata_value()
                .or_else(|| it.udata_value().map(u64::cast_signed))
        });
        let name = entry.attr_value(gimli::DW_AT_name);
        if let (Some(value), Some(name)) = (value, name) {
            let name = dwarf.attr_string(unit, name)?;
            names.push((value, name.to_string_lossy().into_owned()));
        }
    }
    Ok(Some(ValueType::Named(size, names)))
}
