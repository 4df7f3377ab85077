//! Hashes of texts: unpredictable for whoever writes the file, and faster than the standard library's.

use std::hash::{BuildHasher as _, RandomState};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A random seed, so that no file can be written whose names all collide.
pub fn seed() -> u64 {
    // The standard library's own seed is random.
    RandomState::new().hash_one(FACTOR)
}

/// Both halves of a product of 128 bits, folded, so that every bit affects all others.
pub fn fold(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of a name, eight bytes at a time.
pub fn hash(name: &[u8], seed: u64) -> u64 {
    let length = name.len();
    let mut state = seed;
    let mut add = |word: u64| state = fold(state ^ word);
    // Bytes may be taken twice: the length says which.
    match name {
        [.., _, _, _, _, _, _, _, _] => {
            let (words, rest) = name.as_chunks::<8>();
            words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
            if !rest.is_empty() {
                let last = name.last_chunk().expect("eight bytes or more");
                add(u64::from_le_bytes(*last));
            }
        }
        [a, b, c, d, ..] => {
            let first = u32::from_le_bytes([*a, *b, *c, *d]);
            let last = name.last_chunk().expect("four bytes or more");
            add(u64::from(first) << 32 | u64::from(u32::from_le_bytes(*last)));
        }
        [first, .., last] => add(u64::from_le_bytes([
            *first,
            name[length / 2],
            *last,
            0,
            0,
            0,
            0,
            0,
        ])),
        [one] => add(u64::from(*one)),
        [] => {}
    }
    // Not in the first step, where it could undo a difference of bytes.
    add(seed.rotate_left(32) ^ length as u64);
    state
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn names() -> Vec<String> {
        let mut names: Vec<String> = (0..20_000).map(|n| format!("a.b.Class{n}.run")).collect();
        names.extend((0..40).map(|n| "\0".repeat(n)));
        // One byte differs.
        for length in 1..20 {
            names.extend((0..length).map(|at| "x".repeat(at) + "y" + &"x".repeat(length - at - 1)));
        }
        names
    }

    #[test]
    fn names_that_are_nearly_alike_do_not_fall_together() {
        let hashes = names().into_iter().map(|name| hash(name.as_bytes(), 7));
        let hashes: Vec<u64> = hashes.collect();
        let all: HashSet<u64> = hashes.iter().copied().collect();
        assert_eq!(all.len(), hashes.len());
        for shift in [0, 8, 32, 56] {
            let mut counts = [0; 256];
            let bytes = hashes.iter().map(|it| (it >> shift) as u8);
            bytes.for_each(|byte| counts[usize::from(byte)] += 1);
            assert!(counts.iter().all(|&count| count < 160), "{counts:?}");
        }
    }
}
