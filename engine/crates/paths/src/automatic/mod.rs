//! Automatic search: finds a few call sequences that together cover most of the cost, each long enough to explain it.
//!
//! The paper leaves automation to suggesters (§2.3). This search does what the paper's analyst does by hand. It starts where cost
//! is near, extends at the top while one caller keeps nearly all of it, stops where many callers share it or where the caller is
//! costly itself, and takes the overlap with earlier sequences into account. A path that is too short to explain its cost is
//! extended by the largest of a few callers that are worth naming; the other callers are found later. The functions at which
//! threads begin are not worth naming.
//!
//! How precise sequences can be depends on the profile. A fine [`Grain`] demands that the cost is right at the path's end; a coarse
//! one accepts paths further up. The search begins with the finest grain, and each coarser one searches what is left. How much a
//! sequence must add depends on how much each of the remaining ones must add to reach the target, so that trifles do not take
//! their places. The search is deterministic: ties are decided by name.

mod entries;
mod queue;
pub(crate) mod suggestions;

use std::collections::HashSet;

use fulcrum_model::{Cancelled, Progress};

use crate::automatic::entries::{is_main, is_start};
use crate::automatic::queue::Queue;
use crate::profile::denominator::Denominator;
use crate::profile::interface::{ProfileInterface, cum_ovl};
use crate::profile::nearness::Nearness;

/// How precise sequences must be.
#[derive(Clone, Copy, Debug)]
struct Grain {
    /// The factor by which cost counts less for each call between it and the path's end.
    fade: f64,
    /// How many calls below the path's end the cost may be on average: `near >= fade ^ within` of the cost.
    within: f64,
}

/// The grains, the finest first.
const GRAINS: [Grain; 4] = [
    Grain::new(0.4, 0.6),
    Grain::new(0.6, 2.0),
    Grain::new(0.75, 3.5),
    Grain::new(0.85, 6.0),
];

impl Grain {
    const fn new(fade: f64, within: f64) -> Self {
        Grain { fade, within }
    }

    /// The least part of the cost that must be near.
    fn focus(self) -> f64 {
        self.fade.powf(self.within)
    }
}

/// A sequence is extended by a caller that keeps at least this part of its cost, because the rest is lost.
const KEEPS: f64 = 0.9;

/// Paths with fewer names are also extended by one of several callers, if those worth naming keep [`NAMED`] of the cost.
const SAYS_WHY: usize = 5;

/// See [`SAYS_WHY`].
const NAMED: f64 = 0.6;

/// A caller is costly itself if its own cost is more than this part of what it calls.
const ITSELF: f64 = 0.5;

/// A sequence must add at least this part of what each remaining one has to add on average. A second round gives the places that
/// are left to smaller sequences.
const WORTH: [f64; 2] = [0.25, 0.0];

/// One of several callers is worth naming if it has this part of what a sequence must add.
const CALLER: f64 = 0.3;

/// A sequence must add this part of its cum. Otherwise it repeats earlier ones.
const NEW: f64 = 0.5;

/// If a sequence adds little of its cum, or its last name is everywhere, this part of what it adds must be its own cost.
const OWN: f64 = 0.8;

/// Longer paths are more precise than their last name alone, but hardly by more than this factor.
const SHARPER: f64 = 2.0;

/// A name whose cum is this part of the total is on nearly every path and explains nothing.
const EVERYWHERE: f64 = 0.9;

/// Paths with at most this many names may begin with a name that is everywhere.
const SHORT: usize = 4;

/// By which of several callers a short path may be extended.
#[derive(Clone, Copy, Debug)]
enum Callers {
    /// Any caller with as much cost as a sequence must add.
    All,
    /// Only callers with as much cost as each sequence has to add on average.
    Great,
}

/// Which sequences a round accepts.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    grain: Grain,
    /// One of [`WORTH`].
    worth: f64,
    callers: Callers,
}

/// What the automatic search may find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The greatest number of sequences.
    pub most: usize,
    /// The part of the denominator that they should cover together, 0 to 1.
    pub target: f64,
    /// The part of the denominator that each must add, 0 to 1.
    pub least: f64,
    /// The longest sequence, in names.
    pub longest: usize,
}

impl Default for Options {
    /// Fourteen sequences of up to 32 names that cover 85 %, each at least half a percent. The paper's expert found fourteen
    /// that cover 82.7 % (Table 2).
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
    /// The sequences, by descending marginal coverage; of two that overlap, the more precise one comes first.
    pub found: Vec<Found<S>>,
    /// The cum of found and known sequences together, in the profile's unit.
    pub covered: i64,
    /// The same as a fraction of the denominator; 0 when that is 0. In comparisons it may be above 1, because other paths became
    /// cheaper.
    pub coverage: f64,
    /// The denominator: what was to be covered.
    pub whole: Denominator,
}

/// One call sequence.
#[derive(Clone, Debug)]
pub struct Found<S> {
    /// The sequence.
    pub summary: S,
    /// The part of its cum that no earlier sequence covers, in the profile's unit.
    pub marginal: i64,
}

/// Finds sequences in addition to the `known` ones, which are labelled already. `whole` is the profile's denominator. In a
/// comparison in which A costs more, or nearly the same as B ([`Denominator`]), the search finds what makes A more expensive;
/// otherwise, what makes it cheaper. With several inputs on each side, it finds only significant differences.
///
/// # Errors
/// [`Cancelled`] when `progress` was cancelled.
pub fn automatic<P: ProfileInterface>(
    profile: &P,
    options: &Options,
    known: &[P::Summary],
    whole: Denominator,
    progress: &Progress,
) -> Result<Automatic<P::Summary>, Cancelled> {
    progress.at(0.0)?;
    let search = Automation::new(profile, options, known, whole);
    let chosen = search.choose(progress)?;
    progress.at(1.0)?;
    Ok(search.report(search.arranged(chosen)))
}

struct Automation<'a, P: ProfileInterface> {
    profile: &'a P,
    options: &'a Options,
    known: &'a [P::Summary],
    /// What is to be covered.
    whole: Denominator,
    /// The paths with one name that cost enough to be found.
    starts: Vec<P::Summary>,
    everywhere: HashSet<String>,
}

impl<'a, P: ProfileInterface> Automation<'a, P> {
    fn new(
        profile: &'a P,
        options: &'a Options,
        known: &'a [P::Summary],
        whole: Denominator,
    ) -> Self {
        let mut search = Automation {
            profile,
            options,
            known,
            whole,
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

    /// A cost as a fraction of the denominator, positive if both have the same sign.
    fn part(&self, cost: i64) -> f64 {
        self.whole.part(cost)
    }

    /// How close cost is to the path, as a fraction of the denominator.
    fn near(&self, s: &P::Summary, nearness: &dyn Nearness<P::Summary>) -> f64 {
        nearness.of(s) / self.whole.cost as f64
    }

    /// Extending by one of several callers is more precise and takes more places. If the places run out, a second search extends
    /// only by large callers, and is preferred if it covers more. If they do not run out, it cannot find more.
    fn choose(&self, progress: &Progress) -> Result<Vec<P::Summary>, Cancelled> {
        if self.whole.cost == 0 {
            return Ok(Vec::new());
        }
        let (all, missing) = self.search(Callers::All, &progress.part(0.0, 0.5))?;
        if missing <= 0.0 || all.len() < self.options.most {
            return Ok(all);
        }
        let (great, more_missing) = self.search(Callers::Great, &progress.part(0.5, 1.0))?;
        Ok(if more_missing < missing { great } else { all })
    }

    /// Searches with one grain after the other until enough is covered. Also returns the part of the target that is missing.
    fn search(
        &self,
        callers: Callers,
        progress: &Progress,
    ) -> Result<(Vec<P::Summary>, f64), Cancelled> {
        let mut chosen = Vec::new();
        let mut nearness = self.profile.nearness(GRAINS[0].fade);
        self.known.iter().for_each(|s| nearness.take(s));
        let known = self.part(self.profile.total_cum_of(self.known));
        let mut missing = self.options.target - known;
        let rounds = WORTH.iter().flat_map(|it| GRAINS.map(|grain| (*it, grain)));
        let rounds: Vec<_> = rounds.collect();
        for (n, &(worth, grain)) in rounds.iter().enumerate() {
            if missing <= 0.0 && n > 0 || chosen.len() == self.options.most {
                break;
            }
            let count = rounds.len() as f64;
            let progress = progress.part(n as f64 / count, (n + 1) as f64 / count);
            nearness.set_fade(grain.fade);
            let sizes = Sizes {
                grain,
                worth,
                callers,
            };
            self.with_grain(
                sizes,
                nearness.as_mut(),
                &mut missing,
                &mut chosen,
                &progress,
            )?;
        }
        Ok((chosen, missing))
    }

    /// Greedily takes the name to which most cost is near, if the cost is not too far on average, and lengthens it.
    fn with_grain(
        &self,
        Sizes {
            grain,
            worth,
            callers,
        }: Sizes,
        nearness: &mut dyn Nearness<P::Summary>,
        missing: &mut f64,
        chosen: &mut Vec<P::Summary>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let focus = grain.focus();
        let near = |s| self.near(s, nearness);
        let mut queue = Queue::new(self.starts.iter().map(near));
        while chosen.len() < self.options.most {
            progress.at(chosen.len() as f64 / self.options.most as f64)?;
            let most = self.options.target / self.options.most as f64;
            let places = (self.options.most - chosen.len()) as f64;
            // Beyond the target, accept only sequences as large as those that led there.
            let each = match *missing > 0.0 {
                true => (*missing / places).min(most),
                false if worth > 0.0 => most,
                false => break,
            };
            let least = self.options.least.max(worth * each);
            let near = |s: &P::Summary| self.near(s, nearness);
            let Some(n) = queue.best(least, |n| near(&self.starts[n])) else {
                break;
            };
            let start = &self.starts[n];
            if SHARPER * near(start) < focus * self.part(nearness.left(start)) {
                queue.drop();
                continue;
            }
            let caller = match callers {
                Callers::All => least,
                Callers::Great => each,
            };
            let s = self.lengthen(start.clone(), least, caller, nearness);
            // Lengthening takes most of the time, so report again.
            progress.at(chosen.len() as f64 / self.options.most as f64)?;
            let adds = self.part(nearness.left(&s));
            if adds < least || !self.is_worth_adding(&s, adds, near(&s), grain) {
                queue.drop();
                continue;
            }
            nearness.take(&s);
            *missing -= adds;
            chosen.push(s);
        }
        Ok(())
    }

    /// Whether a sequence that adds a part `adds` of the denominator, of which `near` is near, is precise and new enough, and
    /// significant.
    fn is_worth_adding(&self, s: &P::Summary, adds: f64, near: f64, grain: Grain) -> bool {
        let noise = || {
            let spread = self.profile.spread_of(s);
            spread.is_some_and(|it| !it.cum.significant())
        };
        let new = adds >= NEW * self.part(self.profile.cum_of(s));
        let own = near >= (OWN + (1.0 - OWN) * grain.fade) * adds;
        let specific = new && !self.is_everywhere(s);
        near >= grain.focus() * adds && (specific || own) && !noise()
    }

    /// Makes the path as long as its cost allows. It should add `least` of the denominator. It is extended by one of several
    /// callers only if that has at least the part `caller`.
    fn lengthen(
        &self,
        start: P::Summary,
        least: f64,
        caller: f64,
        nearness: &dyn Nearness<P::Summary>,
    ) -> P::Summary {
        let near = |s: &P::Summary| self.near(s, nearness);
        let mut kept = KEEPS * near(&start);
        let (mut s, mut shorter) = (start, Vec::new());
        let mut length = self.profile.path_of(&s).len();
        while length < self.options.longest {
            let all = self.profile.top_summaries(&s);
            let values: Vec<f64> = all.iter().map(near).collect();
            let Some(best) = greatest(&values) else {
                break;
            };
            let next = &all[best];
            if self.part(nearness.left_at_top(next)) > values[best] * ITSELF {
                break;
            }
            let caller_name = self.profile.path_of(next)[0];
            if is_start(caller_name) {
                break;
            }
            if values[best] < kept {
                // The same work in several threads is one sequence.
                let first = |s| self.profile.path_of(s)[0];
                if is_main(caller_name) && all.iter().any(|it| is_start(first(it))) {
                    break;
                }
                let named = values.iter().filter(|&&it| it >= CALLER * least);
                let named: f64 = named.sum();
                if length >= SAYS_WHY || values[best] < caller || named < NAMED * near(&s) {
                    break;
                }
                // The other callers become sequences of their own.
                kept = KEEPS * values[best];
            }
            shorter.push(std::mem::replace(&mut s, next.clone()));
            length += 1;
        }
        // A name that is everywhere explains nothing at the beginning of a path.
        while length > SHORT && self.everywhere.contains(self.profile.path_of(&s)[0]) {
            let Some(before) = shorter.pop() else {
                break;
            };
            s = before;
            length -= 1;
        }
        self.lengthen_at_bottom(s, length, nearness)
    }

    /// Extends a path of this length at the bottom, as long as the cost is nearer there.
    fn lengthen_at_bottom(
        &self,
        mut s: P::Summary,
        length: usize,
        nearness: &dyn Nearness<P::Summary>,
    ) -> P::Summary {
        let near = |s: &P::Summary| self.near(s, nearness);
        for _ in length..self.options.longest {
            let all = self.profile.bottom_summaries(&s);
            let values: Vec<f64> = all.iter().map(near).collect();
            match greatest(&values) {
                Some(best) if values[best] >= near(&s) => s = all[best].clone(),
                _ => break,
            }
        }
        s
    }

    fn is_everywhere(&self, s: &P::Summary) -> bool {
        let path = self.profile.path_of(s);
        path.last().is_some_and(|it| self.everywhere.contains(*it))
    }

    /// The cost that the known sequences cover, and then with each further one.
    fn covered(&self, chosen: &[P::Summary]) -> Vec<i64> {
        let all = [self.known, chosen].concat();
        let totals = self.profile.running_total_cum_of(&all);
        match self.known.len() {
            0 => [0].into_iter().chain(totals).collect(),
            known => totals[known - 1..].to_vec(),
        }
    }

    /// Sorts by descending marginal coverage. Of two sequences that overlap, the one found first stays first, because it is more
    /// precise.
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
            order.push(next.expect("the first of the rest waits only for sequences before it"));
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
            coverage: self.part(covered),
            whole: self.whole,
        }
    }
}

/// The position of the first greatest value.
fn greatest(values: &[f64]) -> Option<usize> {
    let all = 0..values.len();
    all.reduce(|a, b| if values[b] > values[a] { b } else { a })
}
