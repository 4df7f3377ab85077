//! Parts of messages: text quoted from a file, counts with their noun.

/// At most forty characters of `text`; `…` stands for the rest.
pub fn shorten(text: &str) -> String {
    let mut out: String = text.chars().take(40).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

/// A count with its noun: `1 record`, `2 records`.
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
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

    #[test]
    fn only_one_is_singular() {
        let all = [0, 1, 2].map(|count| counted(count, "path is", "paths are"));
        assert_eq!(all, ["0 paths are", "1 path is", "2 paths are"]);
    }
}
