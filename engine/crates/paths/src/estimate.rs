//! What removing the cost of summaries would gain (BOTTLENECKS §3.1, Table 3).

use crate::denominator::Denominator;
use crate::interface::{ProfileInterface, Sides};

/// What could be gained by optimising a set of summaries. An upper bound: it takes all of their cost to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Their cum together, without overlap, in the profile's unit. In a comparison what A costs more than B.
    pub removable: i64,
    /// That as a fraction of what shares are of. `None` when that is 0.
    pub of_whole: Option<f64>,
    /// By Amdahl: how much more the program would do in the same time, 0.25 being a quarter. In a comparison, than A
    /// does. `None` when all of the time would go.
    pub gain: Option<f64>,
    /// In a comparison, the paper's estimate: the removable cost as a fraction of B's total. It says what A would gain if
    /// throughput rose evenly from A's to B's, and is more than Amdahl says. `None` otherwise, and when B costs nothing.
    pub table3: Option<f64>,
}

/// What optimising these summaries could gain. What they share counts once; `shares` is what shares are of.
pub fn estimate<P: ProfileInterface>(
    profile: &P,
    summaries: &[P::Summary],
    shares: &Denominator,
) -> Estimate {
    let removable = profile.total_cum_of(summaries);
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
