//! coz's text format: one record on each line, with tab-separated `key=value` fields.
//!
//! By hand: coz's own reader is its viewer, which is JavaScript; the crate `coz` only marks progress points.

use std::borrow::Cow;

use fulcrum_model::ReadError;
use fulcrum_model::causal::Recording;
use fulcrum_model::text::shorten;

use super::assemble::{Assembler, is_known};
use super::fields::Fields;
use crate::lines::lines;
use crate::notes::Note;

pub(crate) fn detect(first: &str, _name: &str) -> bool {
    let kind = first.split('\t').next().unwrap_or_default();
    is_known(kind.trim())
}

pub(crate) fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    let mut assembler = Assembler::default();
    for line in lines(bytes) {
        let result = if line.broken {
            Err("the line is not UTF-8 text".into())
        } else {
            parse(line.text)
        };
        match result.and_then(|fields| assembler.push(&fields)) {
            Ok(()) if line.unfinished => assembler.note(&Note::NoLineEnd { line: line.number }),
            Ok(()) => {}
            Err(_) if line.unfinished => assembler.note(&Note::CutShort { line: line.number }),
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
                shorten(part)
            )),
        })
        .collect::<Result<_, _>>()?;
    Ok(Fields { kind, fields })
}
