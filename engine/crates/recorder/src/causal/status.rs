//! The status of a run: counters for its progress line, and the analysis of what it has recorded so far.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fulcrum_causal::{analyse, predict};
use fulcrum_model::causal::{CausalProfile, Flag, Target};
use fulcrum_runs::load_causal;

use super::process::Watched;
use crate::{Best, Options, RunStatus};

/// The counters alone, which are cheap enough for twice a second.
pub(crate) fn counters(processes: &[Watched], elapsed: Duration, options: &Options) -> RunStatus {
    let sum =
        |of: fn(&fulcrum_wire::Process) -> u64| processes.iter().map(|it| of(it.block.get())).sum();
    RunStatus {
        elapsed,
        experiments: sum(|it| it.experiments.load(Ordering::Relaxed)),
        visits: sum(|it| it.visits.load(Ordering::Relaxed)),
        lines: 0,
        best: None,
        fraction: options
            .duration
            .map(|limit| (elapsed.as_secs_f64() / limit.as_secs_f64()).min(1.0)),
        remaining: options.duration.map(|limit| limit.saturating_sub(elapsed)),
        ..RunStatus::default()
    }
}

/// The analysis of everything recorded so far.
pub(crate) struct InterimAnalysis {
    /// The number of lines with at least one experiment.
    pub lines: u64,
    /// The best target and its gain.
    pub best: Option<Best>,
    /// The files with lines that experiments have selected.
    pub files: Vec<String>,
    /// The results.
    pub profile: CausalProfile,
}

/// Reads the run folder, as any reader would, and analyses it. `None` before anything was recorded.
pub(crate) fn interim_analysis(run: &Path) -> Option<InterimAnalysis> {
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
    // What contradicts itself is not the best of anything.
    let is_sound = |it: &&Target| !it.flags.contains(&Flag::Contradictory);
    let mut points = profile.progress_points.iter();
    let first = points.find_map(|point| point.targets.iter().find(is_sound));
    let best = first.map(|it| {
        let half = predict(it, 0.5);
        (it.id.clone(), half.program_speedup, half.interval)
    });
    Some(InterimAnalysis {
        lines: selected.len() as u64,
        best,
        files,
        profile,
    })
}
