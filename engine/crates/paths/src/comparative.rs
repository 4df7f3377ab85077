//! The profile interface for two call trees that are compared (BOTTLENECKS §2.2).
//!
//! A cost is that in A less that in B. The trees stay apart: each side sums over the occurrences in its own tree. One
//! merged tree would give other numbers, as a caller in A would count for calls that only B makes.

use std::fmt;
use std::sync::Arc;

use fulcrum_model::CallTree;

use crate::extensions::Side;
use crate::index::Index;
use crate::interface::{ProfileInterface, Refusal, Sides, SummarySides};
use crate::names::{NameId, Names};
use crate::nearness::{InTree, Nearness};
use crate::occurrences::{Occurrence, Occurrences};
use crate::region::{Cover, Region};

/// Two call trees: A, and B that it is compared with.
#[derive(Debug)]
pub struct ComparativeProfile {
    names: Names,
    a: Index,
    b: Index,
}

/// A summary of a [`ComparativeProfile`]: a path and where it occurs in both trees.
#[derive(Clone, Debug)]
pub struct ComparativeSummary {
    a: Occurrences,
    b: Occurrences,
}

/// Two profiles that count in different units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferentUnits {
    /// The unit of A.
    pub a: String,
    /// The unit of B.
    pub b: String,
}

impl fmt::Display for DifferentUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DifferentUnits { a, b } = self;
        write!(
            f,
            "cannot compare {a:?} with {b:?}: choose value types with the same unit"
        )
    }
}

impl std::error::Error for DifferentUnits {}

impl ComparativeProfile {
    /// Compares a value type of A with one of B.
    ///
    /// # Errors
    /// When their units differ.
    ///
    /// # Panics
    /// When a tree has no such value type.
    pub fn new(
        (a, a_value): (Arc<CallTree>, usize),
        (b, b_value): (Arc<CallTree>, usize),
    ) -> Result<Self, DifferentUnits> {
        let units = [
            &a.value_types()[a_value].unit,
            &b.value_types()[b_value].unit,
        ];
        if units[0] != units[1] {
            let [a, b] = units.map(String::clone);
            return Err(DifferentUnits { a, b });
        }
        let names = Names::of(&[&a, &b]);
        Ok(ComparativeProfile {
            a: Index::new(a, a_value, &names),
            b: Index::new(b, b_value, &names),
            names,
        })
    }

    /// `None` when neither tree has the path.
    fn summary(&self, a: Occurrences, b: Occurrences) -> Option<ComparativeSummary> {
        let absent = a.is_empty(&self.a) && b.is_empty(&self.b);
        (!absent).then_some(ComparativeSummary { a, b })
    }

    fn find(&self, path: &[NameId]) -> Option<ComparativeSummary> {
        self.summary(
            Occurrences::find(&self.a, path),
            Occurrences::find(&self.b, path),
        )
    }

    /// The extensions in either tree: a merge of two sorted lists.
    fn all(&self, s: &ComparativeSummary, side: Side) -> Vec<(NameId, [Vec<Occurrence>; 2])> {
        let mut a = side.all(&self.a, &self.names, &s.a).into_iter().peekable();
        let mut b = side.all(&self.b, &self.names, &s.b).into_iter().peekable();
        let mut all = Vec::new();
        while let Some(name) = a.peek().into_iter().chain(b.peek()).map(|it| it.0).min() {
            let these = [&mut a, &mut b].map(|it| it.next_if(|it| it.0 == name));
            all.push((name, these.map(|it| it.map_or(Vec::new(), |it| it.1))));
        }
        all
    }

    fn extensions(&self, s: &ComparativeSummary, side: Side) -> Vec<ComparativeSummary> {
        let all = self.all(s, side).into_iter();
        all.map(|(name, [a, b])| {
            let path = side.extended(s.a.path(), name);
            ComparativeSummary {
                a: Occurrences::of(path.clone(), a),
                b: Occurrences::of(path, b),
            }
        })
        .collect()
    }

    fn extension_names(&self, s: &ComparativeSummary, side: Side) -> Vec<&str> {
        let all = self.all(s, side).into_iter();
        all.map(|(name, _)| self.names.get(name)).collect()
    }

    fn extend(
        &self,
        s: &ComparativeSummary,
        name: &str,
        side: Side,
    ) -> Result<ComparativeSummary, Refusal> {
        let extended = self.names.find(name).and_then(|name| {
            let path = side.extended(s.a.path(), name);
            self.summary(
                Occurrences::of(path.clone(), side.one(&self.a, &s.a, name)),
                Occurrences::of(path, side.one(&self.b, &s.b, name)),
            )
        });
        extended.ok_or_else(|| side.absent(self.path_of(s), name))
    }

    fn total_of(
        &self,
        summaries: &[ComparativeSummary],
        region: impl for<'r> Fn(&'r Occurrences, &Index) -> &'r Region,
    ) -> i64 {
        let a = Region::union(summaries.iter().map(|s| region(&s.a, &self.a)));
        let b = Region::union(summaries.iter().map(|s| region(&s.b, &self.b)));
        a.cost(&self.a) - b.cost(&self.b)
    }

    fn base_sides(&self, s: &ComparativeSummary) -> Sides {
        Sides {
            a: s.a.base(&self.a),
            b: s.b.base(&self.b),
        }
    }

    fn cum_sides(&self, s: &ComparativeSummary) -> Sides {
        Sides {
            a: s.a.cum(&self.a),
            b: s.b.cum(&self.b),
        }
    }
}

impl ProfileInterface for ComparativeProfile {
    type Summary = ComparativeSummary;

    fn path_of(&self, s: &ComparativeSummary) -> Vec<&str> {
        s.a.path()
            .iter()
            .map(|&name| self.names.get(name))
            .collect()
    }

    fn initial_summaries(&self) -> Vec<ComparativeSummary> {
        let names = 0..self.names.len() as u32;
        // Each tree's occurrences remember what they cost there.
        let each = names.map(|name| (Occurrences::of_name(name), Occurrences::of_name(name)));
        each.filter_map(|(a, b)| self.summary(a, b)).collect()
    }

    fn top_extensions(&self, s: &ComparativeSummary) -> Vec<&str> {
        self.extension_names(s, Side::Top)
    }

    fn bottom_extensions(&self, s: &ComparativeSummary) -> Vec<&str> {
        self.extension_names(s, Side::Bottom)
    }

    fn extend_top(
        &self,
        s: &ComparativeSummary,
        name: &str,
    ) -> Result<ComparativeSummary, Refusal> {
        self.extend(s, name, Side::Top)
    }

    fn extend_bottom(
        &self,
        s: &ComparativeSummary,
        name: &str,
    ) -> Result<ComparativeSummary, Refusal> {
        self.extend(s, name, Side::Bottom)
    }

    fn trim_top(&self, s: &ComparativeSummary) -> Option<ComparativeSummary> {
        self.find(Side::Top.trimmed(s.a.path())?)
    }

    fn trim_bottom(&self, s: &ComparativeSummary) -> Option<ComparativeSummary> {
        self.find(Side::Bottom.trimmed(s.a.path())?)
    }

    fn base_of(&self, s: &ComparativeSummary) -> i64 {
        self.base_sides(s).delta()
    }

    fn cum_of(&self, s: &ComparativeSummary) -> i64 {
        self.cum_sides(s).delta()
    }

    fn total_base_of(&self, summaries: &[ComparativeSummary]) -> i64 {
        self.total_of(summaries, Occurrences::along)
    }

    fn total_cum_of(&self, summaries: &[ComparativeSummary]) -> i64 {
        self.total_of(summaries, Occurrences::covered)
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

    fn sides_of(&self, s: &ComparativeSummary) -> Option<SummarySides> {
        Some(SummarySides {
            base: self.base_sides(s),
            cum: self.cum_sides(s),
        })
    }

    fn summary_of(&self, path: &[&str]) -> Result<ComparativeSummary, Refusal> {
        let ids = self.names.path(path);
        ids.and_then(|ids| self.find(&ids))
            .ok_or_else(|| Refusal::absent(path))
    }

    fn top_summaries(&self, s: &ComparativeSummary) -> Vec<ComparativeSummary> {
        self.extensions(s, Side::Top)
    }

    fn bottom_summaries(&self, s: &ComparativeSummary) -> Vec<ComparativeSummary> {
        self.extensions(s, Side::Bottom)
    }

    fn running_total_cum_of(&self, summaries: &[ComparativeSummary]) -> Vec<i64> {
        let mut covers = [Cover::new(self.a.len()), Cover::new(self.b.len())];
        let mut total = 0;
        let each = summaries.iter();
        each.map(|s| {
            total += covers[0].add(s.a.covered(&self.a), &self.a);
            total -= covers[1].add(s.b.covered(&self.b), &self.b);
            total
        })
        .collect()
    }

    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<ComparativeSummary> + 'a> {
        Box::new(Near {
            a: InTree::new(&self.a, fade),
            b: InTree::new(&self.b, fade),
        })
    }
}

struct Near<'a> {
    a: InTree<'a>,
    b: InTree<'a>,
}

impl Nearness<ComparativeSummary> for Near<'_> {
    fn of(&self, s: &ComparativeSummary) -> f64 {
        self.a.of(&s.a) - self.b.of(&s.b)
    }

    fn left(&self, s: &ComparativeSummary) -> i64 {
        self.a.left(&s.a) - self.b.left(&s.b)
    }

    fn left_at_top(&self, s: &ComparativeSummary) -> i64 {
        self.a.left_at_top(&s.a) - self.b.left_at_top(&s.b)
    }

    fn take(&mut self, s: &ComparativeSummary) {
        self.a.take(&s.a);
        self.b.take(&s.b);
    }
}
