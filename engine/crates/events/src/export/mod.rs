//! Traces for other tools: timelines that browsers open. They are written while the trace is read; memory does not grow with
//! the number of events. Tables are in a crate of their own, `event-tables`.

mod chrome;
mod edges;
mod perfetto;

pub use chrome::chrome;
pub use edges::ExportError;
pub use perfetto::perfetto;

/// A text as JSON.
pub(crate) fn json_text(out: &mut String, text: &str) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
