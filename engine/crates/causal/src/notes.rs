//! What was left out and why, and why a profile is empty.

use std::collections::BTreeMap;

use fulcrum_model::causal::{
    CausalProfile, LeftOut, LeftOutReason, NoResult, Note, PointProfile, Recording,
};
use fulcrum_model::{TargetId, TargetKind};

/// Why a target has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// No experiment without virtual speedup.
    NoBaseline,
    /// The baseline has too few visits, or is damaged.
    WeakBaseline,
    /// Too few different speedups.
    FewPoints,
    /// `s` or `s_obs` of eq. 8 is zero.
    NoSamples,
}

/// Counts targets without a result.
pub(crate) struct LeftOutCounts {
    min_points: usize,
    min_visits: u64,
    /// By progress point and reason.
    counts: BTreeMap<(String, Reason), Count>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    /// Anything but a line is among them.
    others: bool,
    targets: u64,
}

impl LeftOutCounts {
    pub(crate) fn new(min_points: usize, min_visits: u64) -> Self {
        LeftOutCounts {
            min_points,
            min_visits,
            counts: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, point: &str, target: &TargetId, reason: Reason) {
        let count = self.counts.entry((point.into(), reason)).or_default();
        count.others |= target.kind != TargetKind::Line;
        count.targets += 1;
    }

    /// One note for each reason. It names the progress points unless it holds for all, of which there are `points`.
    pub(crate) fn notes(self, points: usize) -> Vec<Note> {
        let mut agreeing: Vec<(Reason, Count, Vec<String>)> = Vec::new();
        for ((point, reason), count) in self.counts {
            let same = |it: &&mut (Reason, Count, Vec<String>)| (it.0, it.1) == (reason, count);
            match agreeing.iter_mut().find(same) {
                Some((.., names)) => names.push(point),
                None => agreeing.push((reason, count, vec![point])),
            }
        }
        let note = |(reason, count, names): (Reason, Count, Vec<String>)| {
            Note::LeftOut(LeftOut {
                targets: count.targets,
                only_lines: !count.others,
                reason: match reason {
                    Reason::NoBaseline => LeftOutReason::NoBaseline,
                    Reason::WeakBaseline => LeftOutReason::WeakBaseline {
                        min_visits: self.min_visits,
                    },
                    Reason::FewPoints => LeftOutReason::FewPoints {
                        min_points: self.min_points,
                    },
                    Reason::NoSamples => LeftOutReason::NoSamples,
                },
                points: if names.len() == points {
                    Vec::new()
                } else {
                    names
                },
            })
        };
        agreeing.into_iter().map(note).collect()
    }
}

/// Why there is nothing to show: for the whole profile, or for each progress point that has nothing while others have
/// results.
pub(crate) fn why_empty(recording: &Recording, profile: &CausalProfile) -> Vec<Note> {
    let points = &profile.progress_points;
    if points.iter().all(|point| point.targets.is_empty()) {
        return vec![Note::NoResult(why_all_empty(recording, profile))];
    }
    let empty = points.iter().filter(|point| point.targets.is_empty());
    let note = |point: &PointProfile| Note::PointWithoutResult {
        point: point.name.clone(),
        visits: visits(recording, &point.name),
    };
    empty.map(note).collect()
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

fn why_all_empty(recording: &Recording, profile: &CausalProfile) -> NoResult {
    let experiments = &recording.experiments;
    let baseline = experiments.iter().any(|it| it.speedup == 0.0);
    let sped_up = experiments.iter().any(|it| it.speedup > 0.0 && !it.placebo);
    if experiments.is_empty() && recording.samples.iter().any(|&(_, count)| count > 0) {
        NoResult::OnlySamples
    } else if experiments.is_empty() {
        NoResult::NoExperiments
    } else if profile.progress_points.is_empty() {
        NoResult::NoProgressPoint
    } else if !recording.is_visited() {
        NoResult::NoVisits
    } else if experiments.iter().all(|it| it.duration_ns <= 0) {
        NoResult::NoTime
    } else if !baseline {
        NoResult::NoBaseline
    } else if !sped_up {
        NoResult::NoSpeedup
    } else {
        NoResult::FewExperiments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording;

    #[test]
    fn progress_points_that_agree_share_a_note() {
        let mut left_out = LeftOutCounts::new(5, 5);
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
        let notes: Vec<String> = left_out.notes(3).iter().map(wording::note).collect();
        assert_eq!(
            notes,
            [
                "1 line has no experiment without virtual speedup to compare with (progress points p, r); left out.",
                "1 line has fewer than 5 different speedups with enough visits; left out.",
                "1 target has no samples, so the result cannot be corrected for phases (progress point q); left out.",
            ]
        );
    }
}
