//! The beginnings of strings.

/// How much of a string was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Length in bytes.
    pub length: usize,
    /// Whether some characters did not fit.
    pub cut: bool,
}

/// Writes as many characters of UTF-16 as fit, as UTF-8. Unpaired surrogates become U+FFFD.
pub fn utf8_start(units: &[u16], into: &mut [u8]) -> Start {
    let mut length = 0;
    for character in char::decode_utf16(units.iter().copied()) {
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        let Some(place) = into.get_mut(length..length + character.len_utf8()) else {
            return Start { length, cut: true };
        };
        character.encode_utf8(place);
        length += character.len_utf8();
    }
    Start { length, cut: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        for (text, room, expect, cut) in [
            ("", 4, "", false),
            ("abcd", 4, "abcd", false),
            ("abcde", 4, "abcd", true),
            ("aé€", 6, "aé€", false),
            ("aé€", 5, "aé", true),
            ("a\u{1f600}", 5, "a\u{1f600}", false),
            ("ab\u{1f600}", 5, "ab", true),
        ] {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut bytes = vec![0; room];
            let found = utf8_start(&units, &mut bytes);
            let found = (&bytes[..found.length], found.cut);
            assert_eq!(found, (expect.as_bytes(), cut), "{text} {room}");
        }
        // Halves of characters, as strings may have them.
        let mut bytes = [0; 12];
        let found = utf8_start(&[0xdc00, 0x61, 0xd800], &mut bytes);
        assert_eq!(&bytes[..found.length], "\u{fffd}a\u{fffd}".as_bytes());
    }
}
