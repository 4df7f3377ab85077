//! What all kinds of events say alike: of which thread they are, and when they were.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::collect::units::whole;

/// Process and thread, or process and profile.
pub(crate) type Key = (String, String);

/// Ids are numbers or texts.
pub(crate) fn id_text(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The thread as a frame names it.
pub(crate) fn label(thread: &Key, names: &BTreeMap<Key, String>) -> String {
    let (pid, tid) = thread;
    match names.get(thread) {
        Some(name) => format!("{name} ({pid}/{tid})"),
        None => format!("thread {pid}/{tid}"),
    }
}

/// When something was. Launchers write what they did before the clock began at times below 0.
pub(crate) fn moment(micros: Option<f64>) -> Result<i64, String> {
    let micros = micros.ok_or("expected an event to have a time")?;
    let distance = nanoseconds(micros.abs())?;
    // Two of them are never further apart than a duration can be.
    if distance > i64::MAX / 2 {
        return Err(format!("the time {micros} is too large"));
    }
    Ok(if micros < 0.0 { -distance } else { distance })
}

/// A time as nanoseconds.
pub(crate) fn nanoseconds(micros: f64) -> Result<i64, String> {
    whole(micros, 1e3).map_err(|fault| fault.problem)
}
