//! The denominator of shares.

use crate::profile::interface::ProfileInterface;

/// The denominator of shares.
///
/// The paper compares profiles of which one costs clearly more, and uses the difference of their totals. Runs of equal length, and
/// sides scaled to one total, differ in what they spend time on, but hardly in how much. Shares of that small difference would be
/// meaningless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denominator {
    /// In the profile's unit. Negative where A costs less.
    pub cost: i64,
    /// What the cost is.
    pub of: DenominatorKind,
}

/// What a [`Denominator`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenominatorKind {
    /// The profile's total.
    Total,
    /// The difference of the totals of a comparison.
    Difference,
    /// What became costlier in a comparison, by functions' own cost, if more than half as much became cheaper. With several
    /// inputs on each side, only significant differences.
    Costlier,
}

impl DenominatorKind {
    /// A phrase for it within a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            DenominatorKind::Total => "the total",
            DenominatorKind::Difference => "the difference",
            DenominatorKind::Costlier => "what became costlier",
        }
    }
}

impl Denominator {
    /// The denominator of a profile. Computes the base of every name.
    pub fn of<P: ProfileInterface>(profile: &P) -> Self {
        let (cost, of) = match profile.sides() {
            None => (profile.total(), DenominatorKind::Total),
            Some(sides) => match costlier(profile) {
                Some(cost) => (cost, DenominatorKind::Costlier),
                None => (sides.delta(), DenominatorKind::Difference),
            },
        };
        Denominator { cost, of }
    }

    /// A cost as a fraction of the denominator; 0 when that is 0.
    pub fn part(&self, cost: i64) -> f64 {
        match self.cost {
            0 => 0.0,
            whole => cost as f64 / whole as f64,
        }
    }
}

/// What became costlier, if more than half as much became cheaper. When the sides are nearly even, much of it may be noise, so
/// only significant differences count.
fn costlier<P: ProfileInterface>(profile: &P) -> Option<i64> {
    let (mut more, mut less, mut certain) = (0_i64, 0_i64, 0_i64);
    for s in profile.initial_summaries() {
        let base = profile.base_of(&s);
        more = more.saturating_add(base.max(0));
        less = less.saturating_sub(base.min(0));
        if base > 0 && !is_noise(profile, &s, Metric::Base) {
            certain = certain.saturating_add(base);
        }
    }
    (more.min(less) > more.max(less) / 2).then_some(certain)
}

/// One of a summary's costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Base,
    Cum,
}

/// Whether a difference between several inputs on each side may be noise.
pub(crate) fn is_noise<P: ProfileInterface>(profile: &P, s: &P::Summary, metric: Metric) -> bool {
    let spread = profile.spread_of(s).map(|it| match metric {
        Metric::Base => it.base,
        Metric::Cum => it.cum,
    });
    spread.is_some_and(|it| !it.significant())
}
