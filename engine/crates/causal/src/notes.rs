//! Notes: what was left out and why, and why a profile is empty.

use std::collections::BTreeMap;

use fulcrum_model::causal::{Profile, Recording};

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

/// Counts lines without a profile.
pub struct LeftOut {
    min_points: usize,
    min_visits: u64,
    counts: BTreeMap<(String, Reason), u64>,
}

impl LeftOut {
    pub fn new(min_points: usize, min_visits: u64) -> Self {
        LeftOut {
            min_points,
            min_visits,
            counts: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, point: &str, reason: Reason) {
        *self.counts.entry((point.into(), reason)).or_default() += 1;
    }

    /// One sentence a reason, and a progress point where there are several.
    pub fn notes(self, points: usize) -> Vec<String> {
        let LeftOut {
            min_points,
            min_visits,
            counts,
        } = self;
        counts
            .into_iter()
            .map(|((point, reason), count)| {
                let lines = if count == 1 { "1 line has".to_owned() } else { format!("{count} lines have") };
                let what = match reason {
                    Reason::NoBaseline => "no experiment without virtual speedup to compare with".to_owned(),
                    Reason::WeakBaseline => {
                        format!("fewer than {min_visits} visits to the progress point without virtual speedup")
                    }
                    Reason::FewPoints => format!("fewer than {min_points} different speedups with enough visits"),
                    Reason::NoSamples => "no samples, so the result cannot be corrected for phases".to_owned(),
                };
                let at = if points > 1 { format!(" (progress point {point})") } else { String::new() };
                format!("{lines} {what}{at}; left out.")
            })
            .collect()
    }
}

/// Why there is nothing to show, and what to do.
pub fn why_empty(recording: &Recording, profile: &Profile) -> Option<String> {
    if profile
        .progress_points
        .iter()
        .any(|point| !point.targets.is_empty())
    {
        return None;
    }
    let visited = recording.is_visited();
    let text = if recording.experiments.is_empty() {
        "The recording holds no experiments: run the program longer, and check that it was built with debug information (-g)."
    } else if profile.progress_points.is_empty() {
        "The program has no progress point: mark one with FULCRUM_PROGRESS (fulcrum.h) where a unit of work is done, build, and run again."
    } else if !visited {
        "No progress point was visited during an experiment: put it where the program passes often while it works, and run again."
    } else {
        "No line has enough experiments yet: run the program longer, or move the progress point to where it is visited more often."
    };
    Some(text.into())
}
