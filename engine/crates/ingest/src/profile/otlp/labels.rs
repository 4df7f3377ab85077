//! The process and thread of a sample, by OpenTelemetry's names for attributes.

use super::super::fault::Fault;
use super::model::{AnyValue, Data, Sample, Table};

/// Names of processes, the most telling first.
const PROCESS: [&str; 3] = ["service.name", "process.executable.name", "process.command"];

/// Characters of a value that are shown.
const LENGTH: usize = 200;

/// `program thread (1/2)`, as far as it is known.
pub fn of(data: &Data, sample: &Sample) -> Result<String, Fault> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let dictionary = &data.dictionary;
    for &index in &sample.data.attribute_indices {
        // Attribute 0 is none.
        if index != 0 {
            let attribute = dictionary
                .attribute_table
                .row(index, "a sample", "attribute")?;
            let key = dictionary.text(attribute.key_strindex)?;
            found.push((key, text(data, &attribute.value)?));
        }
    }
    for attribute in &sample.resource.attributes {
        let key = match &*attribute.key {
            "" => dictionary.text(attribute.key_strindex)?,
            key => key,
        };
        found.push((key, text(data, &attribute.value)?));
    }
    let get = |key: &str| {
        let value = found
            .iter()
            .find(|(it, value)| *it == key && !value.is_empty());
        value.map(|(_, value)| &**value)
    };
    let process = PROCESS.iter().find_map(|key| get(key));
    let names: Vec<_> = [process, get("thread.name")]
        .into_iter()
        .flatten()
        .collect();
    let name = match names[..] {
        [] => "thread".to_owned(),
        _ => names.join(" "),
    };
    Ok(match (get("process.pid"), get("thread.id")) {
        (None, None) => name,
        (pid, tid) => format!("{name} ({}/{})", pid.unwrap_or("?"), tid.unwrap_or("?")),
    })
}

fn text(data: &Data, value: &AnyValue) -> Result<String, Fault> {
    let text = match (&value.string_value, value.int_value) {
        (Some(text), _) => text,
        (None, Some(number)) => return Ok(number.to_string()),
        (None, None) => data.dictionary.text(value.string_value_strindex)?,
    };
    Ok(text.chars().take(LENGTH).collect())
}
