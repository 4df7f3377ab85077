//! A fingerprint of a file's bytes, by which a profile is recognised. It is no protection against forgery.

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// The fingerprint of some bytes, 32 hexadecimal digits. Reads eight bytes at a time.
pub fn digest(bytes: &[u8]) -> String {
    let mut digest = Digest::default();
    digest.add(bytes);
    digest.finish()
}

/// Computes the [`digest`] of bytes that arrive piece by piece.
#[derive(Clone, Debug)]
pub struct Digest {
    a: u64,
    b: u64,
    length: u64,
    /// The bytes that do not fill a word yet, and their number.
    rest: ([u8; 8], usize),
}

impl Default for Digest {
    fn default() -> Self {
        Digest {
            a: FIRST,
            b: SECOND,
            length: 0,
            rest: ([0; 8], 0),
        }
    }
}

impl Digest {
    /// Adds the bytes that come next.
    pub fn add(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let (mut word, held) = self.rest;
        if held > 0 {
            let taken = bytes.len().min(8 - held);
            word[held..held + taken].copy_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if held + taken < 8 {
                self.rest = (word, held + taken);
                return;
            }
            self.word(word);
        }
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(*word));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.rest = (last, rest.len());
    }

    /// The digest of all bytes.
    pub fn finish(mut self) -> String {
        self.word(self.rest.0);
        self.word(self.length.to_le_bytes());
        format!("{:016x}{:016x}", self.a, self.b)
    }

    fn word(&mut self, word: [u8; 8]) {
        let word = u64::from_le_bytes(word);
        self.a = mixed(self.a ^ word, FIRST);
        self.b = mixed(self.b.wrapping_add(word), SECOND);
    }
}

fn mixed(word: u64, factor: u64) -> u64 {
    let word = word.wrapping_mul(factor);
    (word ^ (word >> 29)).wrapping_mul(factor).rotate_left(31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Digest, digest};

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

    #[test]
    fn pieces_have_the_digest_of_the_whole() {
        let bytes: Vec<u8> = (0..100).collect();
        for size in [1, 3, 8, 13, 100] {
            let mut all = Digest::default();
            bytes.chunks(size).for_each(|piece| all.add(piece));
            all.add(&[]);
            assert_eq!(all.finish(), digest(&bytes), "pieces of {size}");
        }
    }
}
