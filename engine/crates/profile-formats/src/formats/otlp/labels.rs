//! The process and thread of a sample, and other attributes, by OpenTelemetry's names.

use super::model::{AnyValue, Data, Sample, Table};
use crate::decode::fault::Fault;

/// Attributes that name the process, the most specific first.
const PROCESS: [&str; 3] = ["service.name", "process.executable.name", "process.command"];

/// How many characters of a value are shown.
const LENGTH: usize = 200;

/// The container's name, `program thread (1/2)`, as far as it is known.
pub(crate) fn of(data: &Data, sample: &Sample) -> Result<String, Fault> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let dictionary = &data.dictionary;
    for &index in &sample.data.attribute_indices {
        // Attribute 0 means none.
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

/// The part of a value that is shown.
fn text(data: &Data, value: &AnyValue) -> Result<String, Fault> {
    Ok(whole(data, value)?.chars().take(LENGTH).collect())
}

fn whole(data: &Data, value: &AnyValue) -> Result<String, Fault> {
    Ok(match (&value.string_value, value.int_value) {
        (Some(text), _) => text.clone(),
        (None, Some(number)) => number.to_string(),
        (None, None) => data
            .dictionary
            .text(value.string_value_strindex)?
            .to_owned(),
    })
}

/// The value of the sample's first attribute with one of these names. Returns `None` when there is none or it is empty.
pub(crate) fn first(data: &Data, sample: &Sample, names: &[&str]) -> Result<Option<String>, Fault> {
    let dictionary = &data.dictionary;
    for &index in sample.data.attribute_indices.iter().filter(|&&it| it != 0) {
        let attribute = dictionary
            .attribute_table
            .row(index, "a sample", "attribute")?;
        if names.contains(&dictionary.text(attribute.key_strindex)?) {
            let value = whole(data, &attribute.value)?;
            return Ok(Some(value).filter(|it| !it.is_empty()));
        }
    }
    Ok(None)
}
