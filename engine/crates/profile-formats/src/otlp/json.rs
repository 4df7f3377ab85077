//! The JSON of protobuf messages. Several texts may follow one another.

use super::super::fault::Fault;
use super::super::input::json_fault;
use super::model::Data;

/// Reads every text in the file.
pub fn read(text: &str) -> Result<Vec<Data>, Fault> {
    let texts = serde_json::Deserializer::from_str(text).into_iter::<Data>();
    let texts = texts.collect::<Result<_, _>>();
    texts.map_err(|error| json_fault(&error))
}
