//! Suggesters: where a search starts (BOTTLENECKS §2.3).

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use crate::profile::interface::ProfileInterface;

/// A way to rank starting summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suggester {
    /// Paths of length 1 by cum, for a search from the top.
    #[default]
    HighCum,
    /// Paths of length 1 by base, for a search from the bottom.
    HighBase,
}

impl Suggester {
    /// Every suggester.
    pub const ALL: [Suggester; 2] = [Suggester::HighCum, Suggester::HighBase];

    /// The paper's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Suggester::HighCum => "HighCum",
            Suggester::HighBase => "HighBase",
        }
    }

    /// The starting summaries, by descending absolute value, because costs in comparisons may be negative. Ties are in the order of
    /// names.
    pub fn suggest<P: ProfileInterface>(self, profile: &P) -> Vec<P::Summary> {
        let metric = |s: &P::Summary| match self {
            Suggester::HighCum => profile.cum_of(s),
            Suggester::HighBase => profile.base_of(s),
        };
        ranked(profile.initial_summaries(), metric)
    }
}

impl fmt::Display for Suggester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that no suggester has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotASuggester(String);

impl fmt::Display for NotASuggester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = Suggester::ALL;
        write!(f, "expected {first} or {second}, got {:?}", self.0)
    }
}

impl std::error::Error for NotASuggester {}

impl FromStr for Suggester {
    type Err = NotASuggester;

    /// Ignores case.
    fn from_str(text: &str) -> Result<Self, NotASuggester> {
        let mut all = Suggester::ALL.into_iter();
        all.find(|it| it.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| NotASuggester(text.into()))
    }
}

/// Sorts by descending absolute value of the metric. The sort is stable.
pub(crate) fn ranked<S>(summaries: Vec<S>, metric: impl Fn(&S) -> i64) -> Vec<S> {
    let mut all = summaries;
    all.sort_by_cached_key(|s| Reverse(metric(s).unsigned_abs()));
    all
}
