//! What the run has found so far: progress for people, and when it is good enough to stop.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fulcrum_causal::analyse;
use fulcrum_model::causal::{Profile, Shape, Target};
use fulcrum_runs::load_causal;

use crate::process::Watched;
use crate::{Best, Options, Progress};

/// Intervals of fewer experiments than this on a line say little about themselves.
const FEWEST_EXPERIMENTS: u64 = 16;
/// How many of the best lines must be known well before a run may stop by itself.
const BEST_LINES: usize = 3;
/// A line that got fewer of the experiments than this is not waited for.
const MINOR_SHARE: f64 = 0.1;

/// Counters alone: cheap enough for twice a second.
pub fn counters(processes: &[Watched], elapsed: Duration, options: &Options) -> Progress {
    let sum =
        |of: fn(&fulcrum_wire::Process) -> u64| processes.iter().map(|it| of(it.block.get())).sum();
    Progress {
        elapsed,
        experiments: sum(|it| it.experiments.load(Ordering::Relaxed)),
        visits: sum(|it| it.visits.load(Ordering::Relaxed)),
        lines: 0,
        best: None,
        fraction: options
            .duration
            .map(|limit| (elapsed.as_secs_f64() / limit.as_secs_f64()).min(1.0)),
        remaining: options.duration.map(|limit| limit.saturating_sub(elapsed)),
        ..Progress::default()
    }
}

/// The analysis of everything recorded so far.
pub struct Standing {
    /// Lines with at least one experiment.
    pub lines: u64,
    /// The best line: location, slope, interval.
    pub best: Option<Best>,
    /// Files that experiments have selected lines of.
    pub files: Vec<String>,
    /// Everything that is known.
    pub profile: Profile,
}

/// Reads the run as anybody would and analyses it. `None` before there is anything to read.
pub fn standing(run: &Path) -> Option<Standing> {
    let loaded = load_causal(run).ok()?;
    let mut selected: Vec<_> = loaded
        .recording
        .experiments
        .iter()
        .map(|it| &it.selected)
        .collect();
    selected.sort_unstable();
    selected.dedup();
    let mut files: Vec<String> = selected.iter().map(|at| at.location.file.clone()).collect();
    files.dedup();
    let profile = analyse(&loaded.recording, &fulcrum_causal::Options::default());
    let first = profile
        .progress_points
        .iter()
        .find_map(|point| point.targets.first());
    let best = first.map(|it| (it.id.clone(), it.slope, it.slope_interval));
    Some(Standing {
        lines: selected.len() as u64,
        best,
        files,
        profile,
    })
}

impl Standing {
    /// Whether the best lines of every progress point are known to within `half_width` (a fraction of program speedup)
    /// at each of their points.
    pub fn is_known_to(&self, half_width: f64) -> bool {
        let points = &self.profile.progress_points;
        !points.is_empty()
            && points
                .iter()
                .all(|point| best_are_known(&point.targets, half_width))
    }
}

fn best_are_known(targets: &[Target], half_width: f64) -> bool {
    let total: u64 = targets.iter().map(|it| it.experiments).sum();
    let major = |it: &&Target| it.experiments as f64 >= MINOR_SHARE * total as f64;
    let mut waited_for = targets.iter().filter(major).take(BEST_LINES).peekable();
    waited_for.peek().is_some() && waited_for.all(|target| is_known(target, half_width))
}

fn is_known(target: &Target, half_width: f64) -> bool {
    let narrow = |interval: Option<(f64, f64)>| {
        interval.is_some_and(|(low, high)| (high - low) / 2.0 <= half_width)
    };
    target.experiments >= FEWEST_EXPERIMENTS
        && target.shape != Shape::Unknown
        && target
            .points
            .iter()
            .filter(|point| point.speedup > 0.0)
            .all(|point| narrow(point.interval))
}
