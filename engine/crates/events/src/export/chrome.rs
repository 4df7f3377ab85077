//! Writes Chrome's trace event format, for `chrome://tracing`, Perfetto, speedscope and others.
//!
//! Written by hand, because it is written event by event in constant memory, and its few kinds of lines need no serialiser.

use std::fmt::Write as _;
use std::io::Write;

use fulcrum_model::Progress;

use super::edges::{Edge, ExportError, Moment, edges, named, point_title, text, title};
use super::json_text;
use crate::reader::open::Trace;
use crate::tree::visit::TraceRange;
use crate::values::{CallValues, Value};

/// Writes the calls, waits and collections within the scope, and returns what had to be left out. Times are by the clock, which includes
/// the cost of probes; CPU times are `tts`.
///
/// # Errors
/// When writing to `out` fails, or `progress` was cancelled.
pub fn chrome(
    trace: &Trace,
    scope: &TraceRange,
    progress: &Progress,
    out: &mut dyn Write,
) -> Result<Vec<String>, ExportError> {
    let (pid, mut tid, mut first) = (trace.pid, 0, true);
    let mut line = String::new();
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    let problems = edges(trace, scope, progress, |edge| {
        line.clear();
        let begin = |line: &mut String, phase: &str, tid: u32| {
            // Writing to a string cannot fail.
            let _ = write!(line, "{{\"ph\":\"{phase}\",\"pid\":{pid},\"tid\":{tid}");
        };
        match edge {
            Edge::Thread(thread) => {
                tid = thread.id;
                begin(&mut line, "M", tid);
                line.push_str(",\"name\":\"thread_name\",\"args\":{\"name\":");
                json_text(&mut line, &thread.name);
                line.push('}');
            }
            Edge::Begin(node, at) => {
                let (name, category) = title(trace, node);
                begin(&mut line, "B", tid);
                time(&mut line, at);
                let _ = write!(line, ",\"cat\":\"{category}\",\"name\":");
                json_text(&mut line, &name);
            }
            Edge::End(at, values) => {
                begin(&mut line, "E", tid);
                time(&mut line, at);
                if let Some(values) = values {
                    arguments(&mut line, trace, values);
                }
            }
            Edge::Point(what, at) => {
                let Some(name) = point_title(trace, what) else {
                    return Ok(());
                };
                begin(&mut line, "i", tid);
                time(&mut line, at);
                line.push_str(",\"s\":\"t\",\"name\":");
                json_text(&mut line, &name);
            }
        }
        if !std::mem::take(&mut first) {
            out.write_all(b",\n")?;
        }
        line.push('}');
        out.write_all(line.as_bytes())
    })?;
    out.write_all(b"\n]}\n")?;
    out.flush()?;
    Ok(problems)
}

/// Writes a time in microseconds.
fn time(line: &mut String, at: Moment) {
    let _ = write!(line, ",\"ts\":{}.{:03}", at.ns / 1000, at.ns % 1000);
    if let Some(cpu) = at.cpu_ns {
        let _ = write!(line, ",\"tts\":{}.{:03}", cpu / 1000, cpu % 1000);
    }
}

/// Larger integers are not exact in readers whose numbers have 53 bits.
const EXACT: u64 = 1 << 53;

/// Writes the arguments and result of a call. Viewers show them with the call, although they are written at its end.
fn arguments(line: &mut String, trace: &Trace, values: &CallValues) {
    line.push_str(",\"args\":{");
    for (at, (name, value)) in named(values).into_iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        json_text(line, &name);
        line.push(':');
        let text = text(trace, value);
        let is_json = match value {
            Value::Integer(value) => value.unsigned_abs() <= EXACT,
            Value::Unsigned(value) => *value <= EXACT,
            Value::Single(bits) => f32::from_bits(*bits).is_finite(),
            Value::Double(bits) => f64::from_bits(*bits).is_finite(),
            Value::Boolean(_) | Value::Null => true,
            _ => false,
        };
        match is_json {
            true => line.push_str(&text),
            false => json_text(line, &text),
        }
    }
    line.push('}');
}
