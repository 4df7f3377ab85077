//! The random generator: SplitMix64 (Steele, Lea and Flood 2014), the same numbers for the same seed on every machine.
//!
//! Recorded behaviour depends on its streams: a session's experiments, the bootstrap's replicates, synthetic profiles.

use core::f64::consts::TAU;

/// By how much the state grows each step: 2⁶⁴ divided by the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed. Any seed will do, 0 and neighbours of another one included.
    pub const fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The stream of these names (FNV-1a).
    pub fn of(names: &[&[u8]]) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for &byte in names.iter().flat_map(|name| name.iter().chain(b"\0")) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Random(hash)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Uniform in `0..n`, but for one part in 2⁶⁴ / `n`; 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A random index of `n` items; 0 when there is none.
    #[inline]
    pub fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// Uniform from 0 to below 1, a multiple of 2⁻⁵³.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// A standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        // Never 0, whose logarithm is infinite.
        let unit = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let (u, v) = (unit(self.bits()), unit(self.bits()));
        libm::sqrt(-2.0 * libm::log(u)) * libm::cos(TAU * v)
    }

    /// Brings the items into an order of which every one is equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for n in (1..items.len()).rev() {
            items.swap(n, self.index(n + 1));
        }
    }
}

/// Random bits as a number from 0 to below 1, a multiple of 2⁻⁵³.
#[inline]
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// The generator's output for a state: a one-to-one function whose values cannot be told from random ones. It also makes
/// hashes of numbers.
#[inline]
pub const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chi_squared, normal};

    /// The first numbers of Vigna's `splitmix64.c`.
    #[test]
    fn the_streams_are_the_published_ones() {
        let mut random = Random::new(1_234_567);
        let found = [(); 5].map(|()| random.bits());
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(found, published);
        let mut random = Random::new(0);
        let found = [(); 4].map(|()| random.bits());
        let published = [
            0xe220_a839_7b1d_cdaf,
            0x6e78_9e6a_a1b9_65f4,
            0x06c4_5d18_8009_454f,
            0xf88b_b8a8_724c_81ec,
        ];
        assert_eq!(found, published);
    }

    /// FNV-1a of `a\0` is 0x089be207b544f1e4, and SplitMix64 starts there.
    #[test]
    fn names_are_a_seed() {
        assert_eq!(
            Random::of(&[b"a"]).bits(),
            Random::new(0x089b_e207_b544_f1e4).bits()
        );
        let mut other = Random::of(&[b"a", b"b"]);
        assert_ne!(other.bits(), Random::of(&[b"ab"]).bits());
    }

    #[test]
    fn what_is_drawn_is_uniform_or_normal() {
        const DRAWS: usize = 100_000;
        let mut random = Random::new(1);
        let mut below = [0_u32; 10];
        let mut units = [0_u32; 10];
        let mut normals = [0_u32; 10];
        for _ in 0..DRAWS {
            below[random.below(10) as usize] += 1;
            units[(random.unit() * 10.0) as usize] += 1;
            // Each tenth of the normal distribution is as likely as any other.
            normals[(normal::cumulative(random.normal()) * 10.0) as usize] += 1;
        }
        let expected = DRAWS as f64 / 10.0;
        for counts in [below, units, normals] {
            let far: f64 = counts
                .iter()
                .map(|&it| (f64::from(it) - expected) * (f64::from(it) - expected) / expected)
                .sum();
            assert!(far < chi_squared::quantile(0.999, 9.0), "{counts:?}");
        }
        assert_eq!(random.below(0), 0);
        assert_eq!(random.index(1), 0);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut random = Random::new(3);
        let mut seen = [0_u32; 27];
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            seen[items[0] * 9 + items[1] * 3 + items[2]] += 1;
        }
        let orders: std::vec::Vec<u32> = seen.into_iter().filter(|it| *it > 0).collect();
        assert_eq!(orders.len(), 6);
        // 1000 are expected of each; the standard deviation is 29.
        assert!(
            orders.iter().all(|it| (880..1120).contains(it)),
            "{orders:?}"
        );
    }
}
