//! The profile interface (BOTTLENECKS §2.1, Fig. 3): what the search knows of a profile.

use std::fmt;
use std::sync::Arc;

use crate::end::End;
use crate::nearness::Nearness;
use crate::spread::Spread;

/// A profile that associates costs with paths. Names and meanings are the paper's.
///
/// A *summary* stands for all measurements on its *path*, a list of names, outermost first. Costs are in the profile's
/// unit and may be negative; a cum may be below its base (§2.2). What is implemented by default follows from the rest, and
/// is overridden where a kind of profile knows a faster way.
pub trait ProfileInterface: Send + Sync {
    /// A summary. Cheap to clone.
    type Summary: Clone + Send + Sync;

    /// The summary's path, outermost name first, never empty.
    fn path_of(&self, s: &Self::Summary) -> Vec<&str>;

    /// The summaries of all paths of length 1, sorted by name.
    fn initial_summaries(&self) -> Vec<Self::Summary>;

    /// The names that can stand before the path, sorted.
    fn top_extensions(&self, s: &Self::Summary) -> Vec<&str>;

    /// The names that can stand behind the path, sorted.
    fn bottom_extensions(&self, s: &Self::Summary) -> Vec<&str>;

    /// The summary whose path has `name` before it.
    ///
    /// # Errors
    /// [`Refusal`], when there is no such path or the profile cannot know it.
    fn extend_top(&self, s: &Self::Summary, name: &str) -> Result<Self::Summary, Refusal>;

    /// The summary whose path has `name` behind it.
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

    /// The base of all summaries together; what several share counts once.
    fn total_base_of(&self, summaries: &[Self::Summary]) -> i64;

    /// The cum of all summaries together; what several share counts once.
    fn total_cum_of(&self, summaries: &[Self::Summary]) -> i64;

    /// The cost of the whole profile: the denominator of shares.
    fn total(&self) -> i64 {
        self.total_base_of(&self.initial_summaries())
    }

    /// Both sides of a comparison's total. `None`: this is not a comparison.
    fn sides(&self) -> Option<Sides> {
        None
    }

    /// Both sides of a summary's base and cum. `None`: this is not a comparison.
    fn sides_of(&self, _: &Self::Summary) -> Option<SummarySides> {
        None
    }

    /// How certain a summary's base and cum are. `None` unless each side of a comparison has several runs.
    fn spread_of(&self, _: &Self::Summary) -> Option<SummarySpread> {
        None
    }

    /// Why a summary has no extensions although the program may have made further calls. `None`: it has them all.
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
    /// [`bottom_summaries`](ProfileInterface::bottom_summaries), for who asks what each costs and looks further at few.
    fn costed_summaries(&self, s: &Self::Summary, end: End) -> Vec<Self::Summary> {
        match end {
            End::Top => self.top_summaries(s),
            End::Bottom => self.bottom_summaries(s),
        }
    }

    /// Those at the top and those at the bottom.
    fn costed_at_both_ends(&self, s: &Self::Summary) -> [Vec<Self::Summary>; 2] {
        [End::Top, End::Bottom].map(|end| self.costed_summaries(s, end))
    }

    /// Whether to look at both ends of the summary's path at the same time is worth a thread.
    fn is_everywhere(&self, _s: &Self::Summary) -> bool {
        false
    }

    /// [`total_cum_of`](ProfileInterface::total_cum_of) the first, the first two, and so on to all summaries.
    fn running_total_cum_of(&self, summaries: &[Self::Summary]) -> Vec<i64> {
        (1..=summaries.len())
            .map(|n| self.total_cum_of(&summaries[..n]))
            .collect()
    }

    /// The same of all extensions of `s` at one end, in any order.
    fn running_total_cum_of_extensions(
        &self,
        _s: &Self::Summary,
        _end: End,
        extensions: &[Self::Summary],
    ) -> Vec<i64> {
        self.running_total_cum_of(extensions)
    }

    /// The summaries, ready to tell again and again what others share with them. `None`: what [`base_ovl`] and [`cum_ovl`] say
    /// has to be asked each time.
    fn together(&self, _: &[Self::Summary]) -> Option<Arc<dyn Together<Self::Summary>>> {
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

/// Several summaries of one profile, prepared for what an analyst sees at each step: what the current one shares with them.
pub trait Together<S>: fmt::Debug + Send + Sync {
    /// What the summary shares with them: [`base_ovl`] and [`cum_ovl`].
    fn overlap(&self, s: &S) -> Overlap;
}

/// What a summary shares with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Of its base, in the profile's unit.
    pub base: i64,
    /// Of its cum, in the profile's unit.
    pub cum: i64,
}

/// A cost on both sides of a comparison; with several runs, the means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// In what is looked at.
    pub a: i64,
    /// In what it is compared with.
    pub b: i64,
}

impl Sides {
    /// A - B: positive when A costs more.
    pub fn delta(self) -> i64 {
        self.a - self.b
    }
}

/// A summary's metrics in both profiles of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummarySides {
    /// The base.
    pub base: Sides,
    /// The cum.
    pub cum: Sides,
}

/// How certain a summary's metrics are in a comparison of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummarySpread {
    /// The base's.
    pub base: Spread,
    /// The cum's.
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
    /// The profile does not know paths of this length.
    TooLong {
        /// The names in the path.
        length: usize,
        /// The longest that the profile knows.
        longest: usize,
        /// Why, a whole sentence.
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
                "this profile answers paths of up to {longest} names, not of {length}: {why}"
            ),
        }
    }
}

impl std::error::Error for Refusal {}

/// For any profile: own cost counts fully, all other cost is one step away.
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
