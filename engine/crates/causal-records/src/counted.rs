//! Numbers of things, for notes.

/// `1 record`, `2 records`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
