//! Steady state: did experiments measure where a speedup leads, or the way there?
//!
//! A stage that becomes faster first empties the queue before it and fills the queue after it. Only then does the program reach
//! the pace that it will keep. Experiments warm up first, and each counts the visits of its first half separately. A speedup whose
//! second halves have another pace than its first halves has not settled. The baseline is the control: a phase of the program
//! that ends during experiments changes the pace there as well.
//!
//! When the speedup ends, the queue that it filled has to empty again: a baseline that follows a speedup may begin at that speedup's
//! pace. Baselines that follow baselines are the control for this.
//!
//! A target that has not settled warms up three times as long from then on ([`next_warmups`]). Its earlier experiments are left
//! out as soon as new ones say as much ([`up_to_date`]). A target that does not settle even so is flagged.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{Experiment, Recording};
use fulcrum_stats::{Sample, Welch, welch};

/// A change of pace that matters, as a fraction.
const DRIFT: f64 = 0.03;
/// The probability with which noise alone may look like a drift of one kind anywhere in a recording.
const RARE: f64 = 0.005;
/// With fewer experiments at a speedup, it is not tested.
const FEWEST: usize = 4;
/// With fewer baselines after a speedup, or after none, what a speedup leaves behind is not tested.
const FEWEST_AFTER: usize = 3;
/// Baselines that are needed before experiments with a shorter warm-up are left out.
const BASELINES: usize = 2;
/// By how much a warm-up becomes longer.
const FACTOR: u32 = 3;
/// No warm-up is longer.
pub const LONGEST_WARMUP: Duration = Duration::from_secs(2);

/// A speedup in ten-thousandths, for comparing.
fn level(experiment: &Experiment) -> u32 {
    (experiment.speedup * 10_000.0).round() as u32
}

/// The longest warm-up of each target, nanoseconds.
fn longest(recording: &Recording) -> BTreeMap<&TargetId, u64> {
    let mut longest: BTreeMap<&TargetId, u64> = BTreeMap::new();
    for experiment in &recording.experiments {
        if let Some(warmup) = experiment.warmup_ns {
            let known = longest.entry(&experiment.selected).or_default();
            *known = warmup.max(*known);
        }
    }
    longest
}

fn has_longest(longest: &BTreeMap<&TargetId, u64>, experiment: &Experiment) -> bool {
    let known = longest.get(&experiment.selected);
    known.is_none_or(|known| experiment.warmup_ns.is_none_or(|own| own >= *known))
}

/// Which of the `kept` experiments count: those with their target's longest warm-up, as soon as these include [`BASELINES`] and
/// every speedup of the others; until then, all.
pub(crate) fn up_to_date(recording: &Recording, kept: &[bool]) -> Vec<bool> {
    let longest = longest(recording);
    let mut before: BTreeMap<&TargetId, BTreeSet<u32>> = BTreeMap::new();
    let mut now: BTreeMap<&TargetId, (usize, BTreeSet<u32>)> = BTreeMap::new();
    for (it, _) in recording.experiments.iter().zip(kept).filter(|it| *it.1) {
        if it.placebo {
            continue;
        }
        if has_longest(&longest, it) {
            let (baselines, levels) = now.entry(&it.selected).or_default();
            *baselines += usize::from(level(it) == 0);
            levels.insert(level(it));
        } else {
            before.entry(&it.selected).or_default().insert(level(it));
        }
    }
    let is_enough = |target: &TargetId| {
        let known = now.get(target).zip(before.get(target));
        known.is_some_and(|((baselines, levels), before)| {
            *baselines >= BASELINES && levels.is_superset(before)
        })
    };
    let counts = |(it, kept): (&Experiment, &bool)| {
        *kept && (has_longest(&longest, it) || !is_enough(&it.selected))
    };
    recording.experiments.iter().zip(kept).map(counts).collect()
}

/// The changes of pace at a target and a progress point, as logarithms.
#[derive(Default)]
struct Changes {
    /// By speedup; the baseline is 0.
    at: BTreeMap<u32, Vec<f64>>,
    /// Those of baselines that follow a speedup, of whatever target.
    after_a_speedup: Vec<f64>,
    /// Those of other baselines.
    after_none: Vec<f64>,
}

/// A change of pace that is in doubt, and its control.
type Pair = (Sample, Sample);

impl Changes {
    /// What each speedup changes, compared with the baseline.
    fn of_speedups(&self) -> Vec<Pair> {
        let baseline = self.at.get(&0).and_then(|it| sample(it, FEWEST));
        let sped_up = self.at.range(1..);
        let pairs = sped_up.filter_map(|(_, it)| sample(it, FEWEST).zip(baseline));
        pairs.collect()
    }

    /// What a speedup leaves behind.
    fn of_baselines(&self) -> Vec<Pair> {
        let after = sample(&self.after_a_speedup, FEWEST_AFTER);
        let pair = after.zip(sample(&self.after_none, FEWEST_AFTER));
        pair.into_iter().collect()
    }
}

fn sample(changes: &[f64], fewest: usize) -> Option<Sample> {
    let enough = changes.len() >= fewest;
    enough.then(|| Sample::of(changes)).flatten()
}

/// For each experiment, whether the one before it in the same program sped something up.
fn follow_speedups(recording: &Recording) -> Vec<bool> {
    let mut last: BTreeMap<Option<&str>, bool> = BTreeMap::new();
    let follows = recording.experiments.iter().map(|it| {
        let sped_up = level(it) > 0 && !it.placebo;
        last.insert(it.program.as_deref(), sped_up).unwrap_or(false)
    });
    follows.collect()
}

/// The targets whose pace has not settled, by what the `counted` experiments say.
pub(crate) fn unsettled<'a>(recording: &'a Recording, counted: &[bool]) -> Vec<&'a TargetId> {
    let mut changes: BTreeMap<(&TargetId, &str), Changes> = BTreeMap::new();
    let follow = follow_speedups(recording);
    let counted = recording.experiments.iter().zip(counted).zip(follow);
    for ((it, _), follows) in counted.filter(|((it, counts), _)| **counts && !it.placebo) {
        for point in &it.points {
            let Some(change) = it.change_of_pace(point) else {
                continue;
            };
            let known = changes.entry((&it.selected, &point.name)).or_default();
            known.at.entry(level(it)).or_default().push(change);
            if level(it) == 0 {
                let after = match follows {
                    true => &mut known.after_a_speedup,
                    false => &mut known.after_none,
                };
                after.push(change);
            }
        }
    }
    let drifts = |pairs: fn(&Changes) -> Vec<Pair>| {
        let of = |((target, _), known): (&(&'a TargetId, &str), &Changes)| {
            let target = *target;
            let compared = pairs(known).into_iter();
            compared.map(move |(it, control)| (target, welch(it, control)))
        };
        let compared: Vec<_> = changes.iter().flat_map(of).collect();
        let rare = RARE / compared.len().max(1) as f64;
        let large = move |found: &Welch| found.difference.abs() >= DRIFT && found.p < rare;
        compared.into_iter().filter(move |(_, it)| large(it))
    };
    let all = drifts(Changes::of_speedups).chain(drifts(Changes::of_baselines));
    let found: BTreeSet<&TargetId> = all.map(|(target, _)| target).collect();
    found.into_iter().collect()
}

/// The targets that need a longer warm-up than all have at first, and how long: including those for which that was found
/// before.
pub fn next_warmups(recording: &Recording) -> Vec<(TargetId, Duration)> {
    let kept = crate::experiments::disturbance::undisturbed(recording).kept;
    let longest = longest(recording);
    let at_first = recording.experiments.iter().filter_map(|it| it.warmup_ns);
    let Some(at_first) = at_first.min().map(Duration::from_nanos) else {
        return Vec::new();
    };
    let latest = |(it, kept): (&Experiment, &bool)| *kept && has_longest(&longest, it);
    let latest: Vec<bool> = recording
        .experiments
        .iter()
        .zip(&kept)
        .map(latest)
        .collect();
    let unsettled = unsettled(recording, &latest);
    let wanted = |(target, ns): (&&TargetId, &u64)| {
        let present = Duration::from_nanos(*ns);
        let wanted = if unsettled.contains(target) {
            present.saturating_mul(FACTOR).min(LONGEST_WARMUP)
        } else {
            present
        };
        (wanted > at_first).then(|| ((*target).clone(), wanted))
    };
    longest.iter().filter_map(wanted).collect()
}
