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
//! A queue may also take longer than an experiment. Then no half differs from the other, but the pace at a speedup depends on what
//! was in force before: experiments that follow a lower speedup are compared with those that follow a higher one.
//!
//! A target that has not settled warms up three times as long from then on ([`next_warmups`]). Its earlier experiments are left
//! out as soon as new ones say as much ([`up_to_date`]). A target that does not settle even so is flagged.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{Experiment, Recording, Visits};
use fulcrum_stats::{Mean, Sample, Scatter, Welch, welch};

/// A change of pace that matters, as a fraction.
const DRIFT: f64 = 0.03;
/// The probability with which noise alone may look like a drift of one kind anywhere in a recording.
const RARE: f64 = 0.002;
/// With fewer experiments of a kind, it is not tested whether they drift,
const FEWEST: usize = 4;
/// or, for what another treatment leaves behind, whether they do and whether their pace is another.
const FEWEST_AFTER: usize = 2;
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

/// What was in force before an experiment, compared with what is in force during it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    /// No speedup, or a lower one of the same target.
    Less,
    /// The same.
    Same,
    /// A higher speedup of the same target; for a baseline, any speedup of whatever target.
    More,
    /// A speedup of another target, or it is not known.
    Other,
}

impl Before {
    /// What `last` left for `it`.
    fn of(last: &Experiment, it: &Experiment) -> Before {
        let in_force = |it: &Experiment| if it.placebo { 0 } else { level(it) };
        let (then, now) = (in_force(last), in_force(it));
        if now > 0 && then > 0 && last.selected != it.selected {
            return Before::Other;
        }
        match then.cmp(&now) {
            Ordering::Less => Before::Less,
            Ordering::Equal => Before::Same,
            Ordering::Greater => Before::More,
        }
    }
}

/// What was in force before each experiment in the same program.
fn before(recording: &Recording) -> Vec<Before> {
    let mut last: BTreeMap<Option<&str>, &Experiment> = BTreeMap::new();
    let all = recording.experiments.iter().map(|it| {
        let last = last.insert(it.program.as_deref(), it);
        last.map_or(Before::Other, |last| Before::of(last, it))
    });
    all.collect()
}

/// What experiments with the same treatment, after the same kind of treatment, measured at a progress point.
#[derive(Clone, Debug, Default)]
struct Measured {
    /// Logarithms of how much faster each second half was than the first.
    changes: Vec<f64>,
    /// Logarithms of visits a nanosecond.
    paces: Vec<f64>,
}

impl Measured {
    fn add(&mut self, other: &Measured) {
        self.changes.extend(&other.changes);
        self.paces.extend(&other.paces);
    }
}

/// What was measured at a target and a progress point, by speedup (the baseline is 0) and what was in force before.
#[derive(Default)]
struct Kinds(BTreeMap<(u32, Before), Measured>);

/// Two means that are the same in a program that has settled.
type Pair = (Mean, Mean);

impl Kinds {
    fn add(&mut self, it: &Experiment, point: &Visits, before: Before) {
        let known = self.0.entry((level(it), before)).or_default();
        known.changes.extend(it.change_of_pace(point));
        known.paces.extend(it.pace(point).map(f64::ln));
    }

    fn after(&self, level: u32, before: Before) -> Measured {
        self.0.get(&(level, before)).cloned().unwrap_or_default()
    }

    /// Those at a speedup, whatever was in force before.
    fn at(&self, level: u32) -> Measured {
        let mut all = Measured::default();
        let range = (level, Before::Less)..=(level, Before::Other);
        self.0.range(range).for_each(|(_, it)| all.add(it));
        all
    }

    fn pairs(&self) -> Vec<Pair> {
        let levels: BTreeSet<u32> = self.0.keys().map(|it| it.0).collect();
        let changes = Means::new(&self.0, |it| &it.changes);
        let paces = Means::new(&self.0, |it| &it.paces);
        let baselines = changes.of(&self.at(0), FEWEST);
        let settled = changes.of(&self.after(0, Before::Same), FEWEST_AFTER);
        let mut pairs = Vec::new();
        for level in levels {
            let [less, same, more] =
                [Before::Less, Before::Same, Before::More].map(|it| self.after(level, it));
            let before = if level == 0 {
                pairs.push((changes.of(&more, FEWEST_AFTER), settled));
                same
            } else {
                pairs.push((changes.of(&self.at(level), FEWEST), baselines));
                pairs.push((changes.of(&less, FEWEST), settled));
                less
            };
            pairs.push((
                paces.of(&before, FEWEST_AFTER),
                paces.of(&more, FEWEST_AFTER),
            ));
        }
        let both = |(it, control): (Option<Mean>, Option<Mean>)| it.zip(control);
        pairs.into_iter().filter_map(both).collect()
    }
}

/// Means of what was measured. Experiments of all kinds scatter alike, so that even two of one kind say something.
struct Means {
    values: fn(&Measured) -> &[f64],
    scatter: Option<Scatter>,
}

impl Means {
    fn new(kinds: &BTreeMap<(u32, Before), Measured>, values: fn(&Measured) -> &[f64]) -> Means {
        let samples = kinds.values().filter_map(|it| Sample::of(values(it)));
        Means {
            values,
            scatter: Scatter::of(samples),
        }
    }

    /// `None` when there are fewer values.
    fn of(&self, measured: &Measured, fewest: usize) -> Option<Mean> {
        let values = (self.values)(measured);
        let enough = values.len() >= fewest;
        let sample = enough.then(|| Sample::of(values)).flatten()?;
        Some(sample.scattering_as(self.scatter?))
    }
}

/// The targets whose pace has not settled, by what the `counted` experiments say.
pub(crate) fn unsettled<'a>(recording: &'a Recording, counted: &[bool]) -> Vec<&'a TargetId> {
    let mut kinds: BTreeMap<(&TargetId, &str), Kinds> = BTreeMap::new();
    let before = before(recording);
    for ((it, counted), before) in recording.experiments.iter().zip(counted).zip(before) {
        if *counted && !it.placebo {
            for point in &it.points {
                let known = kinds.entry((&it.selected, &point.name)).or_default();
                known.add(it, point, before);
            }
        }
    }
    let of = |((target, _), known): (&(&'a TargetId, &str), &Kinds)| {
        let target = *target;
        let pairs = known.pairs().into_iter();
        pairs.map(move |(it, control)| (target, welch(it, control)))
    };
    let compared: Vec<(&TargetId, Welch)> = kinds.iter().flat_map(of).collect();
    let rare = RARE / compared.len().max(1) as f64;
    let drifts = |it: &Welch| it.difference.abs() >= DRIFT && it.p < rare;
    let found = compared.iter().filter(|(_, it)| drifts(it));
    let found: BTreeSet<&TargetId> = found.map(|(target, _)| *target).collect();
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
