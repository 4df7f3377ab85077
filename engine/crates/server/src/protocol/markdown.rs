//! Names and texts in Markdown.

/// A name as inline code; a backtick becomes an apostrophe.
pub(crate) fn code(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// A name as inline code, backticks included: the fence is longer than any run of them. A line break becomes a space.
pub(crate) fn verbatim_code(name: &str) -> String {
    let name = name.replace(['\n', '\r'], " ");
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match name.starts_with('`') || name.ends_with('`') {
        true => format!("{fence} {name} {fence}"),
        false => format!("{fence}{name}{fence}"),
    }
}

/// A text with everything escaped that Markdown would read as markup. A line break becomes a space.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
