//! Exports traces as timelines for other tools. They are written while the trace is read, so memory does not grow with the number of
//! events. Tables are in the crate `event-tables`.

mod chrome;
mod edges;
mod perfetto;

pub use chrome::chrome;
pub use edges::ExportError;
pub use perfetto::perfetto;

/// Writes a text as JSON.
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
