//! The rows of the legacy text formats: counts, sizes and addresses.

use super::addresses::hexadecimal;
use crate::decode::fault::{Fault, quote};

/// The numbers of objects and their bytes: those in use, and all that were ever allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) in_use: (i64, i64),
    pub(crate) allocated: (i64, i64),
}

impl Counts {
    /// Parses `3: 96 [7: 224]` at the beginning of a text. Returns the rest too.
    pub(crate) fn parse(text: &str) -> Option<(Self, &str)> {
        let (in_use, rest) = pair(text, '[')?;
        let (allocated, rest) = pair(rest, ']')?;
        Some((Counts { in_use, allocated }, rest))
    }

    /// Estimates the real numbers from the sampled ones. There is one sample in `rate` bytes on average, so an object is
    /// sampled with the probability 1 − e^(−bytes / rate).
    pub(crate) fn estimate(self, rate: i64) -> Self {
        Counts {
            in_use: estimate(self.in_use, rate),
            allocated: estimate(self.allocated, rate),
        }
    }

    /// Whether there are bytes without objects.
    pub(crate) fn is_impossible(self) -> bool {
        [self.in_use, self.allocated]
            .iter()
            .any(|&(count, bytes)| count == 0 && bytes != 0)
    }

    /// Whether no number is negative.
    pub(crate) fn is_positive(self) -> bool {
        let (used, all) = (self.in_use, self.allocated);
        [used.0, used.1, all.0, all.1].iter().all(|&it| it >= 0)
    }

    /// Whether the allocated numbers differ from those in use.
    pub(crate) fn has_allocated(self) -> bool {
        let differs = |all: i64, used: i64| all != used && all != 0;
        differs(self.allocated.0, self.in_use.0) || differs(self.allocated.1, self.in_use.1)
    }
}

/// The estimate, rounded down as in pprof and jeprof.
fn estimate((count, bytes): (i64, i64), rate: i64) -> (i64, i64) {
    if count == 0 || bytes == 0 {
        return (0, 0);
    }
    if rate <= 1 {
        return (count, bytes);
    }
    let average = bytes as f64 / count as f64;
    let scale = 1.0 / (1.0 - (-average / rate as f64).exp());
    ((count as f64 * scale) as i64, (bytes as f64 * scale) as i64)
}

/// Parses `3: 96 [`, where `end` is the bracket.
fn pair(text: &str, end: char) -> Option<((i64, i64), &str)> {
    let (count, rest) = text.split_once(':')?;
    let (bytes, rest) = rest.split_once(end)?;
    let number = |text: &str| text.trim().parse::<i64>().ok();
    Some(((number(count)?, number(bytes)?), rest))
}

/// Parses the addresses of a stack, innermost first. Each is moved back by one byte, into its call.
pub(crate) fn chain(text: &str) -> Result<Vec<u64>, Fault> {
    let words = text.split_ascii_whitespace();
    words
        .map(|word| {
            let number = word.starts_with("0x").then(|| hexadecimal(word)).flatten();
            let number = number.ok_or_else(|| {
                Fault::whole(format!(
                    "expected an address as 0x42ecc3, got {}",
                    quote(word)
                ))
            });
            number.map(|it| it.wrapping_sub(1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_for_what_was_not_sampled() {
        let (counts, rest) = Counts::parse("  1:  524288 [ 3: 1572864] @ 0x4").expect("counts");
        assert_eq!(
            (counts.in_use, counts.allocated),
            ((1, 524_288), (3, 1_572_864))
        );
        assert_eq!(rest, " @ 0x4");
        // 1 / (1 - 1/e) = 1.58.
        let all = counts.estimate(524_288);
        assert_eq!((all.in_use, all.allocated), ((1, 829_411), (4, 2_488_234)));
        assert_eq!(counts.estimate(1), counts);
        assert_eq!(Counts::parse("1: x [3: 4] @"), None);
    }

    #[test]
    fn addresses_are_inside_of_their_calls() {
        assert_eq!(chain(" 0x10 0x0 "), Ok(vec![15, u64::MAX]));
        let fault = chain("0x10 main").expect_err("a name");
        assert_eq!(
            fault.problem,
            "expected an address as 0x42ecc3, got \"main\""
        );
    }
}
