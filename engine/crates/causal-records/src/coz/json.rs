//! coz's JSON lines: the records of the text format as objects, `"type"` names the record.

use std::borrow::Cow;

use fulcrum_model::ReadError;
use fulcrum_model::causal::Recording;
use serde_json::Value;

use super::assemble::{Assembler, is_known};
use super::fields::Fields;
use crate::lines::lines;
use crate::notes::Note;

pub(crate) fn detect(first: &str, _name: &str) -> bool {
    match serde_json::from_str::<Value>(first) {
        Ok(value) => value
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(is_known),
        // Cut short in its first line.
        Err(_) => {
            let rest = first
                .strip_prefix('{')
                .map(str::trim_start)
                .and_then(|r| r.strip_prefix("\"type\""));
            let kind = rest
                .and_then(|r| r.trim_start().strip_prefix(':'))
                .map(str::trim_start);
            kind.is_some_and(|k| k.split('"').nth(1).is_some_and(is_known))
        }
    }
}

pub(crate) fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    let mut assembler = Assembler::default();
    for line in lines(bytes) {
        match parse(line.text).and_then(|fields| assembler.push(&fields)) {
            Ok(()) => {}
            Err(_) if line.unfinished => assembler.note(&Note::CutShort { line: line.number }),
            Err(_) if line.broken => return Err(line.error(name, "the line is not UTF-8 text")),
            Err(problem) => return Err(line.error(name, problem)),
        }
    }
    Ok(assembler.finish())
}

fn parse(text: &str) -> Result<Fields<'static>, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| {
        format!(
            "expected a JSON object on one line, column {} is wrong",
            e.column()
        )
    })?;
    let Value::Object(object) = value else {
        return Err("expected a JSON object on one line".into());
    };
    let mut kind = None;
    let mut fields = Vec::with_capacity(object.len());
    for (key, value) in object {
        match (key.as_str(), value) {
            ("type", Value::String(text)) => kind = Some(Cow::from(text)),
            (_, Value::String(text)) => fields.push((Cow::from(key), Cow::from(text))),
            (_, Value::Null) => {}
            (_, value) => fields.push((Cow::from(key), Cow::from(value.to_string()))),
        }
    }
    let kind = kind.ok_or("expected \"type\" to name the record")?;
    Ok(Fields { kind, fields })
}
