//! The arguments and results of calls, if the log has them (`observe_values`).

mod display;

use fulcrum_wire::log::{self, Damage, Payload};

/// An argument or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The value is unknown.
    Unknown,
    /// A signed integer.
    Integer(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A Boolean.
    Boolean(bool),
    /// A character: a UTF-16 code unit, or a code point.
    Character(u32),
    /// The bits of a 32-bit floating-point number.
    Single(u32),
    /// The bits of a 64-bit floating-point number.
    Double(u64),
    /// A text.
    Text {
        /// The text, or its beginning. Invalid bytes are U+FFFD.
        text: String,
        /// Whether the text was truncated.
        cut: bool,
    },
    /// `null`, or a null pointer.
    Null,
    /// An object of a class.
    Object {
        /// The class's number.
        class: u32,
    },
    /// An address.
    Address(u64),
    /// An integer with a name.
    Named {
        /// The number.
        value: i64,
        /// Its name.
        name: String,
    },
}

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The number of arguments.
    pub all: u32,
    /// The first arguments.
    pub values: Vec<Value>,
}

/// The known values of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallValues {
    /// The arguments. `None` if the call has none, or the log does not have them.
    pub arguments: Option<Arguments>,
    /// The result. `None` if the call returned nothing or did not return, or the log does not have it.
    pub returned: Option<Value>,
}

/// Reads the next value of a payload. `None` if its type is from a later version.
pub(crate) fn read(fields: &mut Payload<'_>) -> Result<Option<Value>, Damage> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(fields.value()?.map(|value| match value {
        log::Value::Unknown => Value::Unknown,
        log::Value::Integer(value) => Value::Integer(value),
        log::Value::Unsigned(value) => Value::Unsigned(value),
        log::Value::Boolean(value) => Value::Boolean(value),
        log::Value::Character(value) => Value::Character(value),
        log::Value::Single(bits) => Value::Single(bits),
        log::Value::Double(bits) => Value::Double(bits),
        log::Value::Text { bytes, cut } => Value::Text {
            text: text(bytes),
            cut,
        },
        log::Value::Null => Value::Null,
        log::Value::Object(class) => Value::Object { class },
        log::Value::Address(value) => Value::Address(value),
        log::Value::Named { value, name } => Value::Named {
            value,
            name: text(name),
        },
    }))
}

/// Reads the arguments of a record, which follow the method. `None` if a type is from a later version.
pub(crate) fn read_arguments(fields: &mut Payload<'_>) -> Result<Option<Arguments>, Damage> {
    let all = u32::try_from(fields.number()?).map_err(|_| Damage::Bad)?;
    let count = fields.number()?;
    let mut values = Vec::new();
    for _ in 0..count {
        match read(fields)? {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    Ok(Some(Arguments { all, values }))
}
