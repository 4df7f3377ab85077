//! The profile interface for two call graphs that are compared: paths of length 1 and 2, as in one call graph.
//!
//! A cost is that in A less that in B. The graphs stay apart, like the trees of a [`ComparativeProfile`]: what is an estimate
//! in one of them is an estimate in the difference.
//!
//! [`ComparativeProfile`]: crate::ComparativeProfile

use std::collections::BTreeMap;

use crate::call_graph::{CallGraphProfile, CallGraphSummary};
use crate::interface::{ProfileInterface, Refusal, Sides, SummarySides};
use crate::nearness::Nearness;

/// The call graphs of two sides: A, and B that it is compared with. Both count in the same unit.
#[derive(Debug)]
pub struct GraphComparison {
    a: CallGraphProfile,
    b: CallGraphProfile,
}

/// A summary of a [`GraphComparison`]: a function or a call, and its places in the graphs that have it, at least one.
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

    /// What both graphs have, by the name that it is found under.
    fn merged<'p>(
        &'p self,
        of: impl Fn(&'p CallGraphProfile, bool) -> Vec<(&'p str, CallGraphSummary)>,
    ) -> BTreeMap<&'p str, GraphComparisonSummary> {
        let mut all: BTreeMap<&str, GraphComparisonSummary> = BTreeMap::new();
        let nothing = GraphComparisonSummary { a: None, b: None };
        for (name, s) in of(&self.a, true) {
            all.entry(name).or_insert(nothing).a = Some(s);
        }
        for (name, s) in of(&self.b, false) {
            all.entry(name).or_insert(nothing).b = Some(s);
        }
        all
    }

    /// The calls of or by a function in both graphs, by the name that each adds: its callers, or what it calls.
    fn extensions(
        &self,
        s: &GraphComparisonSummary,
        callers: bool,
    ) -> BTreeMap<&str, GraphComparisonSummary> {
        self.merged(|graph, is_a| {
            let Some(s) = (if is_a { s.a } else { s.b }) else {
                return Vec::new();
            };
            let (names, all) = match callers {
                true => (graph.top_extensions(&s), graph.top_summaries(&s)),
                false => (graph.bottom_extensions(&s), graph.bottom_summaries(&s)),
            };
            names.into_iter().zip(all).collect()
        })
    }

    /// The answer of either graph to what neither has.
    fn refusal<T>(
        &self,
        s: &GraphComparisonSummary,
        ask: impl Fn(&CallGraphProfile, &CallGraphSummary) -> Result<T, Refusal>,
    ) -> Refusal {
        let a = s.a.and_then(|s| ask(&self.a, &s).err());
        let b = || s.b.and_then(|s| ask(&self.b, &s).err());
        let refused = a.or_else(b);
        refused.expect("what a graph does not have it refuses")
    }
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
        let all = self.merged(|graph, _| {
            let all = graph.initial_summaries().into_iter();
            all.map(|s| (graph.path_of(&s)[0], s)).collect()
        });
        all.into_values().collect()
    }

    fn top_extensions(&self, s: &GraphComparisonSummary) -> Vec<&str> {
        self.extensions(s, true).into_keys().collect()
    }

    fn bottom_extensions(&self, s: &GraphComparisonSummary) -> Vec<&str> {
        self.extensions(s, false).into_keys().collect()
    }

    fn extend_top(
        &self,
        s: &GraphComparisonSummary,
        name: &str,
    ) -> Result<GraphComparisonSummary, Refusal> {
        let found = self.extensions(s, true).remove(name);
        found.ok_or_else(|| self.refusal(s, |graph, s| graph.extend_top(s, name)))
    }

    fn extend_bottom(
        &self,
        s: &GraphComparisonSummary,
        name: &str,
    ) -> Result<GraphComparisonSummary, Refusal> {
        let found = self.extensions(s, false).remove(name);
        found.ok_or_else(|| self.refusal(s, |graph, s| graph.extend_bottom(s, name)))
    }

    fn trim_top(&self, s: &GraphComparisonSummary) -> Option<GraphComparisonSummary> {
        let path = self.path_of(s);
        let rest = path.get(1..).filter(|rest| !rest.is_empty())?;
        // A graph may have the function without that call of it.
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

/// How near A's cost is, less how near B's is.
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
