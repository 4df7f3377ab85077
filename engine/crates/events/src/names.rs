//! Patterns for names, as the command line and queries take them.

pub use fulcrum_jvm_core::filter::matches;

#[cfg(test)]
mod tests {
    #[test]
    fn names_and_patterns() {
        for (pattern, name, expect) in [
            ("main", "main", true),
            ("main", "main2", false),
            ("Pool-*-thread-1", "Pool-7-thread-1", true),
            ("*", "", true),
            ("*ä", "xä", true),
            ("a*a", "a", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("ab*bc", "abc", false),
        ] {
            assert_eq!(super::matches(pattern, name), expect, "{pattern} {name}");
        }
    }
}
