//! The profile interface for comparisons of call trees (BOTTLENECKS §2.2), with one or several inputs on each side.
//!
//! A cost is the cost in A minus the cost in B; with several inputs, the mean in A minus the mean in B. The trees stay separate,
//! and each sums over its own occurrences. One merged tree would give different numbers, because a caller in A would count for
//! calls that only B makes.

use std::fmt;
use std::sync::Arc;

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::ValueType;

use crate::compare::inputs::{Inputs, Normalisation};
use crate::compare::observations::Observations;
use crate::compare::spread::Spread;
use crate::profile::call_tree::extensions::Extensions;
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::{NameId, Names};
use crate::profile::call_tree::nearness::TreeNearness;
use crate::profile::call_tree::occurrences::{Occurrence, Occurrences};
use crate::profile::call_tree::region::{Cover, Region};
use crate::profile::end::End;
use crate::profile::interface::{
    Overlap, PreparedSummaries, ProfileInterface, Refusal, Sides, SummarySides, SummarySpread,
};
use crate::profile::nearness::Nearness;

/// A comparison of call trees. B is the base.
#[derive(Debug)]
pub struct ComparativeProfile {
    names: Names,
    unit: String,
    inputs: Arc<Inputs>,
}

/// A summary of a [`ComparativeProfile`]: a path and where it occurs in each tree.
#[derive(Clone, Debug)]
pub struct ComparativeSummary(Arc<[Occurrences]>);

impl ComparativeSummary {
    fn path(&self) -> &Arc<[NameId]> {
        self.0[0].path()
    }
}

/// A call tree and the position of one of its value types.
pub type Input = (Arc<CallTree>, usize);

/// The error for profiles in different units.
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

/// Converts all inputs to the unit of the first, with the finest decimal prefix that one of them uses.
fn in_one_unit(
    a: Vec<Input>,
    b: Vec<Input>,
) -> Result<(Vec<Input>, Vec<Input>, String), DifferentUnits> {
    let mut finest: Option<ValueType> = None;
    for (tree, value) in a.iter().chain(&b) {
        let kind = &tree.value_types()[*value];
        let plain = |kind: &ValueType| match kind.decimals().0 {
            "count" => String::new(),
            unit => unit.to_owned(),
        };
        match &finest {
            Some(it) if plain(it) != plain(kind) => {
                return Err(DifferentUnits {
                    a: it.unit.clone(),
                    b: kind.unit.clone(),
                });
            }
            Some(it) if it.decimals().1 >= kind.decimals().1 => {}
            _ => finest = Some(kind.clone()),
        }
    }
    let finest = finest.unwrap_or_else(|| ValueType::new("", ""));
    let scaled = |(tree, value): Input| {
        let kind = &tree.value_types()[value];
        let times = finest.decimals().1.saturating_sub(kind.decimals().1);
        if times == 0 {
            return Ok((tree, value));
        }
        let fine = 10_i64.checked_pow(times as u32).unwrap_or(i64::MAX);
        match tree.in_unit(value, &finest.unit, fine) {
            Ok(tree) => Ok((Arc::new(tree), 0)),
            Err(_) => Err(DifferentUnits {
                a: finest.unit.clone(),
                b: kind.unit.clone(),
            }),
        }
    };
    let all = |side: Vec<Input>| side.into_iter().map(scaled).collect::<Result<_, _>>();
    Ok((all(a)?, all(b)?, finest.unit.clone()))
}

impl ComparativeProfile {
    /// Compares one input with another.
    ///
    /// # Errors
    /// When their units differ.
    ///
    /// # Panics
    /// When a tree has no such value type.
    pub fn new(a: Input, b: Input) -> Result<Self, DifferentUnits> {
        ComparativeProfile::of_inputs(vec![a], vec![b], Normalisation::None)
    }

    /// Splits a value type with negative values into a comparison: what is above 0 is A, what is below is B. `None` without
    /// negative values.
    ///
    /// # Panics
    /// When the tree has no such value type.
    pub fn of_difference(tree: &CallTree, value: usize) -> Option<Self> {
        let [above, below] = tree.by_sign(value)?.map(|tree| (Arc::new(tree), 0));
        let compared = ComparativeProfile::new(above, below);
        Some(compared.expect("both have the same unit"))
    }

    /// Compares the mean of the inputs of A with the mean of the inputs of B.
    ///
    /// # Errors
    /// When their units differ.
    ///
    /// # Panics
    /// When a side has no input, or a tree has no such value type.
    pub fn of_inputs(
        a: Vec<Input>,
        b: Vec<Input>,
        normalisation: Normalisation,
    ) -> Result<Self, DifferentUnits> {
        let (a, b, unit) = in_one_unit(a, b)?;
        let trees: Vec<&CallTree> = a.iter().chain(&b).map(|it| &*it.0).collect();
        let (names, of_frames) = Names::of(&trees);
        let mut of_frames = of_frames.into_iter();
        let mut index = |(tree, value): Input| {
            let of_frames = of_frames.next().expect("there are those of each tree");
            Index::new(tree, value, names.len(), of_frames)
        };
        let [a, b] = [a, b].map(|side| side.into_iter().map(&mut index).collect());
        Ok(ComparativeProfile {
            inputs: Arc::new(Inputs::new(a, b, normalisation)),
            unit,
            names,
        })
    }

    /// Compares the mean cost of a unit of work in A with that in B. Each unit is an observation, so every difference has an
    /// interval.
    ///
    /// # Errors
    /// When their units differ.
    ///
    /// # Panics
    /// When a tree has no such value type.
    pub fn of_units(
        a: (Input, Arc<Observations>),
        b: (Input, Arc<Observations>),
    ) -> Result<Self, DifferentUnits> {
        let (trees, observed) = ([a.0, b.0], [a.1, b.1]);
        let [unit_a, unit_b] = trees.each_ref().map(|(tree, value)| {
            let kind = &tree.value_types()[*value];
            kind.unit.clone()
        });
        if unit_a != unit_b {
            let (a, b) = (unit_a, unit_b);
            return Err(DifferentUnits { a, b });
        }
        let (names, of_frames) = Names::of(&trees.each_ref().map(|it| &*it.0));
        let mut of_frames = of_frames.into_iter();
        let trees = trees.map(|(tree, value)| {
            let of_frames = of_frames.next().expect("there are those of each tree");
            Index::new(tree, value, names.len(), of_frames)
        });
        Ok(ComparativeProfile {
            inputs: Arc::new(Inputs::of_units(trees, observed)),
            unit: unit_a,
            names,
        })
    }

    /// The unit of all costs: the finest of the inputs' units.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// A summary from the occurrences in each tree. `None` when no tree has the path.
    fn summary(&self, of: impl FnMut(&Index) -> Occurrences) -> Option<ComparativeSummary> {
        let all: Arc<[Occurrences]> = self.inputs.trees().iter().map(of).collect();
        let mut each = all.iter().zip(self.inputs.trees());
        let present = each.any(|(it, tree)| !it.is_empty(tree));
        present.then_some(ComparativeSummary(all))
    }

    fn find(&self, path: &[NameId]) -> Option<ComparativeSummary> {
        self.summary(|tree| Occurrences::find(tree, path))
    }

    fn each<'a>(
        &'a self,
        s: &'a ComparativeSummary,
    ) -> impl Iterator<Item = (&'a Occurrences, &'a Index)> {
        s.0.iter().zip(self.inputs.trees())
    }

    /// The extensions in any tree, sorted by name, each with its occurrences in every tree.
    fn all(&self, s: &ComparativeSummary, end: End) -> Vec<(NameId, Vec<Vec<Occurrence>>)> {
        let of = |(it, tree): (&Occurrences, &Index)| end.all_extensions(tree, it);
        let trees: Vec<Extensions> = self.each(s).map(of).collect();
        let mut trees: Vec<_> = trees
            .into_iter()
            .map(|it| it.into_iter().peekable())
            .collect();
        let mut all = Vec::new();
        while let Some(name) = trees
            .iter_mut()
            .filter_map(|it| it.peek().map(|it| it.0))
            .min()
        {
            let these = trees.iter_mut().map(|it| it.next_if(|it| it.0 == name));
            all.push((
                name,
                these.map(|it| it.map_or(Vec::new(), |it| it.1)).collect(),
            ));
        }
        all
    }

    fn extensions(&self, s: &ComparativeSummary, end: End) -> Vec<ComparativeSummary> {
        let all = self.all(s, end).into_iter();
        all.map(|(name, trees)| {
            let path = end.extended(s.path(), name);
            let of = |these| Occurrences::of(path.clone(), these);
            ComparativeSummary(trees.into_iter().map(of).collect())
        })
        .collect()
    }

    fn extension_names(&self, s: &ComparativeSummary, end: End) -> Vec<&str> {
        let all = self.all(s, end).into_iter();
        all.map(|(name, _)| self.names.get(name)).collect()
    }

    fn extend(
        &self,
        s: &ComparativeSummary,
        name: &str,
        end: End,
    ) -> Result<ComparativeSummary, Refusal> {
        let extended = self.names.find(name).and_then(|name| {
            let path = end.extended(s.path(), name);
            let mut each = s.0.iter();
            self.summary(|tree| {
                let it = each
                    .next()
                    .expect("a summary has occurrences for each tree");
                Occurrences::of(path.clone(), end.extension(tree, it, name))
            })
        });
        extended.ok_or_else(|| end.absent(self.path_of(s), name))
    }

    fn total_of(
        &self,
        summaries: &[ComparativeSummary],
        region: impl for<'r> Fn(&'r Occurrences, &Index) -> &'r Arc<Region>,
    ) -> i64 {
        let trees = self.inputs.trees().iter().enumerate();
        let costs: Vec<i64> = trees
            .map(|(n, tree)| {
                let regions = summaries.iter().map(|s| &**region(&s.0[n], tree));
                Region::union(regions, tree).cost()
            })
            .collect();
        self.inputs.sides(&costs).delta()
    }

    /// The base in each tree.
    fn bases(&self, s: &ComparativeSummary) -> Vec<i64> {
        self.each(s).map(|(it, tree)| it.base(tree)).collect()
    }

    /// The cum in each tree.
    fn cums(&self, s: &ComparativeSummary) -> Vec<i64> {
        self.each(s).map(|(it, tree)| it.cum(tree)).collect()
    }

    /// The spread of the units' costs in the nodes of these regions. `None` unless units of work are compared.
    fn unit_spread(
        &self,
        s: &ComparativeSummary,
        region: impl for<'r> Fn(&'r Occurrences, &Index) -> &'r Arc<Region>,
    ) -> Option<Spread> {
        let mut samples = self.each(s).zip(self.inputs.observed()?);
        let mut next = || {
            let ((it, tree), observed) = samples.next()?;
            observed.sample(region(it, tree).intervals())
        };
        Some(Spread::between(next()?, next()?))
    }

    fn totals(&self) -> Sides {
        let totals: Vec<i64> = self.inputs.trees().iter().map(Index::total).collect();
        self.inputs.sides(&totals)
    }
}

impl ProfileInterface for ComparativeProfile {
    type Summary = ComparativeSummary;

    fn path_of(&self, s: &ComparativeSummary) -> Vec<&str> {
        s.path().iter().map(|&name| self.names.get(name)).collect()
    }

    fn initial_summaries(&self) -> Vec<ComparativeSummary> {
        let names = 0..self.names.len() as u32;
        // Each tree gets occurrences of its own, which cache their costs in that tree.
        names
            .filter_map(|name| self.summary(|_| Occurrences::of_name(name)))
            .collect()
    }

    fn top_extensions(&self, s: &ComparativeSummary) -> Vec<&str> {
        self.extension_names(s, End::Top)
    }

    fn bottom_extensions(&self, s: &ComparativeSummary) -> Vec<&str> {
        self.extension_names(s, End::Bottom)
    }

    fn extend_top(
        &self,
        s: &ComparativeSummary,
        name: &str,
    ) -> Result<ComparativeSummary, Refusal> {
        self.extend(s, name, End::Top)
    }

    fn extend_bottom(
        &self,
        s: &ComparativeSummary,
        name: &str,
    ) -> Result<ComparativeSummary, Refusal> {
        self.extend(s, name, End::Bottom)
    }

    fn trim_top(&self, s: &ComparativeSummary) -> Option<ComparativeSummary> {
        self.find(End::Top.trimmed(s.path())?)
    }

    fn trim_bottom(&self, s: &ComparativeSummary) -> Option<ComparativeSummary> {
        self.find(End::Bottom.trimmed(s.path())?)
    }

    fn base_of(&self, s: &ComparativeSummary) -> i64 {
        self.inputs.sides(&self.bases(s)).delta()
    }

    fn cum_of(&self, s: &ComparativeSummary) -> i64 {
        self.inputs.sides(&self.cums(s)).delta()
    }

    fn total_base_of(&self, summaries: &[ComparativeSummary]) -> i64 {
        self.total_of(summaries, Occurrences::along)
    }

    fn total_cum_of(&self, summaries: &[ComparativeSummary]) -> i64 {
        self.total_of(summaries, Occurrences::covered)
    }

    fn total(&self) -> i64 {
        self.totals().delta()
    }

    fn sides(&self) -> Option<Sides> {
        Some(self.totals())
    }

    fn sides_of(&self, s: &ComparativeSummary) -> Option<SummarySides> {
        Some(SummarySides {
            base: self.inputs.sides(&self.bases(s)),
            cum: self.inputs.sides(&self.cums(s)),
        })
    }

    fn spread_of(&self, s: &ComparativeSummary) -> Option<SummarySpread> {
        if self.inputs.observed().is_some() {
            return Some(SummarySpread {
                base: self.unit_spread(s, Occurrences::along)?,
                cum: self.unit_spread(s, Occurrences::covered)?,
            });
        }
        Some(SummarySpread {
            base: self.inputs.spread(&self.bases(s))?,
            cum: self.inputs.spread(&self.cums(s))?,
        })
    }

    fn summary_of(&self, path: &[&str]) -> Result<ComparativeSummary, Refusal> {
        let ids = self.names.path(path);
        ids.and_then(|ids| self.find(&ids))
            .ok_or_else(|| Refusal::absent(path))
    }

    fn top_summaries(&self, s: &ComparativeSummary) -> Vec<ComparativeSummary> {
        self.extensions(s, End::Top)
    }

    fn bottom_summaries(&self, s: &ComparativeSummary) -> Vec<ComparativeSummary> {
        self.extensions(s, End::Bottom)
    }

    fn running_total_cum_of(&self, summaries: &[ComparativeSummary]) -> Vec<i64> {
        let trees = self.inputs.trees();
        let mut covers: Vec<Cover> = trees.iter().map(|tree| Cover::new(tree.len())).collect();
        let mut costs = vec![0; trees.len()];
        let each = summaries.iter();
        each.map(|s| {
            let tree = self.each(s).zip(&mut covers).zip(&mut costs);
            for (((it, tree), cover), cost) in tree {
                *cost += it.add_to(cover, tree);
            }
            self.inputs.sides(&costs).delta()
        })
        .collect()
    }

    fn prepare(
        &self,
        summaries: &[ComparativeSummary],
    ) -> Option<Arc<dyn PreparedSummaries<ComparativeSummary>>> {
        let trees = self.inputs.trees().iter().enumerate();
        let regions = trees.map(|(n, tree)| {
            let all = || summaries.iter().map(|s| &s.0[n]);
            let along = Region::union(all().map(|it| &**it.along(tree)), tree);
            let covered = Region::union(all().map(|it| &**it.covered(tree)), tree);
            (along, covered)
        });
        Some(Arc::new(Regions {
            regions: regions.collect(),
            inputs: Arc::clone(&self.inputs),
        }))
    }

    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<ComparativeSummary> + 'a> {
        let trees = self.inputs.trees().iter().enumerate();
        let near = trees.map(|(n, tree)| (self.inputs.weight(n), TreeNearness::new(tree, fade)));
        Box::new(ComparativeNearness(near.collect()))
    }
}

/// For each tree, the nodes along several summaries, and all nodes that they cover.
#[derive(Debug)]
struct Regions {
    inputs: Arc<Inputs>,
    regions: Vec<(Region, Region)>,
}

impl PreparedSummaries<ComparativeSummary> for Regions {
    fn overlap(&self, s: &ComparativeSummary) -> Overlap {
        let each = || s.0.iter().zip(self.inputs.trees()).zip(&self.regions);
        let base = each().map(|((it, tree), (along, _))| along.shared(it.along(tree), tree));
        let base: Vec<i64> = base.collect();
        let cum = each().map(|((it, tree), (_, covered))| covered.shared(it.covered(tree), tree));
        let cum: Vec<i64> = cum.collect();
        Overlap {
            base: self.inputs.sides(&base).delta(),
            cum: self.inputs.sides(&cum).delta(),
        }
    }
}

/// The trees' nearness, each with its weight.
struct ComparativeNearness<'a>(Vec<(f64, TreeNearness<'a>)>);

impl ComparativeNearness<'_> {
    fn sum(
        &self,
        s: &ComparativeSummary,
        of: impl Fn(&TreeNearness<'_>, &Occurrences) -> f64,
    ) -> f64 {
        let each = self.0.iter().zip(&*s.0);
        each.map(|((weight, tree), it)| weight * of(tree, it)).sum()
    }
}

impl Nearness<ComparativeSummary> for ComparativeNearness<'_> {
    fn of(&self, s: &ComparativeSummary) -> f64 {
        self.sum(s, |tree, it| tree.of(it))
    }

    fn left(&self, s: &ComparativeSummary) -> i64 {
        self.sum(s, |tree, it| tree.left(it) as f64).round() as i64
    }

    fn left_at_top(&self, s: &ComparativeSummary) -> i64 {
        self.sum(s, |tree, it| tree.left_at_top(it) as f64).round() as i64
    }

    fn take(&mut self, s: &ComparativeSummary) {
        for ((_, tree), it) in self.0.iter_mut().zip(&*s.0) {
            tree.take(it);
        }
    }

    fn set_fade(&mut self, fade: f64) {
        self.0.iter_mut().for_each(|(_, tree)| tree.set_fade(fade));
    }
}
