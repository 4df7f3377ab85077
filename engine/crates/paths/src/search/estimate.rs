//! Estimates what removing the cost of summaries would gain (BOTTLENECKS §3.1, Table 3).

use crate::profile::denominator::Denominator;
use crate::profile::interface::{ProfileInterface, Sides};

/// What could be gained by optimising a set of summaries. An upper bound, because it assumes that all of their cost goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Their cum together, in the profile's unit. In a comparison, how much more A costs than B.
    pub removable: i64,
    /// The same as a fraction of the denominator of shares. `None` when that is 0.
    pub of_whole: Option<f64>,
    /// How much more the program (in a comparison, A) would do in the same time, by Amdahl's law; 0.25 is a quarter more. `None` when
    /// all of the time would go.
    pub gain: Option<f64>,
    /// In a comparison, the paper's estimate: the removable cost as a fraction of B's total. It is what A would gain if throughput
    /// rose evenly from A's to B's, and is greater than by Amdahl's law. `None` without a comparison, and when B costs nothing.
    pub table3: Option<f64>,
}

/// Estimates what optimising these summaries could gain. Shared cost counts once. `shares` is the denominator of shares.
pub fn estimate<P: ProfileInterface>(
    profile: &P,
    summaries: &[P::Summary],
    shares: &Denominator,
) -> Estimate {
    estimate_of(profile, profile.total_cum_of(summaries), shares)
}

/// Estimates what the removal of a cost could gain.
pub(crate) fn estimate_of<P: ProfileInterface>(
    profile: &P,
    removable: i64,
    shares: &Denominator,
) -> Estimate {
    let sides = profile.sides();
    let whole = sides.map_or_else(|| profile.total(), |it| it.a);
    let of = |whole: i64| (whole != 0).then(|| removable as f64 / whole as f64);
    Estimate {
        removable,
        of_whole: of(shares.cost),
        gain: of(whole)
            .filter(|&it| it < 1.0)
            .map(|it| 1.0 / (1.0 - it) - 1.0),
        table3: sides.and_then(|Sides { b, .. }| of(b)),
    }
}
