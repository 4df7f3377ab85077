//! Text from a file, quoted in messages.

/// At most forty characters of `text`; `…` stands for the rest.
pub fn shorten(text: &str) -> String {
    let mut out: String = text.chars().take(40).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_than_forty_characters_is_cut_between_characters() {
        let exact = "ä".repeat(40);
        assert_eq!(shorten(&exact), exact);
        assert_eq!(shorten(&format!("{exact}b")), format!("{exact}…"));
    }
}
