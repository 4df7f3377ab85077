//! The profile interface (BOTTLENECKS §2.1, Fig. 3): all that the search knows of a profile.

use std::fmt;
use std::sync::Arc;

use crate::compare::spread::Spread;
use crate::profile::end::End;
use crate::profile::nearness::Nearness;

/// A profile that associates costs with paths. Names and meanings are the paper's.
///
/// A *summary* stands for all measurements on its *path*, a list of names, outermost first. Costs are in the profile's
/// unit and may be negative; a cum may be below its base (§2.2). Default implementations are written with the other methods. A
/// profile that knows a faster way overrides them.
pub trait ProfileInterface: Send + Sync {
    /// A summary. Cheap to clone.
    type Summary: Clone + Send + Sync;

    /// The summary's path, outermost name first, never empty.
    fn path_of(&self, s: &Self::Summary) -> Vec<&str>;

    /// The summaries of all paths of length 1, sorted by name.
    fn initial_summaries(&self) -> Vec<Self::Summary>;

    /// What each path of length 1 costs, sorted by name.
    fn functions(&self) -> Vec<FunctionCosts<'_>> {
        let summaries = self.initial_summaries().into_iter();
        let costs = summaries.map(|s| FunctionCosts {
            name: self.path_of(&s)[0],
            base: self.base_of(&s),
            cum: self.cum_of(&s),
            sides: self.sides_of(&s),
        });
        costs.collect()
    }

    /// The names by which the path can be extended at the top, sorted.
    fn top_extensions(&self, s: &Self::Summary) -> Vec<&str>;

    /// The names by which the path can be extended at the bottom, sorted.
    fn bottom_extensions(&self, s: &Self::Summary) -> Vec<&str>;

    /// The summary of the path with `name` added at the top.
    ///
    /// # Errors
    /// [`Refusal`], when there is no such path or the profile cannot know it.
    fn extend_top(&self, s: &Self::Summary, name: &str) -> Result<Self::Summary, Refusal>;

    /// The summary of the path with `name` added at the bottom.
    ///
    /// # Errors
    /// [`Refusal`], when there is no such path or the profile cannot know it.
    fn extend_bottom(&self, s: &Self::Summary, name: &str) -> Result<Self::Summary, Refusal>;

    /// The summary without its path's first name. `None` at length 1.
    fn trim_top(&self, s: &Self::Summary) -> Option<Self::Summary>;

    /// The summary without its path's last name. `None` at length 1.
    fn trim_bottom(&self, s: &Self::Summary) -> Option<Self::Summary>;

    /// The cost of the path itself.
    fn base_of(&self, s: &Self::Summary) -> i64;

    /// The cost of the path and everything that it calls.
    fn cum_of(&self, s: &Self::Summary) -> i64;

    /// The base of all summaries together. Shared cost counts once.
    fn total_base_of(&self, summaries: &[Self::Summary]) -> i64;

    /// The cum of all summaries together. Shared cost counts once.
    fn total_cum_of(&self, summaries: &[Self::Summary]) -> i64;

    /// The cost of the whole profile: the denominator of shares.
    fn total(&self) -> i64 {
        self.total_base_of(&self.initial_summaries())
    }

    /// Both sides of a comparison's total. `None` if the profile is not a comparison.
    fn sides(&self) -> Option<Sides> {
        None
    }

    /// Both sides of a summary's base and cum. `None` if the profile is not a comparison.
    fn sides_of(&self, _: &Self::Summary) -> Option<SummarySides> {
        None
    }

    /// How certain a summary's base and cum are. `None` unless each side of a comparison has several inputs.
    fn spread_of(&self, _: &Self::Summary) -> Option<SummarySpread> {
        None
    }

    /// Why a summary has no extensions although the program may have made further calls. `None` if it has all of them.
    fn limit_of(&self, _: &Self::Summary) -> Option<Refusal> {
        None
    }

    /// The summary of a path.
    ///
    /// # Errors
    /// [`Refusal`], when there is no such path or the profile cannot know it.
    fn summary_of(&self, path: &[&str]) -> Result<Self::Summary, Refusal> {
        let absent = || Refusal::absent(path);
        let (first, rest) = path.split_first().ok_or_else(absent)?;
        let mut initial = self.initial_summaries().into_iter();
        let s = initial.find(|s| self.path_of(s) == [*first]);
        rest.iter().try_fold(s.ok_or_else(absent)?, |s, name| {
            self.extend_bottom(&s, name)
        })
    }

    /// The summaries of all [`top_extensions`](ProfileInterface::top_extensions), in their order.
    fn top_summaries(&self, s: &Self::Summary) -> Vec<Self::Summary> {
        let names = self.top_extensions(s).into_iter();
        names
            .filter_map(|name| self.extend_top(s, name).ok())
            .collect()
    }

    /// The summaries of all [`bottom_extensions`](ProfileInterface::bottom_extensions), in their order.
    fn bottom_summaries(&self, s: &Self::Summary) -> Vec<Self::Summary> {
        let names = self.bottom_extensions(s).into_iter();
        names
            .filter_map(|name| self.extend_bottom(s, name).ok())
            .collect()
    }

    /// All [`top_summaries`](ProfileInterface::top_summaries) or
    /// [`bottom_summaries`](ProfileInterface::bottom_summaries), for callers that need the cost of each but look further at few.
    fn costed_summaries(&self, s: &Self::Summary, end: End) -> Vec<Self::Summary> {
        match end {
            End::Top => self.top_summaries(s),
            End::Bottom => self.bottom_summaries(s),
        }
    }

    /// The [`costed_summaries`](ProfileInterface::costed_summaries) at the top and at the bottom.
    fn costed_at_both_ends(&self, s: &Self::Summary) -> [Vec<Self::Summary>; 2] {
        [End::Top, End::Bottom].map(|end| self.costed_summaries(s, end))
    }

    /// Whether the path occurs so often that a second thread, for one of its ends, is worth starting.
    fn is_frequent(&self, _s: &Self::Summary) -> bool {
        false
    }

    /// Running totals: [`total_cum_of`](ProfileInterface::total_cum_of) the first summary, the first two, and so on.
    fn running_total_cum_of(&self, summaries: &[Self::Summary]) -> Vec<i64> {
        (1..=summaries.len())
            .map(|n| self.total_cum_of(&summaries[..n]))
            .collect()
    }

    /// The running totals of all extensions of `s` at one end, in any order.
    fn running_total_cum_of_extensions(
        &self,
        _s: &Self::Summary,
        _end: End,
        extensions: &[Self::Summary],
    ) -> Vec<i64> {
        self.running_total_cum_of(extensions)
    }

    /// Prepares summaries for computing repeatedly what others share with them. `None` if preparing does not pay; then
    /// [`base_ovl`] and [`cum_ovl`] compute it each time.
    fn prepare(&self, _: &[Self::Summary]) -> Option<Arc<dyn PreparedSummaries<Self::Summary>>> {
        None
    }

    /// How close the profile's cost is to paths, for the automatic search. `fade` is between 0 and 1.
    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<Self::Summary> + 'a> {
        Box::new(ByTotals::new(self, fade))
    }
}

/// The cost that the summary's base shares with the bases of `others` (§2.1).
pub fn base_ovl<P: ProfileInterface>(profile: &P, s: &P::Summary, others: &[P::Summary]) -> i64 {
    profile.base_of(s) + profile.total_base_of(others) - profile.total_base_of(&with(s, others))
}

/// The cost that the summary's cum shares with the cums of `others`: the paper's `cum_ovl` (§2.1).
pub fn cum_ovl<P: ProfileInterface>(profile: &P, s: &P::Summary, others: &[P::Summary]) -> i64 {
    profile.cum_of(s) + profile.total_cum_of(others) - profile.total_cum_of(&with(s, others))
}

fn with<S: Clone>(s: &S, others: &[S]) -> Vec<S> {
    let mut all = others.to_vec();
    all.push(s.clone());
    all
}

/// Several summaries of one profile, prepared for computing the overlap of others with them: an analyst sees it at each step.
pub trait PreparedSummaries<S>: fmt::Debug + Send + Sync {
    /// The cost that `s` shares with them: [`base_ovl`] and [`cum_ovl`].
    fn overlap(&self, s: &S) -> Overlap;
}

/// The cost that a summary shares with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Part of its base, in the profile's unit.
    pub base: i64,
    /// Part of its cum, in the profile's unit.
    pub cum: i64,
}

/// A cost on both sides of a comparison. With several inputs, the means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// In A.
    pub a: i64,
    /// In B, the base of the comparison.
    pub b: i64,
}

impl Sides {
    /// A − B: positive when A costs more.
    pub fn delta(self) -> i64 {
        self.a - self.b
    }
}

/// What a function costs, as the path of length 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCosts<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its own cost.
    pub base: i64,
    /// Its cost with everything that it calls.
    pub cum: i64,
    /// Both sides of these. `None` if the profile is not a comparison.
    pub sides: Option<SummarySides>,
}

/// A summary's metrics on both sides of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummarySides {
    /// The base.
    pub base: Sides,
    /// The cum.
    pub cum: Sides,
}

/// How certain a summary's metrics are in a comparison with several inputs on each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummarySpread {
    /// The spread of the base.
    pub base: Spread,
    /// The spread of the cum.
    pub cum: Spread,
}

/// Why there is no summary for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The path does not occur.
    Absent {
        /// The path, outermost name first.
        path: Vec<String>,
    },
    /// The profile does not know paths this long.
    TooLong {
        /// The number of names in the path.
        length: usize,
        /// The length of the longest paths that the profile knows.
        longest: usize,
        /// The reason, in whole sentences.
        why: &'static str,
    },
}

impl Refusal {
    pub(crate) fn absent(path: &[&str]) -> Self {
        Refusal::Absent {
            path: path.iter().map(|&name| name.into()).collect(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Absent { path } => {
                write!(f, "[{}] does not occur in this profile", path.join("; "))
            }
            Refusal::TooLong {
                length,
                longest,
                why,
            } => write!(
                f,
                "this profile has paths of up to {longest} names, not of {length}: {why}"
            ),
        }
    }
}

impl std::error::Error for Refusal {}

/// A nearness for any profile: own cost counts fully, all other cost is one call away.
struct ByTotals<'a, P: ProfileInterface + ?Sized> {
    profile: &'a P,
    fade: f64,
    taken: Vec<P::Summary>,
}

impl<'a, P: ProfileInterface + ?Sized> ByTotals<'a, P> {
    fn new(profile: &'a P, fade: f64) -> Self {
        ByTotals {
            profile,
            fade,
            taken: Vec::new(),
        }
    }
}

impl<P: ProfileInterface + ?Sized> ByTotals<'_, P> {
    fn with(&self, s: &P::Summary) -> Vec<P::Summary> {
        let mut with = self.taken.clone();
        with.push(s.clone());
        with
    }

    fn left_of_base(&self, s: &P::Summary) -> i64 {
        self.profile.total_base_of(&self.with(s)) - self.profile.total_base_of(&self.taken)
    }
}

impl<P: ProfileInterface + ?Sized> Nearness<P::Summary> for ByTotals<'_, P> {
    fn of(&self, s: &P::Summary) -> f64 {
        let base = self.left_of_base(s);
        base as f64 + self.fade * (self.left(s) - base) as f64
    }

    fn left(&self, s: &P::Summary) -> i64 {
        self.profile.total_cum_of(&self.with(s)) - self.profile.total_cum_of(&self.taken)
    }

    fn left_at_top(&self, s: &P::Summary) -> i64 {
        let rest = self.profile.trim_top(s);
        rest.map_or(0, |rest| self.left_of_base(s) - self.left_of_base(&rest))
    }

    fn take(&mut self, s: &P::Summary) {
        self.taken.push(s.clone());
    }

    fn set_fade(&mut self, fade: f64) {
        self.fade = fade;
    }
}
