//! What shares are parts of.

use crate::interface::ProfileInterface;

/// The denominator of shares.
///
/// The paper compares profiles of which one costs clearly more, and takes the difference of their totals. Runs of the same
/// length, and sides scaled to one total, differ in what they spend time on and hardly in how much: shares of that
/// difference would say nothing, and there would be nothing to cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denominator {
    /// In the profile's unit. Negative where A costs less.
    pub cost: i64,
    /// What that is.
    pub of: DenominatorKind,
}

/// What a [`Denominator`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenominatorKind {
    /// The profile's total.
    Total,
    /// The difference of the totals of a comparison.
    Difference,
    /// What became costlier in a comparison, by functions' own cost, where more than half as much became cheaper. With several
    /// runs on each side, only what is told from noise.
    Costlier,
}

impl DenominatorKind {
    /// As a sentence calls it.
    pub fn words(self) -> &'static str {
        match self {
            DenominatorKind::Total => "the total",
            DenominatorKind::Difference => "the difference",
            DenominatorKind::Costlier => "what became costlier",
        }
    }
}

impl Denominator {
    /// The profile's. Asks for the base of every name.
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

    /// A cost as a fraction of it; 0 when it is 0.
    pub fn part(&self, cost: i64) -> f64 {
        match self.cost {
            0 => 0.0,
            whole => cost as f64 / whole as f64,
        }
    }
}

/// What became costlier, when more than half as much became cheaper. Of sides that look even all may be noise, which is left
/// out of it.
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

/// Whether a difference between several runs on each side may be noise.
pub(crate) fn is_noise<P: ProfileInterface>(profile: &P, s: &P::Summary, metric: Metric) -> bool {
    let spread = profile.spread_of(s).map(|it| match metric {
        Metric::Base => it.base,
        Metric::Cum => it.cum,
    });
    spread.is_some_and(|it| !it.significant())
}
