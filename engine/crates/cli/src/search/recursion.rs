//! Paths for people, with long recursion folded: `walk \u{d7}17`. The command `path` accepts them in this form.

use crate::terminal::Style;

/// From this number on, equal names in a row are folded.
const LEAST: usize = 3;

/// The names of a path, with those of a long recursion once, followed by their number.
pub(crate) fn folded(names: &[String], style: Style) -> Vec<String> {
    let mut all = Vec::new();
    for alike in names.chunk_by(|a, b| a == b) {
        match alike.len() < LEAST {
            true => all.extend_from_slice(alike),
            false => {
                let sign = if style.unicode { "\u{d7}" } else { "x" };
                all.push(format!("{} {sign}{}", alike[0], alike.len()));
            }
        }
    }
    all
}

/// The same in one line.
pub(crate) fn path(names: &[String], style: Style) -> String {
    folded(names, style).join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_recursion_is_folded() {
        let style = |unicode| Style {
            colour: false,
            unicode,
            terminal: false,
        };
        for (names, expected) in [
            ("", ""),
            ("a b", "a; b"),
            ("a f f b", "a; f; f; b"),
            ("f f f", "f \u{d7}3"),
            ("a f f f f b f f", "a; f \u{d7}4; b; f; f"),
        ] {
            let names: Vec<String> = names.split_whitespace().map(String::from).collect();
            assert_eq!(path(&names, style(true)), expected);
            assert_eq!(path(&names, style(false)), expected.replace('\u{d7}', "x"));
        }
    }
}
