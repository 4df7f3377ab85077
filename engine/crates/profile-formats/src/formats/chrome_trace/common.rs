//! Fields that all events share: the thread and the time.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::collect::units::whole;

/// A process and one of its threads or profiles.
pub(crate) type Key = (String, String);

/// An id, which may be a number or a text, as text.
pub(crate) fn id_text(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The thread's name for its container.
pub(crate) fn label(thread: &Key, names: &BTreeMap<Key, String>) -> String {
    let (pid, tid) = thread;
    match names.get(thread) {
        Some(name) => format!("{name} ({pid}/{tid})"),
        None => format!("thread {pid}/{tid}"),
    }
}

/// A time in nanoseconds. What launchers did before the clock started has times below 0.
pub(crate) fn moment(micros: Option<f64>) -> Result<i64, String> {
    let micros = micros.ok_or("expected an event to have a time")?;
    let distance = nanoseconds(micros.abs())?;
    // The distance of two times must fit a duration.
    if distance > i64::MAX / 2 {
        return Err(format!("the time {micros} is too large"));
    }
    Ok(if micros < 0.0 { -distance } else { distance })
}

/// A duration in nanoseconds.
pub(crate) fn nanoseconds(micros: f64) -> Result<i64, String> {
    whole(micros, 1e3).map_err(|fault| fault.problem)
}
