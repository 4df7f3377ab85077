//! Hash maps keyed by addresses, locks and threads, which no attacker chooses. Each instruction looks up several.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixed>>;
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<Mixed>>;

/// Mixes numbers by multiplying them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// The upper half is mixed well. The lowest bits are not, for even numbers.
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_differ_in_their_lowest_and_their_highest_bits() {
        let hashes = |of: fn(u64) -> u64| -> HashSet<u64> {
            let all = (0..128).map(|n| {
                let mut hasher = Mixed::default();
                hasher.write_u64(0x7f00_0000_0000 + 4096 * n);
                of(hasher.finish())
            });
            all.collect()
        };
        assert!(hashes(|it| it % 128).len() > 64);
        assert!(hashes(|it| it >> 57).len() > 64);
    }
}
