//! Explains values that look wrong but are correct (BOTTLENECKS §2.2).

use std::fmt;

use crate::profile::denominator::{Denominator, DenominatorKind};
use crate::profile::interface::ProfileInterface;
use crate::profile::unusual_shares::{exceeds, opposes, why_more};

/// What is surprising about a summary's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paradox {
    /// Whether the base is below zero.
    pub negative_base: bool,
    /// Whether the cum is below zero.
    pub negative_cum: bool,
    /// Whether the cum is below the base.
    pub cum_below_base: bool,
    /// Whether the profile is a comparison.
    pub comparison: bool,
    /// If base or cum are more than the denominator: what that is, and why they are.
    pub more_than_whole: Option<(DenominatorKind, &'static str)>,
    /// Whether the cum of a path with several functions is more than that of its last function alone.
    pub more_than_last: bool,
    /// What is above zero while the denominator is below, so that its share is negative: the base, the cum, or both.
    pub against_whole: Option<&'static str>,
}

/// What is surprising about a summary's metrics and their shares of `whole`. `None` if nothing is.
pub fn paradox_of<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    whole: &Denominator,
) -> Option<Paradox> {
    let (base, cum) = (profile.base_of(s), profile.cum_of(s));
    let more = exceeds(whole, base) || exceeds(whole, cum);
    let against = |cost: i64| cost > 0 && opposes(whole, cost);
    let paradox = Paradox {
        negative_base: base < 0,
        negative_cum: cum < 0,
        cum_below_base: cum < base,
        comparison: profile.sides().is_some(),
        more_than_whole: more.then(|| (whole.of, why_more(profile, whole))),
        more_than_last: more_than_last(profile, s, cum),
        against_whole: match (against(base), against(cum)) {
            (true, true) => Some("base and cum"),
            (true, false) => Some("the base"),
            (false, true) => Some("the cum"),
            (false, false) => None,
        },
    };
    let nothing = Paradox {
        negative_base: false,
        negative_cum: false,
        cum_below_base: false,
        comparison: paradox.comparison,
        more_than_whole: None,
        more_than_last: false,
        against_whole: None,
    };
    (paradox != nothing).then_some(paradox)
}

/// Whether a path with several functions costs more than its last function, wherever that is called. Never in a comparison, where
/// other callers that became cheaper explain it.
fn more_than_last<P: ProfileInterface>(profile: &P, s: &P::Summary, cum: i64) -> bool {
    let path = profile.path_of(s);
    let [_, .., last] = path.as_slice() else {
        return false;
    };
    let alone = || profile.summary_of(&[*last]);
    profile.sides().is_none() && alone().is_ok_and(|alone| profile.cum_of(&alone) < cum)
}

impl fmt::Display for Paradox {
    /// Writes one or more sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sentences = Vec::new();
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
            sentences.push(format!("{what}: {why}."));
        }
        if self.cum_below_base {
            let why = match self.comparison {
                true => "what it calls costs less in A than in B",
                false => "what it calls has negative costs",
            };
            sentences.push(format!("The cum is below the base: {why}."));
        }
        if let Some((of, why)) = self.more_than_whole {
            let of = of.phrase();
            sentences.push(format!("It is more than 100 % of {of}: {why}."));
        }
        if self.more_than_last {
            sentences.push(
                "The cum is more than that of its last function alone: the base of a path counts the own cost of every \
                 function on it, also of those before the last."
                    .into(),
            );
        }
        if let Some(what) = self.against_whole {
            let why = match self.comparison {
                true => "it costs more in A than in B, and all together cost less",
                false => "the costs of all together are negative",
            };
            sentences.push(format!("The share of {what} is below 0 %: {why}."));
        }
        f.write_str(&sentences.join(" "))
    }
}
