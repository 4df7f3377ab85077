//! What the run has found so far: progress for people, and when it is good enough to stop.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fulcrum_causal::{analyse, next_warmups, predict};
use fulcrum_model::TargetId;
use fulcrum_model::causal::Profile;
use fulcrum_runs::load_causal;

use crate::process::Watched;
use crate::{Best, Options, Progress};

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
    /// The best target and its gain.
    pub best: Option<Best>,
    /// Files that experiments have selected lines of.
    pub files: Vec<String>,
    /// Everything that is known.
    pub profile: Profile,
    /// Targets that have not settled, and how long they should warm up from now on.
    pub warmups: Vec<(TargetId, Duration)>,
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
    let best = first.map(|it| {
        let half = predict(it, 0.5);
        (it.id.clone(), half.program_speedup, half.interval)
    });
    Some(Standing {
        lines: selected.len() as u64,
        best,
        files,
        profile,
        warmups: next_warmups(&loaded.recording),
    })
}
