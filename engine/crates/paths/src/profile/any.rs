//! One type for all profiles, for code that learns from a file which one it is.

use std::fmt;
use std::sync::Arc;

use crate::compare::call_graphs::{GraphComparison, GraphComparisonSummary};
use crate::compare::call_trees::{ComparativeProfile, ComparativeSummary};
use crate::profile::call_graph::{CallGraphProfile, CallGraphSummary};
use crate::profile::call_tree::{CallTreeProfile, CallTreeSummary};
use crate::profile::end::End;
use crate::profile::interface::{
    FunctionCosts, Overlap, PreparedSummaries, ProfileInterface, Refusal, Sides, SummarySides,
    SummarySpread,
};
use crate::profile::nearness::Nearness;

/// Any of the profiles.
#[derive(Debug)]
pub enum AnyProfile {
    /// One call tree.
    Tree(CallTreeProfile),
    /// A comparison of call trees.
    Comparison(ComparativeProfile),
    /// A call graph.
    Graph(CallGraphProfile),
    /// A comparison of two call graphs.
    GraphComparison(GraphComparison),
}

/// A summary of an [`AnyProfile`].
#[derive(Clone, Debug)]
pub enum AnySummary {
    /// In one call tree.
    Tree(CallTreeSummary),
    /// In a comparison of call trees.
    Comparison(ComparativeSummary),
    /// In a call graph.
    Graph(CallGraphSummary),
    /// In a comparison of two call graphs.
    GraphComparison(GraphComparisonSummary),
}

/// One of the summaries in [`AnySummary`].
trait SpecificSummary: Clone + Sized {
    fn of(any: &AnySummary) -> Option<&Self>;

    /// # Panics
    /// When the summary is from another profile.
    fn from_any(any: &AnySummary) -> &Self {
        Self::of(any).expect("the summary is from this profile")
    }

    fn all(any: &[AnySummary]) -> Vec<Self> {
        any.iter().map(|it| Self::from_any(it).clone()).collect()
    }
}

macro_rules! specific_summary {
    ($summary:ty, $variant:ident) => {
        impl SpecificSummary for $summary {
            fn of(any: &AnySummary) -> Option<&Self> {
                match any {
                    AnySummary::$variant(it) => Some(it),
                    _ => None,
                }
            }
        }
    };
}

specific_summary!(CallTreeSummary, Tree);
specific_summary!(ComparativeSummary, Comparison);
specific_summary!(CallGraphSummary, Graph);
specific_summary!(GraphComparisonSummary, GraphComparison);

/// Evaluates an expression with the profile, whichever it is: `p` is the profile, `wrap` turns its summaries into
/// [`AnySummary`].
macro_rules! with_profile {
    ($self:expr, |$p:ident| $answer:expr) => {
        match $self {
            AnyProfile::Tree($p) => $answer,
            AnyProfile::Comparison($p) => $answer,
            AnyProfile::Graph($p) => $answer,
            AnyProfile::GraphComparison($p) => $answer,
        }
    };
    ($self:expr, |$p:ident, $wrap:ident| $answer:expr) => {
        match $self {
            AnyProfile::Tree($p) => {
                let $wrap = AnySummary::Tree;
                $answer
            }
            AnyProfile::Comparison($p) => {
                let $wrap = AnySummary::Comparison;
                $answer
            }
            AnyProfile::Graph($p) => {
                let $wrap = AnySummary::Graph;
                $answer
            }
            AnyProfile::GraphComparison($p) => {
                let $wrap = AnySummary::GraphComparison;
                $answer
            }
        }
    };
}

impl ProfileInterface for AnyProfile {
    type Summary = AnySummary;

    fn path_of(&self, s: &AnySummary) -> Vec<&str> {
        with_profile!(self, |p| p.path_of(SpecificSummary::from_any(s)))
    }

    fn initial_summaries(&self) -> Vec<AnySummary> {
        with_profile!(self, |p, wrap| p
            .initial_summaries()
            .into_iter()
            .map(wrap)
            .collect())
    }

    fn functions(&self) -> Vec<FunctionCosts<'_>> {
        with_profile!(self, |p| p.functions())
    }

    fn top_extensions(&self, s: &AnySummary) -> Vec<&str> {
        with_profile!(self, |p| p.top_extensions(SpecificSummary::from_any(s)))
    }

    fn bottom_extensions(&self, s: &AnySummary) -> Vec<&str> {
        with_profile!(self, |p| p.bottom_extensions(SpecificSummary::from_any(s)))
    }

    fn extend_top(&self, s: &AnySummary, name: &str) -> Result<AnySummary, Refusal> {
        with_profile!(self, |p, wrap| p
            .extend_top(SpecificSummary::from_any(s), name)
            .map(wrap))
    }

    fn extend_bottom(&self, s: &AnySummary, name: &str) -> Result<AnySummary, Refusal> {
        with_profile!(self, |p, wrap| p
            .extend_bottom(SpecificSummary::from_any(s), name)
            .map(wrap))
    }

    fn trim_top(&self, s: &AnySummary) -> Option<AnySummary> {
        with_profile!(self, |p, wrap| p
            .trim_top(SpecificSummary::from_any(s))
            .map(wrap))
    }

    fn trim_bottom(&self, s: &AnySummary) -> Option<AnySummary> {
        with_profile!(self, |p, wrap| p
            .trim_bottom(SpecificSummary::from_any(s))
            .map(wrap))
    }

    fn base_of(&self, s: &AnySummary) -> i64 {
        with_profile!(self, |p| p.base_of(SpecificSummary::from_any(s)))
    }

    fn cum_of(&self, s: &AnySummary) -> i64 {
        with_profile!(self, |p| p.cum_of(SpecificSummary::from_any(s)))
    }

    fn total_base_of(&self, summaries: &[AnySummary]) -> i64 {
        with_profile!(self, |p| p.total_base_of(&SpecificSummary::all(summaries)))
    }

    fn total_cum_of(&self, summaries: &[AnySummary]) -> i64 {
        with_profile!(self, |p| p.total_cum_of(&SpecificSummary::all(summaries)))
    }

    fn total(&self) -> i64 {
        with_profile!(self, |p| p.total())
    }

    fn sides(&self) -> Option<Sides> {
        with_profile!(self, |p| p.sides())
    }

    fn sides_of(&self, s: &AnySummary) -> Option<SummarySides> {
        with_profile!(self, |p| p.sides_of(SpecificSummary::from_any(s)))
    }

    fn spread_of(&self, s: &AnySummary) -> Option<SummarySpread> {
        with_profile!(self, |p| p.spread_of(SpecificSummary::from_any(s)))
    }

    fn limit_of(&self, s: &AnySummary) -> Option<Refusal> {
        with_profile!(self, |p| p.limit_of(SpecificSummary::from_any(s)))
    }

    fn summary_of(&self, path: &[&str]) -> Result<AnySummary, Refusal> {
        with_profile!(self, |p, wrap| p.summary_of(path).map(wrap))
    }

    fn top_summaries(&self, s: &AnySummary) -> Vec<AnySummary> {
        with_profile!(self, |p, wrap| {
            let all = p.top_summaries(SpecificSummary::from_any(s)).into_iter();
            all.map(wrap).collect()
        })
    }

    fn bottom_summaries(&self, s: &AnySummary) -> Vec<AnySummary> {
        with_profile!(self, |p, wrap| {
            let all = p.bottom_summaries(SpecificSummary::from_any(s)).into_iter();
            all.map(wrap).collect()
        })
    }

    fn costed_summaries(&self, s: &AnySummary, end: End) -> Vec<AnySummary> {
        with_profile!(self, |p, wrap| {
            let all = p
                .costed_summaries(SpecificSummary::from_any(s), end)
                .into_iter();
            all.map(wrap).collect()
        })
    }

    fn costed_at_both_ends(&self, s: &AnySummary) -> [Vec<AnySummary>; 2] {
        with_profile!(self, |p, wrap| {
            let both = p.costed_at_both_ends(SpecificSummary::from_any(s));
            both.map(|all| all.into_iter().map(wrap).collect())
        })
    }

    fn is_frequent(&self, s: &AnySummary) -> bool {
        with_profile!(self, |p| p.is_frequent(SpecificSummary::from_any(s)))
    }

    fn running_total_cum_of_extensions(
        &self,
        s: &AnySummary,
        end: End,
        extensions: &[AnySummary],
    ) -> Vec<i64> {
        with_profile!(self, |p| {
            let extensions = SpecificSummary::all(extensions);
            p.running_total_cum_of_extensions(SpecificSummary::from_any(s), end, &extensions)
        })
    }

    fn running_total_cum_of(&self, summaries: &[AnySummary]) -> Vec<i64> {
        with_profile!(self, |p| p
            .running_total_cum_of(&SpecificSummary::all(summaries)))
    }

    fn prepare(&self, summaries: &[AnySummary]) -> Option<Arc<dyn PreparedSummaries<AnySummary>>> {
        with_profile!(self, |p| {
            let prepared = p.prepare(&SpecificSummary::all(summaries))?;
            Some(Arc::new(AnyPrepared(prepared)))
        })
    }

    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<AnySummary> + 'a> {
        with_profile!(self, |p| Box::new(AnyNearness(p.nearness(fade))))
    }
}

#[derive(Debug)]
struct AnyPrepared<S>(Arc<dyn PreparedSummaries<S>>);

impl<S: SpecificSummary + fmt::Debug> PreparedSummaries<AnySummary> for AnyPrepared<S> {
    fn overlap(&self, s: &AnySummary) -> Overlap {
        self.0.overlap(S::from_any(s))
    }
}

struct AnyNearness<'a, S>(Box<dyn Nearness<S> + 'a>);

impl<S: SpecificSummary> Nearness<AnySummary> for AnyNearness<'_, S> {
    fn of(&self, s: &AnySummary) -> f64 {
        self.0.of(S::from_any(s))
    }

    fn left(&self, s: &AnySummary) -> i64 {
        self.0.left(S::from_any(s))
    }

    fn left_at_top(&self, s: &AnySummary) -> i64 {
        self.0.left_at_top(S::from_any(s))
    }

    fn take(&mut self, s: &AnySummary) {
        self.0.take(S::from_any(s));
    }

    fn set_fade(&mut self, fade: f64) {
        self.0.set_fade(fade);
    }
}
