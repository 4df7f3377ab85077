//! Notes: what was left out and why, and why a profile is empty.

use std::collections::BTreeMap;

use fulcrum_model::causal::{CausalProfile, Recording};
use fulcrum_model::{TargetId, TargetKind};

/// Why a line has no profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No experiment without virtual speedup.
    NoBaseline,
    /// The baseline has too few visits, or is damaged.
    WeakBaseline,
    /// Too few different speedups.
    FewPoints,
    /// `s` or `s_obs` of eq. 8 is zero.
    NoSamples,
}

/// Counts lines (or other targets) without a profile.
pub struct LeftOut {
    min_points: usize,
    min_visits: u64,
    /// Whether anything but a line is among them, and how many there are.
    counts: BTreeMap<(String, Reason), (bool, u64)>,
}

impl LeftOut {
    pub fn new(min_points: usize, min_visits: u64) -> Self {
        LeftOut {
            min_points,
            min_visits,
            counts: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, point: &str, target: &TargetId, reason: Reason) {
        let (other, count) = self.counts.entry((point.into(), reason)).or_default();
        *other |= target.kind != TargetKind::Line;
        *count += 1;
    }

    /// One sentence a reason; the progress points are named where there are `points` of them and not all agree.
    pub fn notes(self, points: usize) -> Vec<String> {
        let LeftOut {
            min_points,
            min_visits,
            counts,
        } = self;
        let mut agreeing: Vec<(Reason, bool, u64, Vec<String>)> = Vec::new();
        for ((point, reason), (other, count)) in counts {
            let same = |it: &&mut (Reason, bool, u64, Vec<String>)| {
                (it.0, it.1, it.2) == (reason, other, count)
            };
            match agreeing.iter_mut().find(same) {
                Some((.., names)) => names.push(point),
                None => agreeing.push((reason, other, count, vec![point])),
            }
        }
        agreeing
            .into_iter()
            .map(|(reason, other, count, names)| {
                let noun = if other { "target" } else { "line" };
                let lines = if count == 1 { format!("1 {noun} has") } else { format!("{count} {noun}s have") };
                let what = match reason {
                    Reason::NoBaseline => "no experiment without virtual speedup to compare with".to_owned(),
                    Reason::WeakBaseline => {
                        format!("fewer than {min_visits} visits to the progress point without virtual speedup")
                    }
                    Reason::FewPoints => format!("fewer than {min_points} different speedups with enough visits"),
                    Reason::NoSamples => "no samples, so the result cannot be corrected for phases".to_owned(),
                };
                let at = match names.as_slice() {
                    all if all.len() == points => String::new(),
                    [one] => format!(" (progress point {one})"),
                    some => format!(" (progress points {})", some.join(", ")),
                };
                format!("{lines} {what}{at}; left out.")
            })
            .collect()
    }
}

/// Why there is nothing to show, and what to do: for the whole profile, or for each progress point that has nothing while
/// others have results.
pub fn why_empty(recording: &Recording, profile: &CausalProfile) -> Vec<String> {
    let points = &profile.progress_points;
    if points.iter().all(|point| point.targets.is_empty()) {
        return vec![why_all_empty(recording, profile).into()];
    }
    let empty = points.iter().filter(|point| point.targets.is_empty());
    empty
        .map(|point| {
            let visits = visits(recording, &point.name);
            let what = match visits {
                0 => "was not visited during any experiment".to_owned(),
                1 => "was visited once in all experiments".to_owned(),
                n => format!("was visited {n} times in all experiments, too few on any line"),
            };
            format!(
                "The progress point {} has no result: it {what}. The others are judged by their own visits.",
                point.name
            )
        })
        .collect()
}

fn visits(recording: &Recording, name: &str) -> u64 {
    recording
        .experiments
        .iter()
        .flat_map(|it| &it.points)
        .filter(|point| point.name == name)
        .map(|point| point.count.visits())
        .fold(0, u64::saturating_add)
}

fn why_all_empty(recording: &Recording, profile: &CausalProfile) -> &'static str {
    let experiments = &recording.experiments;
    let baseline = experiments.iter().any(|it| it.speedup == 0.0);
    let sped_up = experiments.iter().any(|it| it.speedup > 0.0 && !it.placebo);
    if experiments.is_empty() && recording.samples.iter().any(|&(_, count)| count > 0) {
        "The recording holds samples but no experiments: run the program longer."
    } else if experiments.is_empty() {
        "The recording holds no experiments: run the program longer, and check that it was built with debug information (-g) \
         and spends time in the code that is in scope."
    } else if profile.progress_points.is_empty() {
        "The program has no progress point: mark one with FULCRUM_PROGRESS (fulcrum.h) where a unit of work is done, build, and run again."
    } else if !recording.is_visited() {
        "No progress point was visited during an experiment: put it where the program passes often while it works, and run again."
    } else if experiments.iter().all(|it| it.duration_ns <= 0) {
        "Every experiment lasted no time or less, because more delay was inserted than time passed: record again."
    } else if !baseline {
        "Every experiment sped something up, and there is none to compare with: run without --fixed-speedup, or longer."
    } else if !sped_up {
        "No experiment sped anything up: run without --fixed-speedup 0, or longer."
    } else {
        "No line has enough experiments yet: run the program longer, or move the progress point to where it is visited more often."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_points_that_agree_share_a_sentence() {
        let mut left_out = LeftOut::new(5, 5);
        let line: TargetId = "a.c:1".parse().expect("a line");
        for point in ["p", "q", "r"] {
            left_out.add(point, &line, Reason::FewPoints);
        }
        left_out.add("p", &line, Reason::NoBaseline);
        left_out.add("r", &line, Reason::NoBaseline);
        left_out.add(
            "q",
            &"function:f@a.c:1".parse().expect("a function"),
            Reason::NoSamples,
        );
        assert_eq!(
            left_out.notes(3),
            [
                "1 line has no experiment without virtual speedup to compare with (progress points p, r); left out.",
                "1 line has fewer than 5 different speedups with enough visits; left out.",
                "1 target has no samples, so the result cannot be corrected for phases (progress point q); left out.",
            ]
        );
    }
}
