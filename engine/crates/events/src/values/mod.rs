//! Arguments and results of calls, where the log has them (`observe_values`).

mod display;

use fulcrum_wire::log::{self, Damage, Payload};

/// An argument or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// It could not be told.
    Unknown,
    /// A signed number.
    Integer(i64),
    /// A number without sign.
    Unsigned(u64),
    /// True or false.
    Boolean(bool),
    /// A character: a unit of UTF-16, or a character's code.
    Character(u32),
    /// The bits of a number of 32 bits with a fraction.
    Single(u32),
    /// The bits of a number of 64 bits with a fraction.
    Double(u64),
    /// A text.
    Text {
        /// Its beginning, or all of it. What was no character is U+FFFD.
        text: String,
        /// More follows.
        cut: bool,
    },
    /// No object, or a pointer to nothing.
    Null,
    /// An object of a class.
    Object {
        /// The class's number.
        class: u32,
    },
    /// An address.
    Address(u64),
    /// A number that has a name.
    Named {
        /// The number.
        value: i64,
        /// Its name.
        name: String,
    },
}

/// What a call was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// How many arguments it has.
    pub all: u32,
    /// The first of them.
    pub values: Vec<Value>,
}

/// What is known of a call's values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallValues {
    /// What it was given; `None` when it has no arguments, or the log does not tell them.
    pub arguments: Option<Arguments>,
    /// What it returned; `None` when it returned nothing, was left otherwise, or the log does not tell it.
    pub returned: Option<Value>,
}

/// The next value of a payload. `None`: another version knows more types.
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

/// What a record of arguments tells behind the method. `None`: another version knows more types.
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
