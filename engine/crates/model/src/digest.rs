//! A fingerprint of a file's bytes, to know a profile again. No protection against forgery.

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// 32 hexadecimal digits. Reads eight bytes at a time.
pub fn digest(bytes: &[u8]) -> String {
    let (mut a, mut b) = (FIRST, SECOND);
    let mut add = |word: u64| {
        a = mixed(a ^ word, FIRST);
        b = mixed(b.wrapping_add(word), SECOND);
    };
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(u64::from_le_bytes(last));
    add(bytes.len() as u64);
    format!("{a:016x}{b:016x}")
}

fn mixed(word: u64, factor: u64) -> u64 {
    let word = word.wrapping_mul(factor);
    (word ^ (word >> 29)).wrapping_mul(factor).rotate_left(31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::digest;

    #[test]
    fn every_changed_byte_and_length_changes_it() {
        let bytes: Vec<u8> = (0..40).collect();
        let mut all = HashSet::from([digest(&bytes)]);
        for n in 0..bytes.len() {
            for flip in [1, 0x80] {
                let mut other = bytes.clone();
                other[n] ^= flip;
                assert!(all.insert(digest(&other)), "byte {n}");
            }
            assert!(all.insert(digest(&bytes[..n])), "{n} bytes");
        }
        // Zeros at the end count, too.
        assert_ne!(digest(&[0; 8]), digest(&[0; 9]));
        // It is in files: it must not change.
        assert_eq!(digest(b""), "d1ff12e429632f6fba39a00b7c0a0348");
    }
}
