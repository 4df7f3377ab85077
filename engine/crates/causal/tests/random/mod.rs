//! Wichmann and Hill's generator, for simulations: not the one under test.

/// Three small congruential generators.
pub struct Random(u64, u64, u64);

#[allow(dead_code, reason = "not every test needs every draw")]
impl Random {
    /// Its own stream for each seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random(
            seed % 30_000 + 1,
            seed * 7 % 30_000 + 1,
            seed * 13 % 30_000 + 1,
        );
        // Neighbouring seeds begin alike.
        for _ in 0..20 {
            random.unit();
        }
        random
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0 * 171 % 30_269;
        self.1 = self.1 * 172 % 30_307;
        self.2 = self.2 * 170 % 30_323;
        (self.0 as f64 / 30_269.0 + self.1 as f64 / 30_307.0 + self.2 as f64 / 30_323.0).fract()
    }

    /// Mean 0, standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// From 0 to `n` - 1.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }
}
