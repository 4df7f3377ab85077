//! One type for all kinds of profiles, for those who learn only from a file which kind it is.

use std::fmt;
use std::sync::Arc;

use crate::call_graph::{CallGraphProfile, CallGraphSummary};
use crate::call_tree::{CallTreeProfile, CallTreeSummary};
use crate::comparative::{ComparativeProfile, ComparativeSummary};
use crate::end::End;
use crate::graph_comparison::{GraphComparison, GraphComparisonSummary};
use crate::interface::{
    Overlap, ProfileInterface, Refusal, Sides, SummarySides, SummarySpread, Together,
};
use crate::nearness::Nearness;

/// A profile of any kind.
#[derive(Debug)]
pub enum AnyProfile {
    /// One call tree.
    Tree(CallTreeProfile),
    /// Call trees that are compared.
    Comparison(ComparativeProfile),
    /// A call graph.
    Graph(CallGraphProfile),
    /// Two call graphs that are compared.
    GraphComparison(GraphComparison),
}

/// A summary of an [`AnyProfile`].
#[derive(Clone, Debug)]
pub enum AnySummary {
    /// In one call tree.
    Tree(CallTreeSummary),
    /// In call trees that are compared.
    Comparison(ComparativeSummary),
    /// In a call graph.
    Graph(CallGraphSummary),
    /// In two call graphs that are compared.
    GraphComparison(GraphComparisonSummary),
}

/// A kind of summary among all kinds.
trait Kind: Clone + Sized {
    fn of(any: &AnySummary) -> Option<&Self>;

    /// # Panics
    /// When the summary is of another kind: it came from another profile.
    fn from_any(any: &AnySummary) -> &Self {
        Self::of(any).expect("the summary is of this profile")
    }

    fn all(any: &[AnySummary]) -> Vec<Self> {
        any.iter().map(|it| Self::from_any(it).clone()).collect()
    }
}

macro_rules! kind {
    ($summary:ty, $variant:ident) => {
        impl Kind for $summary {
            fn of(any: &AnySummary) -> Option<&Self> {
                match any {
                    AnySummary::$variant(it) => Some(it),
                    _ => None,
                }
            }
        }
    };
}

kind!(CallTreeSummary, Tree);
kind!(ComparativeSummary, Comparison);
kind!(CallGraphSummary, Graph);
kind!(GraphComparisonSummary, GraphComparison);

/// Asks the profile, whichever kind it is: `p` is the profile, `wrap` makes its summaries ours.
macro_rules! ask {
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
        ask!(self, |p| p.path_of(Kind::from_any(s)))
    }

    fn initial_summaries(&self) -> Vec<AnySummary> {
        ask!(self, |p, wrap| p
            .initial_summaries()
            .into_iter()
            .map(wrap)
            .collect())
    }

    fn top_extensions(&self, s: &AnySummary) -> Vec<&str> {
        ask!(self, |p| p.top_extensions(Kind::from_any(s)))
    }

    fn bottom_extensions(&self, s: &AnySummary) -> Vec<&str> {
        ask!(self, |p| p.bottom_extensions(Kind::from_any(s)))
    }

    fn extend_top(&self, s: &AnySummary, name: &str) -> Result<AnySummary, Refusal> {
        ask!(self, |p, wrap| p
            .extend_top(Kind::from_any(s), name)
            .map(wrap))
    }

    fn extend_bottom(&self, s: &AnySummary, name: &str) -> Result<AnySummary, Refusal> {
        ask!(self, |p, wrap| p
            .extend_bottom(Kind::from_any(s), name)
            .map(wrap))
    }

    fn trim_top(&self, s: &AnySummary) -> Option<AnySummary> {
        ask!(self, |p, wrap| p.trim_top(Kind::from_any(s)).map(wrap))
    }

    fn trim_bottom(&self, s: &AnySummary) -> Option<AnySummary> {
        ask!(self, |p, wrap| p.trim_bottom(Kind::from_any(s)).map(wrap))
    }

    fn base_of(&self, s: &AnySummary) -> i64 {
        ask!(self, |p| p.base_of(Kind::from_any(s)))
    }

    fn cum_of(&self, s: &AnySummary) -> i64 {
        ask!(self, |p| p.cum_of(Kind::from_any(s)))
    }

    fn total_base_of(&self, summaries: &[AnySummary]) -> i64 {
        ask!(self, |p| p.total_base_of(&Kind::all(summaries)))
    }

    fn total_cum_of(&self, summaries: &[AnySummary]) -> i64 {
        ask!(self, |p| p.total_cum_of(&Kind::all(summaries)))
    }

    fn total(&self) -> i64 {
        ask!(self, |p| p.total())
    }

    fn sides(&self) -> Option<Sides> {
        ask!(self, |p| p.sides())
    }

    fn sides_of(&self, s: &AnySummary) -> Option<SummarySides> {
        ask!(self, |p| p.sides_of(Kind::from_any(s)))
    }

    fn spread_of(&self, s: &AnySummary) -> Option<SummarySpread> {
        ask!(self, |p| p.spread_of(Kind::from_any(s)))
    }

    fn limit_of(&self, s: &AnySummary) -> Option<Refusal> {
        ask!(self, |p| p.limit_of(Kind::from_any(s)))
    }

    fn summary_of(&self, path: &[&str]) -> Result<AnySummary, Refusal> {
        ask!(self, |p, wrap| p.summary_of(path).map(wrap))
    }

    fn top_summaries(&self, s: &AnySummary) -> Vec<AnySummary> {
        ask!(self, |p, wrap| {
            let all = p.top_summaries(Kind::from_any(s)).into_iter();
            all.map(wrap).collect()
        })
    }

    fn bottom_summaries(&self, s: &AnySummary) -> Vec<AnySummary> {
        ask!(self, |p, wrap| {
            let all = p.bottom_summaries(Kind::from_any(s)).into_iter();
            all.map(wrap).collect()
        })
    }

    fn costed_summaries(&self, s: &AnySummary, end: End) -> Vec<AnySummary> {
        ask!(self, |p, wrap| {
            let all = p.costed_summaries(Kind::from_any(s), end).into_iter();
            all.map(wrap).collect()
        })
    }

    fn costed_at_both_ends(&self, s: &AnySummary) -> [Vec<AnySummary>; 2] {
        ask!(self, |p, wrap| {
            let both = p.costed_at_both_ends(Kind::from_any(s));
            both.map(|all| all.into_iter().map(wrap).collect())
        })
    }

    fn is_everywhere(&self, s: &AnySummary) -> bool {
        ask!(self, |p| p.is_everywhere(Kind::from_any(s)))
    }

    fn running_total_cum_of_extensions(
        &self,
        s: &AnySummary,
        end: End,
        extensions: &[AnySummary],
    ) -> Vec<i64> {
        ask!(self, |p| {
            let extensions = Kind::all(extensions);
            p.running_total_cum_of_extensions(Kind::from_any(s), end, &extensions)
        })
    }

    fn running_total_cum_of(&self, summaries: &[AnySummary]) -> Vec<i64> {
        ask!(self, |p| p.running_total_cum_of(&Kind::all(summaries)))
    }

    fn together(&self, summaries: &[AnySummary]) -> Option<Arc<dyn Together<AnySummary>>> {
        ask!(self, |p| {
            let together = p.together(&Kind::all(summaries))?;
            Some(Arc::new(AnyTogether(together)))
        })
    }

    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<AnySummary> + 'a> {
        ask!(self, |p| Box::new(AnyNearness(p.nearness(fade))))
    }
}

#[derive(Debug)]
struct AnyTogether<S>(Arc<dyn Together<S>>);

impl<S: Kind + fmt::Debug> Together<AnySummary> for AnyTogether<S> {
    fn overlap(&self, s: &AnySummary) -> Overlap {
        self.0.overlap(S::from_any(s))
    }
}

struct AnyNearness<'a, S>(Box<dyn Nearness<S> + 'a>);

impl<S: Kind> Nearness<AnySummary> for AnyNearness<'_, S> {
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
