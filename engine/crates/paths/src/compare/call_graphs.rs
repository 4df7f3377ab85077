//! The profile interface for comparisons of two call graphs: paths of length 1 and 2, as in one call graph.
//!
//! A cost is the cost in A minus the cost in B. The graphs stay separate, like the trees of a [`ComparativeProfile`]: an estimate in
//! one of them makes the difference an estimate.
//!
//! [`ComparativeProfile`]: crate::ComparativeProfile

use std::collections::BTreeMap;

use crate::profile::call_graph::{CallGraphProfile, CallGraphSummary};
use crate::profile::end::End;
use crate::profile::interface::{ProfileInterface, Refusal, Sides, SummarySides};
use crate::profile::nearness::Nearness;

/// A comparison of two call graphs with the same unit. B is the base.
#[derive(Debug)]
pub struct GraphComparison {
    a: CallGraphProfile,
    b: CallGraphProfile,
}

/// A summary of a [`GraphComparison`]: a function or a call, in the graphs that have it. At least one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphComparisonSummary {
    a: Option<CallGraphSummary>,
    b: Option<CallGraphSummary>,
}

impl GraphComparison {
    /// Compares `a` with `b`.
    pub fn new(a: CallGraphProfile, b: CallGraphProfile) -> Self {
        GraphComparison { a, b }
    }

    fn sides_by(
        &self,
        s: &GraphComparisonSummary,
        cost: impl Fn(&CallGraphProfile, &CallGraphSummary) -> i64,
    ) -> Sides {
        Sides {
            a: s.a.map_or(0, |a| cost(&self.a, &a)),
            b: s.b.map_or(0, |b| cost(&self.b, &b)),
        }
    }

    fn total_by(
        &self,
        all: &[GraphComparisonSummary],
        cost: impl Fn(&CallGraphProfile, &[CallGraphSummary]) -> i64,
    ) -> i64 {
        let a: Vec<_> = all.iter().filter_map(|s| s.a).collect();
        let b: Vec<_> = all.iter().filter_map(|s| s.b).collect();
        let sides = Sides {
            a: cost(&self.a, &a),
            b: cost(&self.b, &b),
        };
        sides.delta()
    }

    /// The extensions of a path in both graphs, by the added name.
    fn extensions(
        &self,
        s: &GraphComparisonSummary,
        end: End,
    ) -> BTreeMap<&str, GraphComparisonSummary> {
        merged(extensions(&self.a, s.a, end), extensions(&self.b, s.b, end))
    }

    /// The refusal of either graph of what neither has.
    fn refusal<T>(
        &self,
        s: &GraphComparisonSummary,
        ask: impl Fn(&CallGraphProfile, &CallGraphSummary) -> Result<T, Refusal>,
    ) -> Refusal {
        let a = s.a.and_then(|s| ask(&self.a, &s).err());
        let b = || s.b.and_then(|s| ask(&self.b, &s).err());
        let refused = a.or_else(b);
        refused.expect("a graph refuses what it does not have")
    }
}

/// Summaries of one graph, by name.
type ByName<'p> = Vec<(&'p str, CallGraphSummary)>;

/// The functions of a graph.
fn functions(graph: &CallGraphProfile) -> ByName<'_> {
    let all = graph.initial_summaries().into_iter();
    all.map(|s| (graph.path_of(&s)[0], s)).collect()
}

/// The extensions of a path in one graph, by the added name. None if the graph does not have the path.
fn extensions(graph: &CallGraphProfile, s: Option<CallGraphSummary>, end: End) -> ByName<'_> {
    let Some(s) = s else {
        return Vec::new();
    };
    let (names, all) = match end {
        End::Top => (graph.top_extensions(&s), graph.top_summaries(&s)),
        End::Bottom => (graph.bottom_extensions(&s), graph.bottom_summaries(&s)),
    };
    names.into_iter().zip(all).collect()
}

/// Joins summaries of both graphs by name.
fn merged<'p>(a: ByName<'p>, b: ByName<'p>) -> BTreeMap<&'p str, GraphComparisonSummary> {
    let mut all: BTreeMap<&str, GraphComparisonSummary> = BTreeMap::new();
    let nothing = GraphComparisonSummary { a: None, b: None };
    for (name, s) in a {
        all.entry(name).or_insert(nothing).a = Some(s);
    }
    for (name, s) in b {
        all.entry(name).or_insert(nothing).b = Some(s);
    }
    all
}

impl ProfileInterface for GraphComparison {
    type Summary = GraphComparisonSummary;

    fn path_of(&self, s: &GraphComparisonSummary) -> Vec<&str> {
        match (s.a, s.b) {
            (Some(a), _) => self.a.path_of(&a),
            (None, Some(b)) => self.b.path_of(&b),
            (None, None) => Vec::new(),
        }
    }

    fn initial_summaries(&self) -> Vec<GraphComparisonSummary> {
        merged(functions(&self.a), functions(&self.b))
            .into_values()
            .collect()
    }

    fn top_extensions(&self, s: &GraphComparisonSummary) -> Vec<&str> {
        self.extensions(s, End::Top).into_keys().collect()
    }

    fn bottom_extensions(&self, s: &GraphComparisonSummary) -> Vec<&str> {
        self.extensions(s, End::Bottom).into_keys().collect()
    }

    fn extend_top(
        &self,
        s: &GraphComparisonSummary,
        name: &str,
    ) -> Result<GraphComparisonSummary, Refusal> {
        let found = self.extensions(s, End::Top).remove(name);
        found.ok_or_else(|| self.refusal(s, |graph, s| graph.extend_top(s, name)))
    }

    fn extend_bottom(
        &self,
        s: &GraphComparisonSummary,
        name: &str,
    ) -> Result<GraphComparisonSummary, Refusal> {
        let found = self.extensions(s, End::Bottom).remove(name);
        found.ok_or_else(|| self.refusal(s, |graph, s| graph.extend_bottom(s, name)))
    }

    fn trim_top(&self, s: &GraphComparisonSummary) -> Option<GraphComparisonSummary> {
        let path = self.path_of(s);
        let rest = path.get(1..).filter(|rest| !rest.is_empty())?;
        // A graph may have the function without this call of it.
        self.summary_of(rest).ok()
    }

    fn trim_bottom(&self, s: &GraphComparisonSummary) -> Option<GraphComparisonSummary> {
        let path = self.path_of(s);
        let (_, rest) = path.split_last()?;
        self.summary_of(rest).ok().filter(|_| !rest.is_empty())
    }

    fn base_of(&self, s: &GraphComparisonSummary) -> i64 {
        self.sides_by(s, CallGraphProfile::base_of).delta()
    }

    fn cum_of(&self, s: &GraphComparisonSummary) -> i64 {
        self.sides_by(s, CallGraphProfile::cum_of).delta()
    }

    fn total_base_of(&self, summaries: &[GraphComparisonSummary]) -> i64 {
        self.total_by(summaries, CallGraphProfile::total_base_of)
    }

    fn total_cum_of(&self, summaries: &[GraphComparisonSummary]) -> i64 {
        self.total_by(summaries, CallGraphProfile::total_cum_of)
    }

    fn total(&self) -> i64 {
        self.a.total() - self.b.total()
    }

    fn sides(&self) -> Option<Sides> {
        Some(Sides {
            a: self.a.total(),
            b: self.b.total(),
        })
    }

    fn sides_of(&self, s: &GraphComparisonSummary) -> Option<SummarySides> {
        Some(SummarySides {
            base: self.sides_by(s, CallGraphProfile::base_of),
            cum: self.sides_by(s, CallGraphProfile::cum_of),
        })
    }

    fn limit_of(&self, s: &GraphComparisonSummary) -> Option<Refusal> {
        let a = s.a.and_then(|a| self.a.limit_of(&a));
        a.or_else(|| s.b.and_then(|b| self.b.limit_of(&b)))
    }

    fn summary_of(&self, path: &[&str]) -> Result<GraphComparisonSummary, Refusal> {
        match (self.a.summary_of(path), self.b.summary_of(path)) {
            (Err(refused), Err(_)) => Err(refused),
            (a, b) => Ok(GraphComparisonSummary {
                a: a.ok(),
                b: b.ok(),
            }),
        }
    }

    fn nearness<'p>(&'p self, fade: f64) -> Box<dyn Nearness<GraphComparisonSummary> + 'p> {
        Box::new(Near {
            a: self.a.nearness(fade),
            b: self.b.nearness(fade),
        })
    }
}

/// The nearness in A minus the nearness in B.
struct Near<'p> {
    a: Box<dyn Nearness<CallGraphSummary> + 'p>,
    b: Box<dyn Nearness<CallGraphSummary> + 'p>,
}

impl Nearness<GraphComparisonSummary> for Near<'_> {
    fn of(&self, s: &GraphComparisonSummary) -> f64 {
        s.a.map_or(0.0, |a| self.a.of(&a)) - s.b.map_or(0.0, |b| self.b.of(&b))
    }

    fn left(&self, s: &GraphComparisonSummary) -> i64 {
        s.a.map_or(0, |a| self.a.left(&a)) - s.b.map_or(0, |b| self.b.left(&b))
    }

    fn left_at_top(&self, s: &GraphComparisonSummary) -> i64 {
        s.a.map_or(0, |a| self.a.left_at_top(&a)) - s.b.map_or(0, |b| self.b.left_at_top(&b))
    }

    fn take(&mut self, s: &GraphComparisonSummary) {
        if let Some(a) = s.a {
            self.a.take(&a);
        }
        if let Some(b) = s.b {
            self.b.take(&b);
        }
    }

    fn set_fade(&mut self, fade: f64) {
        self.a.set_fade(fade);
        self.b.set_fade(fade);
    }
}
