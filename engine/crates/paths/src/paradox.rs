//! Values that look wrong and are not (BOTTLENECKS §2.2): they are kept, and explained.

use std::fmt;

use crate::interface::ProfileInterface;

/// What is surprising about a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paradox {
    /// The base is below zero.
    pub negative_base: bool,
    /// The cum is below zero.
    pub negative_cum: bool,
    /// The cum is below the base.
    pub cum_below_base: bool,
    /// The profile is a comparison.
    pub comparison: bool,
}

/// What is surprising about a summary's metrics. `None`: nothing.
pub fn paradox_of<P: ProfileInterface>(profile: &P, s: &P::Summary) -> Option<Paradox> {
    let (base, cum) = (profile.base_of(s), profile.cum_of(s));
    let paradox = Paradox {
        negative_base: base < 0,
        negative_cum: cum < 0,
        cum_below_base: cum < base,
        comparison: profile.sides().is_some(),
    };
    (paradox.negative_base || paradox.negative_cum || paradox.cum_below_base).then_some(paradox)
}

impl fmt::Display for Paradox {
    /// One or two sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let negative = match (self.negative_base, self.negative_cum) {
            (true, true) => Some("Base and cum are negative"),
            (true, false) => Some("The base is negative"),
            (false, true) => Some("The cum is negative"),
            (false, false) => None,
        };
        if let Some(what) = negative {
            let why = match self.comparison {
                true => "this path costs less in A than in B",
                false => "the profile itself holds negative costs",
            };
            write!(f, "{what}: {why}.")?;
        }
        if self.cum_below_base {
            if negative.is_some() {
                f.write_str(" ")?;
            }
            let why = match self.comparison {
                true => "what it calls costs less in A than in B",
                false => "what it calls has negative costs",
            };
            write!(f, "The cum is below the base: {why}.")?;
        }
        Ok(())
    }
}
