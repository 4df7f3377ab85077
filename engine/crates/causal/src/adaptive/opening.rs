//! The first verdict: as soon as possible, one line that is worth optimising.
//!
//! A run begins with an *opening*. Samples show in which few lines most of the time is spent, and experiments concentrate on
//! those, at two speedups and at none. An interim analysis every few experiments tests whether some line is worth at least
//! [`WORTH`]: whether the program speedup, averaged over the two, credibly exceeds it. Ten analyses of up to three lines (at
//! each progress point) would claim that too often by luck, so the level of each is Pocock's ([`sequential`]): a run makes a
//! false claim in at most 5 % of cases. The opening ends with the first verdict, or with the tenth analysis.
//!
//! The verdict states what the program gains if the line is twice as fast, as Fulcrum does everywhere. No known curve bends
//! upwards: once something else is the bottleneck, a line is worth less and less. So the gain at 50 % is at least half of that at
//! 100 %, and at least [`OF_THE_MEAN`] of their average. The number that is shown later is the one measured at 50 %, so there is no
//! verdict while that is smaller than what the verdict would state, and a verdict is withdrawn when later results contradict it
//! ([`FirstVerdict::agrees_with`]).
//!
//! The cost of pausing is not taken out: it makes speedups look worse, so the claim is only safer. A line that runs in one
//! phase of the program is worth correspondingly less (COZ eq. 8).
//!
//! Results and their intervals come from [`crate::analyse`], which knows nothing of the opening. Speedups that the opening left
//! out are drawn afterwards, and experiments record the probability with which their line was chosen.

use fulcrum_model::TargetId;
use fulcrum_model::causal::{CausalProfile, Experiment, Flag, Recording, Shape, Target};
use fulcrum_stats::{sequential, student};

use crate::estimate::combine::{Combined, Group, Line, Series, combine};
use crate::estimate::phase::{Correction, Rates};
use crate::experiments::disturbance;
use crate::prediction::{HALF_THE_TIME, program_speedup_at};

/// The default for the program speedup, averaged over [`SPEEDUPS`], that is worth a verdict.
const WORTH: f64 = 0.08;
/// With g(50 %) ≥ g(100 %) ÷ 2, the mean (g(50 %) + g(100 %)) ÷ 2 is at most 3 ÷ 2 of g(50 %).
const OF_THE_MEAN: f64 = 2.0 / 3.0;
/// The speedups that the opening draws from, besides 0.
pub const SPEEDUPS: [f64; 2] = [0.5, 1.0];

/// How many lines the opening tests.
const LINES: usize = 3;
/// A line with a smaller share of the samples is not tested.
const LEAST_SHARE: f64 = 0.05;
/// Samples that are enough to choose the lines.
const ENOUGH_SAMPLES: u64 = 200;
/// Experiments between two interim analyses.
const BETWEEN_LOOKS: usize = 5;
/// With fewer degrees of freedom, nothing is claimed.
const FEWEST_FREEDOM: usize = 2;

/// A line that is worth something.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstVerdict {
    /// The line.
    pub target: TargetId,
    /// The progress point at which it is worth that.
    pub point: String,
    /// The least program speedup if the line is twice as fast, a fraction.
    pub at_least: f64,
}

impl FirstVerdict {
    /// Whether these results, which rest on more experiments, leave the verdict standing.
    pub fn agrees_with(&self, profile: &CausalProfile) -> bool {
        let mut points = profile.progress_points.iter();
        let point = points.find(|it| it.name == self.point);
        let target = point.and_then(|it| it.targets.iter().find(|it| it.id == self.target));
        target.is_none_or(|it| self.agrees_with_result(it))
    }

    fn agrees_with_result(&self, target: &Target) -> bool {
        let may_gain = match target.shape {
            Shape::Gain1 | Shape::Gain2 | Shape::Gain3 | Shape::Gain4 => true,
            Shape::Unknown => !target.flags.contains(&Flag::Contradictory),
            Shape::Flat | Shape::Harm1 | Shape::Harm2 | Shape::Harm3 => false,
        };
        may_gain && program_speedup_at(target, HALF_THE_TIME) >= self.at_least
    }
}

/// The lines to test first: those with most samples. Empty until there are enough samples.
pub fn candidates(samples: &[(TargetId, u64)]) -> Vec<TargetId> {
    let all = samples.iter().map(|it| it.1).fold(0, u64::saturating_add);
    if all < ENOUGH_SAMPLES {
        return Vec::new();
    }
    let mut most: Vec<&(TargetId, u64)> = samples
        .iter()
        .filter(|it| it.1 as f64 >= LEAST_SHARE * all as f64)
        .collect();
    most.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let most = most.into_iter().take(LINES);
    most.map(|it| it.0.clone()).collect()
}

/// The opening of a run.
#[derive(Clone, Debug)]
pub struct Opening {
    lines: Vec<TargetId>,
    worth: f64,
    looks: u32,
    /// How many experiments the next interim analysis needs.
    due: usize,
    /// The most tests that one of them has made.
    tests: usize,
    has_verdict: bool,
}

impl Opening {
    /// An opening that tests these [`candidates`].
    pub fn new(lines: Vec<TargetId>) -> Opening {
        Opening {
            lines,
            worth: WORTH,
            looks: 0,
            due: BETWEEN_LOOKS,
            tests: 0,
            has_verdict: false,
        }
    }

    /// Gives its verdict on the first line that is worth this program speedup.
    pub fn worth(self, worth: f64) -> Opening {
        Opening { worth, ..self }
    }

    /// The lines that it tests.
    pub fn lines(&self) -> &[TargetId] {
        &self.lines
    }

    /// Whether there will be no more interim analyses.
    pub fn is_over(&self) -> bool {
        self.has_verdict || self.looks >= sequential::LOOKS
    }

    /// Analyses what was recorded so far, if an interim analysis is due.
    pub fn interim_analysis(&mut self, recording: &Recording) -> Option<FirstVerdict> {
        let count = recording.experiments.iter().filter(|it| self.is_tested(it));
        let count = count.count();
        if self.is_over() || count < self.due {
            return None;
        }
        self.looks += 1;
        self.due = count + BETWEEN_LOOKS;
        let kept = disturbance::undisturbed(recording).kept;
        let experiments = recording.experiments.iter().zip(&kept);
        let tested: Vec<bool> = experiments
            .map(|(it, kept)| *kept && self.is_tested(it))
            .collect();
        let found = self.best(recording, &tested);
        self.has_verdict = found.is_some();
        found
    }

    fn is_tested(&self, experiment: &Experiment) -> bool {
        let level = experiment.speedup;
        let is_level = level == 0.0 || SPEEDUPS.iter().any(|it| (it - level).abs() < 1e-6);
        !experiment.placebo && is_level && self.lines.contains(&experiment.selected)
    }

    /// The line that is credibly worth most, if that is enough.
    fn best(&mut self, recording: &Recording, tested: &[bool]) -> Option<FirstVerdict> {
        let combined = combine(recording, tested);
        self.tests = self.tests.max(self.lines.len() * combined.points.len());
        let level = sequential::nominal(self.tests);
        let correction = Correction::of(recording);
        let (mut best, mut most) = (None, self.worth);
        for (key, series) in &combined.points {
            let rates = correction.at(&key.name);
            for found in worth(&combined, series.iter(), level) {
                let mean = found.mean * of_the_run(found.line, &rates);
                if mean >= most && found.at_half >= OF_THE_MEAN * found.mean {
                    most = mean;
                    best = Some(FirstVerdict {
                        target: found.line.id.clone(),
                        point: key.name.clone(),
                        at_least: OF_THE_MEAN * mean,
                    });
                }
            }
        }
        best
    }
}

/// The share of a line's effect that counts for the whole run so far: at most 1, since a first verdict claims no more than was
/// measured.
fn of_the_run(line: &Line<'_>, rates: &Rates<'_>) -> f64 {
    rates.factor(line).unwrap_or(1.0).min(1.0)
}

/// Scatter: by how much experiments deviate from their groups' periods, in units of their lines' baselines.
#[derive(Clone, Copy, Default)]
struct Scatter {
    squares: f64,
    freedom: usize,
}

impl Scatter {
    /// Adds a group of a line with this baseline period.
    fn add(&mut self, group: &Group, baseline: f64) {
        let n = group.observations.len();
        if n < 2 || !is_sound(group) {
            return;
        }
        let (period, mean) = (period(group), group.denominator / n as f64);
        let deviations = group
            .observations
            .iter()
            .map(|it| (it.numerator - period * it.denominator) / (baseline * mean));
        self.squares += deviations.map(|it| it * it).sum::<f64>();
        self.freedom += n - 1;
    }

    /// The variance of a group's period, in the same units: no count is known to better than one visit.
    fn variance(self, group: &Group, baseline: f64) -> f64 {
        let one_visit = period(group) / baseline / group.visits.max(1) as f64;
        let each = self.squares / self.freedom as f64;
        (each / group.observations.len() as f64).max(one_visit * one_visit)
    }
}

fn period(group: &Group) -> f64 {
    group.numerator / group.denominator
}

/// Whether a group has a period. At full speedup, the period of a line that takes all of the time may be zero or negative.
fn is_sound(group: &Group) -> bool {
    group.denominator > 0.0 && period(group).is_finite()
}

/// A line's baseline period and its groups with a speedup; `None` without either.
fn split(series: &Series) -> Option<(&Group, Vec<&Group>)> {
    let (baseline, sped_up) = series.groups.split_first()?;
    let sped_up: Vec<&Group> = sped_up.iter().filter(|it| is_sound(it)).collect();
    let is_baseline = baseline.speedup == 0.0 && !baseline.damaged && is_sound(baseline);
    (is_baseline && period(baseline) > 0.0 && !sped_up.is_empty()).then_some((baseline, sped_up))
}

/// What a line is worth in the experiments on it.
struct Worth<'c> {
    line: &'c Line<'c>,
    /// The lower bound of its average program speedup.
    mean: f64,
    /// The program speedup that was measured with half the time.
    at_half: f64,
}

/// What each line is worth, with the lower bounds at this one-sided level. A line without a measurement at half the time is left
/// out. Lines share their scatter, which is the machine's: with a speedup and without, since the samples that make delays scatter
/// too.
fn worth<'c>(
    combined: &'c Combined<'c>,
    series: impl Iterator<Item = (&'c usize, &'c Series)>,
    level: f64,
) -> Vec<Worth<'c>> {
    let lines: Vec<_> = series
        .filter_map(|(line, series)| Some((&combined.lines[*line], split(series)?)))
        .collect();
    let (mut without, mut with) = (Scatter::default(), Scatter::default());
    for (_, (baseline, sped_up)) in &lines {
        let unit = period(baseline);
        without.add(baseline, unit);
        sped_up.iter().for_each(|it| with.add(it, unit));
    }
    if without.freedom < FEWEST_FREEDOM || with.freedom < FEWEST_FREEDOM {
        return Vec::new();
    }
    let bound = |(line, (baseline, sped_up)): (&'c Line<'c>, (&'c Group, Vec<&'c Group>))| {
        let mut groups = sped_up.iter();
        let half = groups.find(|it| (it.speedup - HALF_THE_TIME).abs() < 1e-6)?;
        let mean = lower_bound(baseline, &sped_up, [without, with], level);
        let at_half = 1.0 - period(half) / period(baseline);
        mean.is_finite().then_some(Worth {
            line,
            mean,
            at_half,
        })
    };
    lines.into_iter().filter_map(bound).collect()
}

/// The lower bound of one line's average program speedup.
fn lower_bound(
    baseline: &Group,
    sped_up: &[&Group],
    [without, with]: [Scatter; 2],
    level: f64,
) -> f64 {
    let (unit, levels) = (period(baseline), sped_up.len() as f64);
    let left = sped_up.iter().map(|it| period(it) / unit).sum::<f64>() / levels;
    let of_baseline = left * left * without.variance(baseline, unit);
    let of_sped_up = sped_up
        .iter()
        .map(|it| with.variance(it, unit))
        .sum::<f64>()
        / (levels * levels);
    let variance = of_baseline + of_sped_up;
    // Welch and Satterthwaite's.
    let freedom = variance * variance
        / (of_baseline * of_baseline / without.freedom as f64
            + of_sped_up * of_sped_up / with.freedom as f64);
    1.0 - left - student::quantile(1.0 - level, freedom) * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64) -> TargetId {
        format!("a.c:{number}").parse().expect("a target")
    }

    #[test]
    fn the_opening_is_about_the_lines_with_most_samples() {
        let samples: Vec<(TargetId, u64)> = [10, 400, 9, 300, 500, 30]
            .into_iter()
            .enumerate()
            .map(|(n, count)| (line(n as u64 + 1), count))
            .collect();
        assert_eq!(candidates(&samples), [line(5), line(2), line(4)]);
        // One line has nearly all of the time.
        let one = [(line(1), 500), (line(2), 3)];
        assert_eq!(candidates(&one), [line(1)]);
        assert_eq!(candidates(&[(line(1), 100)]), [] as [TargetId; 0]);
    }

    #[test]
    fn a_damaged_recording_gives_no_verdict() {
        let mut opening = Opening::new(vec![line(1)]);
        let mut recording = Recording::default();
        for n in 0..40 {
            recording.experiments.push(Experiment {
                speedup: f64::from(n % 3) / 2.0,
                duration_ns: -5,
                points: vec![fulcrum_model::causal::Visits {
                    name: "p".into(),
                    count: fulcrum_model::causal::Count::Throughput { delta: u64::MAX },
                    half: None,
                }],
                ..Experiment::on(line(1))
            });
            assert_eq!(opening.interim_analysis(&recording), None);
        }
        assert!(!opening.is_over());
    }
}
