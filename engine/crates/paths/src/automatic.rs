//! Automatic search: a few call sequences that together cover most of the cost, each long enough to say why.
//!
//! The paper leaves automation to suggesters (§2.3). This one does what its analyst does by hand: start where cost is near,
//! extend at the top while callers that are worth naming keep most of the cost, stop where many callers share it or where
//! the caller is costly itself, and take the overlap with what is found already into account.
//!
//! How precise the sequences can be depends on the profile. A fine [`Grain`] wants cost right at the path's end, and goes on
//! to callers that have little of it; a coarse one accepts paths further up and shorter. The search takes the finest that
//! reaches the wanted coverage. It is deterministic: equal choices are made by name.

use std::collections::HashSet;

use crate::interface::{ProfileInterface, cum_ovl};
use crate::nearness::Nearness;
use crate::queue::Queue;

/// How precise sequences must be.
#[derive(Clone, Copy, Debug)]
struct Grain {
    /// By how much cost counts less for each call between it and the path's end.
    fade: f64,
    /// How many calls below the path's end its cost may be, on average: `near >= fade ^ within` of the cost.
    within: f64,
    /// The part of the total that a caller must have to be worth naming.
    caller: f64,
}

/// The grains that are tried, the finest first.
const GRAINS: [Grain; 7] = [
    Grain::new(0.3, 0.2, 0.01),
    Grain::new(0.4, 0.6, 0.02),
    Grain::new(0.5, 1.0, 0.03),
    Grain::new(0.6, 2.0, 0.04),
    Grain::new(0.7, 3.0, 0.06),
    Grain::new(0.8, 4.0, 0.08),
    Grain::new(0.85, 6.0, 0.12),
];

impl Grain {
    const fn new(fade: f64, within: f64, caller: f64) -> Self {
        Grain {
            fade,
            within,
            caller,
        }
    }
}

/// A sequence is extended while callers worth naming keep this part of its cost.
const MOST: f64 = 0.5;

/// A name whose cum is this part of the total is on nearly every path, and says nothing about why.
const EVERYWHERE: f64 = 0.9;

/// Paths of fewer names are extended even by a name that is everywhere.
const SHORT: usize = 4;

/// What the automatic search may find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How many sequences at most.
    pub most: usize,
    /// The part of the total that they should cover, 0 to 1.
    pub target: f64,
    /// The part of the total that each must add, 0 to 1.
    pub least: f64,
    /// The longest sequence, in names.
    pub longest: usize,
}

impl Default for Options {
    /// Fourteen sequences of up to 32 names that cover 85 %, each half a percent. The paper's expert found fourteen that
    /// cover 82.7 % (Table 2).
    fn default() -> Self {
        Options {
            most: 14,
            target: 0.85,
            least: 0.005,
            longest: 32,
        }
    }
}

/// What the automatic search found.
#[derive(Clone, Debug)]
pub struct Automatic<S> {
    /// The sequences, the greatest marginal coverage first; of two that overlap, the more precise one first.
    pub found: Vec<Found<S>>,
    /// The cum of these and of what was known, without overlap, in the profile's unit.
    pub covered: i64,
    /// That as a fraction of the profile's total. 0 when the total is 0. In comparisons it may be above 1: other paths
    /// became cheaper.
    pub coverage: f64,
}

/// One call sequence.
#[derive(Clone, Debug)]
pub struct Found<S> {
    /// The sequence.
    pub summary: S,
    /// The part of its cum that no sequence before covers, in the profile's unit.
    pub marginal: i64,
}

/// Finds the sequences, beside those that are `known`: labelled already. In a comparison, those that make A more expensive
/// when it is, else those that make it cheaper; with several runs, only those that are told from noise.
pub fn automatic<P: ProfileInterface>(
    profile: &P,
    options: &Options,
    known: &[P::Summary],
) -> Automatic<P::Summary> {
    let search = Automation::new(profile, options, known);
    let mut best: Option<(f64, Vec<P::Summary>)> = None;
    // Coarser grains cover more: a binary search for the first that reaches the target.
    let (mut low, mut high) = (0, GRAINS.len());
    while low < high && search.total != 0.0 {
        let middle = (low + high) / 2;
        let chosen = search.with_grain(GRAINS[middle]);
        let coverage = search.part(search.covered(&chosen)[chosen.len()]);
        let reached = coverage >= options.target;
        if reached {
            high = middle;
        } else {
            low = middle + 1;
        }
        if reached || best.as_ref().is_none_or(|it| coverage > it.0) {
            best = Some((coverage, chosen));
        }
    }
    let chosen = best.map_or(Vec::new(), |it| it.1);
    search.report(search.arranged(chosen))
}

struct Automation<'a, P: ProfileInterface> {
    profile: &'a P,
    options: &'a Options,
    known: &'a [P::Summary],
    /// The profile's total; costs are multiplied by its sign.
    total: f64,
    /// The names that cost enough to be found.
    starts: Vec<P::Summary>,
    everywhere: HashSet<String>,
}

impl<'a, P: ProfileInterface> Automation<'a, P> {
    fn new(profile: &'a P, options: &'a Options, known: &'a [P::Summary]) -> Self {
        let mut search = Automation {
            profile,
            options,
            known,
            total: profile.total() as f64,
            starts: Vec::new(),
            everywhere: HashSet::new(),
        };
        for s in profile.initial_summaries() {
            let part = search.part(profile.cum_of(&s));
            if part >= EVERYWHERE {
                let path = profile.path_of(&s);
                search.everywhere.extend(path.into_iter().map(String::from));
            }
            if part >= options.least {
                search.starts.push(s);
            }
        }
        search
    }

    /// A cost as a fraction of the total.
    fn part(&self, cost: i64) -> f64 {
        cost as f64 / self.total
    }

    /// Greedy: again and again the name to which most cost is near, and not too far from it on average, made long.
    fn with_grain(&self, grain: Grain) -> Vec<P::Summary> {
        let mut nearness = self.profile.nearness(grain.fade);
        self.known.iter().for_each(|s| nearness.take(s));
        let focus = grain.fade.powf(grain.within);
        let mut chosen = Vec::new();
        let near = |s| nearness.of(s) / self.total;
        let mut queue = Queue::new(self.starts.iter().map(near));
        while chosen.len() < self.options.most {
            let near = |n: usize| nearness.of(&self.starts[n]) / self.total;
            let precise = |n: usize, near: f64| {
                let left = self.part(nearness.left(&self.starts[n]));
                near >= focus * left
            };
            let Some(n) = queue.best(self.options.least, near, precise) else {
                break;
            };
            let s = self.lengthen(self.starts[n].clone(), grain, nearness.as_ref());
            let noise = || {
                let spread = self.profile.spread_of(&s);
                spread.is_some_and(|it| !it.cum.significant())
            };
            if self.part(nearness.left(&s)) < self.options.least || noise() {
                queue.drop(n);
                continue;
            }
            nearness.take(&s);
            chosen.push(s);
        }
        chosen
    }

    /// The path made as long as its cost allows.
    fn lengthen(
        &self,
        start: P::Summary,
        grain: Grain,
        nearness: &dyn Nearness<P::Summary>,
    ) -> P::Summary {
        let near = |s: &P::Summary| nearness.of(s) / self.total;
        let least = MOST * near(&start);
        let mut s = start;
        let mut length = self.profile.path_of(&s).len();
        while length < self.options.longest {
            let all = self.profile.top_summaries(&s);
            let values: Vec<f64> = all.iter().map(near).collect();
            let Some(best) = greatest(&values) else {
                break;
            };
            let named: f64 = values.iter().filter(|&&it| it >= grain.caller).sum();
            let next = &all[best];
            let says_nothing =
                length >= SHORT && self.everywhere.contains(self.profile.path_of(next)[0]);
            let costly_itself = self.part(nearness.left_at_top(next)) > values[best] * MOST;
            let kept = values[best] >= least || named >= MOST * near(&s);
            if !kept || says_nothing || costly_itself {
                break;
            }
            s = next.clone();
            length += 1;
        }
        while length < self.options.longest {
            let all = self.profile.bottom_summaries(&s);
            let values: Vec<f64> = all.iter().map(near).collect();
            // Down only to where the cost is nearer.
            match greatest(&values) {
                Some(best) if values[best] >= near(&s) => s = all[best].clone(),
                _ => break,
            }
            length += 1;
        }
        s
    }

    /// What is covered by what is known, and then by each more of these.
    fn covered(&self, chosen: &[P::Summary]) -> Vec<i64> {
        let all = [self.known, chosen].concat();
        let totals = self.profile.running_total_cum_of(&all);
        match self.known.len() {
            0 => [0].into_iter().chain(totals).collect(),
            known => totals[known - 1..].to_vec(),
        }
    }

    /// The greatest marginal coverage first, except that of two that overlap the one found first stays first: it is the
    /// more precise.
    fn arranged(&self, chosen: Vec<P::Summary>) -> Vec<P::Summary> {
        let covered = self.covered(&chosen).into_iter();
        let covered: Vec<f64> = covered.map(|it| self.part(it)).collect();
        let marginal: Vec<f64> = covered.windows(2).map(|it| it[1] - it[0]).collect();
        let overlap = |n: usize, m: usize| {
            let (s, other) = (&chosen[n], std::slice::from_ref(&chosen[m]));
            cum_ovl(self.profile, s, other) != 0
        };
        let waits_for: Vec<Vec<usize>> = (0..chosen.len())
            .map(|n| (0..n).filter(|&m| overlap(n, m)).collect())
            .collect();
        let mut order: Vec<usize> = Vec::new();
        while order.len() < chosen.len() {
            let free = (0..chosen.len())
                .filter(|n| !order.contains(n) && waits_for[*n].iter().all(|m| order.contains(m)));
            let next = free.reduce(|a, b| if marginal[b] > marginal[a] { b } else { a });
            order.push(next.expect("the first that is left waits only for those before it"));
        }
        order.into_iter().map(|n| chosen[n].clone()).collect()
    }

    fn report(&self, chosen: Vec<P::Summary>) -> Automatic<P::Summary> {
        let totals = self.covered(&chosen);
        let covered = totals[chosen.len()];
        let found = chosen.into_iter().zip(totals.windows(2));
        let found = found.map(|(summary, totals)| Found {
            summary,
            marginal: totals[1] - totals[0],
        });
        Automatic {
            found: found.collect(),
            covered,
            coverage: if self.total == 0.0 {
                0.0
            } else {
                self.part(covered)
            },
        }
    }
}

/// The position of the first of the greatest.
fn greatest(values: &[f64]) -> Option<usize> {
    let all = 0..values.len();
    all.reduce(|a, b| if values[b] > values[a] { b } else { a })
}
