//! The profile interface for one call tree (BOTTLENECKS §2.2).

pub(crate) mod ahead;
pub(crate) mod calls;
pub(crate) mod extensions;
pub(crate) mod find;
pub(crate) mod index;
pub(crate) mod named;
pub(crate) mod names;
pub(crate) mod nearness;
pub(crate) mod occurrences;
pub(crate) mod region;
mod running;

use std::sync::Arc;
use std::thread;

use fulcrum_model::{CallTree, both};

use crate::profile::call_tree::extensions::Family;
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::Names;
use crate::profile::call_tree::nearness::TreeNearness;
use crate::profile::call_tree::occurrences::Occurrences;
use crate::profile::call_tree::region::{Cover, Region};
use crate::profile::end::End;
use crate::profile::interface::{
    FunctionCosts, Overlap, PreparedSummaries, ProfileInterface, Refusal,
};
use crate::profile::nearness::Nearness;

/// With at least this many occurrences, a second thread is worth starting.
const MANY: usize = 20_000;

/// A call tree and the value type that is searched.
#[derive(Debug)]
pub struct CallTreeProfile {
    names: Names,
    index: Arc<Index>,
}

/// A summary of a [`CallTreeProfile`]: a path and where it occurs.
#[derive(Clone, Debug)]
pub struct CallTreeSummary(Occurrences);

impl CallTreeProfile {
    /// Prepares a tree for searching one of its value types. Takes a pass over the nodes and 20 bytes a node.
    ///
    /// # Panics
    /// When the tree has no such value type.
    pub fn new(tree: Arc<CallTree>, value_type: usize) -> Self {
        let (names, mut of_frames) = Names::of(&[&tree]);
        let of_frames = of_frames.pop().expect("there are those of the tree");
        let index = Arc::new(Index::new(tree, value_type, names.len(), of_frames));
        CallTreeProfile { names, index }
    }

    /// Computes what steps of a search need from the whole tree, so that no step has to: which functions call which, and sums
    /// for long paths. Takes 12 bytes a node and 36 bytes for each pair of functions. Without it, steps are correct but slower.
    pub fn prepare_steps(&self) {
        self.index.prepare_steps();
    }

    /// The same, in a background thread.
    pub(crate) fn prepare_steps_in_background(&self) {
        let index = Arc::clone(&self.index);
        drop(thread::Builder::new().spawn(move || index.prepare_steps()));
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// The nodes of the tree that begin an occurrence of the summary's path, ascending: the paper's roots.
    pub fn roots_of(&self, s: &CallTreeSummary) -> Vec<u32> {
        let mut roots = Vec::new();
        s.0.each(&self.index, |it| roots.push(it.first));
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// The cost of the union of sets.
    fn union<'r>(&self, regions: impl Iterator<Item = &'r Arc<Region>>) -> i64 {
        let regions = regions.map(|region| &**region);
        Region::union(regions, &*self.index).cost()
    }

    fn extensions(&self, s: &CallTreeSummary, end: End) -> Vec<CallTreeSummary> {
        let all = end.all_extensions(&self.index, &s.0).into_iter();
        let of = |(name, these)| Occurrences::of(end.extended(s.0.path(), name), these);
        all.map(of).map(CallTreeSummary).collect()
    }

    /// The same, for callers that need the cost of all extensions but the occurrences of few.
    fn costed(&self, s: &CallTreeSummary, end: End) -> Vec<CallTreeSummary> {
        if let [name] = s.0.path()[..]
            && let Some(calls) = self.index.known_calls()
        {
            let calls = end.extending_calls(calls, name).into_iter();
            let of = |call| CallTreeSummary(Occurrences::of_call(&self.index, &call));
            return calls.map(of).collect();
        }
        if !s.0.are_disjoint(&self.index) {
            let all = self.extensions(s, end);
            let mut marks = Cover::new(self.index.len());
            let count = |s: &CallTreeSummary| s.0.count_shared(&self.index, &mut marks);
            all.iter().for_each(count);
            return all;
        }
        let family = Family::new(s.0.clone(), end);
        let all = end.extension_costs(&self.index, &s.0).into_iter();
        all.map(|(name, costs)| {
            let again = s.0.path().contains(&name);
            let path = end.extended(s.0.path(), name);
            let costs = (!again).then_some(costs);
            CallTreeSummary(Occurrences::later(path, family.by(name), costs))
        })
        .collect()
    }

    fn extension_names(&self, s: &CallTreeSummary, end: End) -> Vec<&str> {
        let all = end.all_extensions(&self.index, &s.0).into_iter();
        all.map(|(name, _)| self.names.get(name)).collect()
    }

    fn extend(
        &self,
        s: &CallTreeSummary,
        name: &str,
        end: End,
    ) -> Result<CallTreeSummary, Refusal> {
        let extended = self.names.find(name).map(|name| {
            let path = end.extended(s.0.path(), name);
            Occurrences::of(path, end.extension(&self.index, &s.0, name))
        });
        match extended {
            Some(it) if !it.is_empty(&self.index) => Ok(CallTreeSummary(it)),
            _ => Err(end.absent(self.path_of(s), name)),
        }
    }

    fn trim(&self, s: &CallTreeSummary, end: End) -> Option<CallTreeSummary> {
        let path = end.trimmed(s.0.path())?;
        let before = s.0.extended(path).cloned();
        let found = before.unwrap_or_else(|| Occurrences::find(&self.index, path));
        Some(CallTreeSummary(found))
    }
}

impl ProfileInterface for CallTreeProfile {
    type Summary = CallTreeSummary;

    fn path_of(&self, s: &CallTreeSummary) -> Vec<&str> {
        s.0.path()
            .iter()
            .map(|&name| self.names.get(name))
            .collect()
    }

    fn initial_summaries(&self) -> Vec<CallTreeSummary> {
        let names = 0..self.names.len() as u32;
        let all = names.map(Occurrences::of_name);
        all.filter(|it| !it.is_empty(&self.index))
            .map(CallTreeSummary)
            .collect()
    }

    fn functions(&self) -> Vec<FunctionCosts<'_>> {
        let names = 0..self.names.len() as u32;
        let called = names.filter(|&name| !self.index.nodes_of(name).is_empty());
        let costs = called.map(|name| {
            let (base, cum) = self.index.name_cost(name);
            FunctionCosts {
                name: self.names.get(name),
                base,
                cum,
                sides: None,
            }
        });
        costs.collect()
    }

    fn top_extensions(&self, s: &CallTreeSummary) -> Vec<&str> {
        self.extension_names(s, End::Top)
    }

    fn bottom_extensions(&self, s: &CallTreeSummary) -> Vec<&str> {
        self.extension_names(s, End::Bottom)
    }

    fn extend_top(&self, s: &CallTreeSummary, name: &str) -> Result<CallTreeSummary, Refusal> {
        self.extend(s, name, End::Top)
    }

    fn extend_bottom(&self, s: &CallTreeSummary, name: &str) -> Result<CallTreeSummary, Refusal> {
        self.extend(s, name, End::Bottom)
    }

    fn trim_top(&self, s: &CallTreeSummary) -> Option<CallTreeSummary> {
        self.trim(s, End::Top)
    }

    fn trim_bottom(&self, s: &CallTreeSummary) -> Option<CallTreeSummary> {
        self.trim(s, End::Bottom)
    }

    fn base_of(&self, s: &CallTreeSummary) -> i64 {
        s.0.base(&self.index)
    }

    fn cum_of(&self, s: &CallTreeSummary) -> i64 {
        s.0.cum(&self.index)
    }

    fn total_base_of(&self, summaries: &[CallTreeSummary]) -> i64 {
        match summaries {
            [one] => self.base_of(one),
            all => self.union(all.iter().map(|s| s.0.along(&self.index))),
        }
    }

    fn total_cum_of(&self, summaries: &[CallTreeSummary]) -> i64 {
        match summaries {
            [one] => self.cum_of(one),
            all => self.union(all.iter().map(|s| s.0.covered(&self.index))),
        }
    }

    fn total(&self) -> i64 {
        self.index.total()
    }

    fn summary_of(&self, path: &[&str]) -> Result<CallTreeSummary, Refusal> {
        let ids = self.names.path(path);
        let found = ids.map(|ids| Occurrences::find(&self.index, &ids));
        match found {
            Some(it) if !it.is_empty(&self.index) => Ok(CallTreeSummary(it)),
            _ => Err(Refusal::absent(path)),
        }
    }

    fn top_summaries(&self, s: &CallTreeSummary) -> Vec<CallTreeSummary> {
        self.extensions(s, End::Top)
    }

    fn bottom_summaries(&self, s: &CallTreeSummary) -> Vec<CallTreeSummary> {
        self.extensions(s, End::Bottom)
    }

    fn costed_summaries(&self, s: &CallTreeSummary, end: End) -> Vec<CallTreeSummary> {
        self.costed(s, end)
    }

    fn costed_at_both_ends(&self, s: &CallTreeSummary) -> [Vec<CallTreeSummary>; 2] {
        let [top, bottom] = [End::Top, End::Bottom].map(|end| move || self.costed(s, end));
        // Counting computes the occurrences, for which both threads would wait.
        let known = s.0.path().len() == 1 && self.index.known_calls().is_some();
        if known || !self.is_frequent(s) {
            return [top(), bottom()];
        }
        let (top, bottom) = both(top, bottom);
        [top, bottom]
    }

    fn running_total_cum_of(&self, summaries: &[CallTreeSummary]) -> Vec<i64> {
        let mut cover = Cover::new(self.index.len());
        let mut total = 0;
        let each = summaries.iter();
        each.map(|s| {
            total += s.0.add_to(&mut cover, &self.index);
            total
        })
        .collect()
    }

    fn is_frequent(&self, s: &CallTreeSummary) -> bool {
        s.0.count(&self.index) >= MANY
    }

    fn running_total_cum_of_extensions(
        &self,
        s: &CallTreeSummary,
        end: End,
        extensions: &[CallTreeSummary],
    ) -> Vec<i64> {
        let all: Vec<&Occurrences> = extensions.iter().map(|it| &it.0).collect();
        let totals = running::totals(&self.index, &s.0, end, &all);
        totals.unwrap_or_else(|| self.running_total_cum_of(extensions))
    }

    fn prepare(
        &self,
        summaries: &[CallTreeSummary],
    ) -> Option<Arc<dyn PreparedSummaries<CallTreeSummary>>> {
        let index = &self.index;
        let all = || summaries.iter().map(|it| &it.0);
        Some(Arc::new(Regions {
            along: Region::union(all().map(|it| &**it.along(index)), &**index),
            covered: Region::union(all().map(|it| &**it.covered(index)), &**index),
            index: Arc::clone(index),
        }))
    }

    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<CallTreeSummary> + 'a> {
        Box::new(CallTreeNearness(TreeNearness::new(&self.index, fade)))
    }
}

/// The nodes that several summaries cover.
#[derive(Debug)]
struct Regions {
    index: Arc<Index>,
    along: Region,
    covered: Region,
}

impl PreparedSummaries<CallTreeSummary> for Regions {
    fn overlap(&self, s: &CallTreeSummary) -> Overlap {
        let index = &self.index;
        Overlap {
            base: s.0.along_shared(&self.along, index),
            cum: s.0.covered_shared(&self.covered, index),
        }
    }
}

struct CallTreeNearness<'a>(TreeNearness<'a>);

impl Nearness<CallTreeSummary> for CallTreeNearness<'_> {
    fn of(&self, s: &CallTreeSummary) -> f64 {
        self.0.of(&s.0)
    }

    fn left(&self, s: &CallTreeSummary) -> i64 {
        self.0.left(&s.0)
    }

    fn left_at_top(&self, s: &CallTreeSummary) -> i64 {
        self.0.left_at_top(&s.0)
    }

    fn take(&mut self, s: &CallTreeSummary) {
        self.0.take(&s.0);
    }

    fn set_fade(&mut self, fade: f64) {
        self.0.set_fade(fade);
    }
}
