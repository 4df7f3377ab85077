//! Reads samples from a perf ring buffer (`perf_event_open(2)`, "MMAP layout").
//!
//! By hand, because `perf-event2`, which reads such rings, needs the standard library, and this runs in signal handlers.

use core::sync::atomic::{AtomicU64, Ordering};

/// The data area of a perf ring, as words; its size is a power of two. The kernel pads records to eight bytes, so no word is ever
/// split at the end of the area.
#[derive(Clone, Copy)]
pub struct Ring<'a> {
    words: &'a [AtomicU64],
}

/// One sample, taken with `PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN`.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// Instruction pointer.
    pub ip: u64,
    /// Time, nanoseconds of the event's clock.
    pub time: u64,
    ring: Ring<'a>,
    chain_at: u64,
    chain_length: u64,
}

impl Sample<'_> {
    /// The callchain, innermost first, with perf's context markers.
    pub fn chain(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.chain_length).map(|index| self.ring.word(self.chain_at + index * 8))
    }
}

const RECORD_SAMPLE: u32 = 9;
const RECORD_LOST: u32 = 2;

/// What [`Ring::read`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Samples that were read.
    pub samples: u64,
    /// Samples that the kernel had no room for.
    pub lost: u64,
}

impl<'a> Ring<'a> {
    /// `words.len()` must be a power of two.
    pub fn new(words: &'a [AtomicU64]) -> Ring<'a> {
        assert!(words.len().is_power_of_two());
        Ring { words }
    }

    fn word(&self, position: u64) -> u64 {
        self.words[(position / 8) as usize & (self.words.len() - 1)].load(Ordering::Relaxed)
    }

    /// Calls `each` with every sample between `tail` and `head` (byte positions that only grow). Skips records of other types. A
    /// record with an impossible size ends the reading, because nothing after it can be found.
    pub fn read(self, tail: u64, head: u64, mut each: impl FnMut(Sample<'a>)) -> Found {
        let mut found = Found::default();
        let mut at = tail;
        while at < head {
            let header = self.word(at);
            let (kind, size) = (header as u32, header >> 48);
            if size < 8 || size % 8 != 0 || size > head - at {
                break;
            }
            match kind {
                RECORD_SAMPLE if size >= 32 => {
                    let chain_length = self.word(at + 24).min((size - 32) / 8);
                    let (ip, time) = (self.word(at + 8), self.word(at + 16));
                    each(Sample {
                        ip,
                        time,
                        ring: self,
                        chain_at: at + 32,
                        chain_length,
                    });
                    found.samples += 1;
                }
                RECORD_LOST if size >= 24 => found.lost += self.word(at + 16),
                _ => {}
            }
            at += size;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_stats::Random;
    use std::vec::Vec;

    fn header(kind: u32, size: u64) -> u64 {
        u64::from(kind) | (size << 48)
    }

    fn sample(ip: u64, time: u64, chain: &[u64]) -> Vec<u64> {
        let mut words = std::vec![
            header(9, 32 + 8 * chain.len() as u64),
            ip,
            time,
            chain.len() as u64
        ];
        words.extend(chain);
        words
    }

    /// Writes records from byte position `tail` on, round the end of the ring.
    fn fill(ring: &[AtomicU64], tail: u64, words: &[u64]) -> u64 {
        for (index, word) in words.iter().enumerate() {
            ring[(tail as usize / 8 + index) % ring.len()].store(*word, Ordering::Relaxed);
        }
        tail + 8 * words.len() as u64
    }

    fn ring() -> Vec<AtomicU64> {
        (0..32).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn samples_are_read_round_the_end_of_the_ring() {
        for tail in (0..256).step_by(8) {
            let words = ring();
            let mut records = sample(1, 10, &[1, 2, 3]);
            records.extend([header(RECORD_LOST, 24), 0, 4]);
            records.extend([header(5, 16), 0]);
            records.extend(sample(7, 20, &[]));
            let head = fill(&words, tail, &records);
            let mut seen = Vec::new();
            let found = Ring::new(&words).read(tail, head, |sample| {
                seen.push((sample.ip, sample.time, sample.chain().collect::<Vec<_>>()));
            });
            assert_eq!(
                seen,
                [(1, 10, std::vec![1, 2, 3]), (7, 20, std::vec![])],
                "tail {tail}"
            );
            assert_eq!(
                found,
                Found {
                    samples: 2,
                    lost: 4
                }
            );
        }
    }

    #[test]
    fn damaged_records_end_the_reading_and_never_panic() {
        for size in [0, 4, 7, 9, 4096] {
            let words = ring();
            let head = fill(&words, 0, &[header(9, size), 1, 2, 3, 4]);
            assert_eq!(
                Ring::new(&words).read(0, head, |_| panic!()),
                Found::default()
            );
        }
        let mut random = Random::new(5);
        for _ in 0..20_000 {
            let words = ring();
            for word in &words {
                let small = random.below(3) > 0;
                let value = if small {
                    header(9, random.below(80))
                } else {
                    random.bits()
                };
                word.store(value, Ordering::Relaxed);
            }
            let tail = random.below(1000) * 8;
            Ring::new(&words).read(tail, tail + random.below(33) * 8, |sample| {
                assert!(sample.chain().count() <= 32);
            });
        }
    }
}
