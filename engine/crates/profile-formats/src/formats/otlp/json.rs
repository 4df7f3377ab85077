//! OTLP as JSON. A file may have several JSON texts.

use super::model::Data;
use crate::decode::fault::Fault;
use crate::decode::input::json_fault;

/// Reads every text in the file.
pub(crate) fn read(text: &str) -> Result<Vec<Data>, Fault> {
    let texts = serde_json::Deserializer::from_str(text).into_iter::<Data>();
    let texts = texts.collect::<Result<_, _>>();
    texts.map_err(|error| json_fault(&error))
}
