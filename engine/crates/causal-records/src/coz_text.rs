//! coz's text format: a record a line, tab-separated `key=value` fields.

use std::borrow::Cow;

use fulcrum_model::causal::Recording;

use crate::assemble::Assembler;
use crate::fields::Fields;
use crate::lines::lines;
use fulcrum_model::ReadError;

pub fn detect(first: &str, _name: &str) -> bool {
    let kind = first.split('\t').next().unwrap_or_default();
    crate::assemble::is_known(kind.trim())
}

pub fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    let mut assembler = Assembler::default();
    for line in lines(bytes) {
        let result = if line.broken {
            Err("the line is not UTF-8 text".into())
        } else {
            parse(line.text)
        };
        match result.and_then(|fields| assembler.push(&fields)) {
            Ok(()) if line.unfinished => assembler.note(format!(
                "Line {} is the last and has no line end; if the file was cut short there, its last number may be too small.",
                line.number
            )),
            Ok(()) => {}
            Err(_) if line.unfinished => assembler.cut_short(line.number),
            Err(problem) => return Err(line.error(name, problem)),
        }
    }
    Ok(assembler.finish())
}

fn parse(text: &str) -> Result<Fields<'_>, String> {
    let mut parts = text.split('\t').filter(|part| !part.is_empty());
    let kind = Cow::from(parts.next().unwrap_or_default().trim());
    let fields = parts
        .map(|part| match part.split_once('=') {
            Some((key, value)) => Ok((Cow::from(key.trim()), Cow::from(value.trim()))),
            None => Err(format!(
                "expected a field KEY=VALUE, got {:?}",
                fulcrum_model::text::shorten(part)
            )),
        })
        .collect::<Result<_, _>>()?;
    Ok(Fields { kind, fields })
}
