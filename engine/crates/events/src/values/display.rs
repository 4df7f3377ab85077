//! Formats the arguments and results of calls.

use crate::reader::open::Trace;
use crate::values::{Arguments, CallValues, Value};

impl Value {
    /// The value without a mark of its type: a text as it is, a number in digits, a class's name.
    pub fn plain(&self, trace: &Trace) -> String {
        match self {
            Value::Unknown => "?".to_owned(),
            Value::Integer(value) => value.to_string(),
            Value::Unsigned(value) => value.to_string(),
            Value::Boolean(value) => value.to_string(),
            Value::Character(value) => char::from_u32(*value)
                .unwrap_or(char::REPLACEMENT_CHARACTER)
                .to_string(),
            Value::Single(bits) => number(format!("{:?}", f32::from_bits(*bits))),
            Value::Double(bits) => number(format!("{:?}", f64::from_bits(*bits))),
            Value::Text { text, .. } => text.clone(),
            Value::Null => "null".to_owned(),
            Value::Object { class } => trace.class_name(*class).to_owned(),
            Value::Address(value) => format!("{value:#x}"),
            Value::Named { name, .. } => name.clone(),
        }
    }

    /// The value as it is shown: `42`, `"text"`, `"a long te"…`, `'c'`, `null`, `java.util.List`.
    pub fn shown(&self, trace: &Trace) -> String {
        match self {
            Value::Text { text, cut } => {
                let more = if *cut { "…" } else { "" };
                format!("\"{}\"{more}", escaped(text, '"'))
            }
            Value::Character(_) => format!("'{}'", escaped(&self.plain(trace), '\'')),
            _ => self.plain(trace),
        }
    }
}

/// A floating-point number as most languages write it.
fn number(text: String) -> String {
    match text.as_str() {
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        _ => text,
    }
}

/// Escapes line breaks and other characters that would change how the surrounding text looks.
fn escaped(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            it if it == quote => out.extend(['\\', it]),
            it if it.is_control() || is_direction(it) => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(it)));
            }
            it => out.push(it),
        }
    }
    out
}

/// Whether a character changes the direction of the text after it.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Arguments {
    /// The arguments as they are shown, such as `1, "two", …`. Empty for a call without arguments.
    pub fn shown(&self, trace: &Trace) -> String {
        let mut all: Vec<String> = self.values.iter().map(|it| it.shown(trace)).collect();
        if self.all as usize > self.values.len() {
            all.push("…".to_owned());
        }
        all.join(", ")
    }
}

impl CallValues {
    /// The values as they follow a method's name, such as `(1, "two") → 3`, without unknown ones.
    pub fn shown(&self, trace: &Trace) -> String {
        let arguments = self.arguments.as_ref();
        let given = arguments.map_or_else(String::new, |it| format!("({})", it.shown(trace)));
        match &self.returned {
            Some(value) => format!("{given} → {}", value.shown(trace)),
            None => given,
        }
    }
}
