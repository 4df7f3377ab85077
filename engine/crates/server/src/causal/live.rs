//! What the client is told of a run that goes on, as `fulcrum/causal/live`.

use std::time::Duration;

use fulcrum_recorder::{FirstVerdict, RunStatus};

use super::wording::if_halved;
use crate::protocol::{Aim, LiveBest, LiveParams, ProgressToken};

/// The parameters of the notification.
pub(crate) fn params(progress: &RunStatus, token: Option<ProgressToken>, aim: Aim) -> LiveParams {
    LiveParams {
        token,
        run: Some(&progress.run)
            .filter(|run| !run.as_os_str().is_empty())
            .map(|run| run.to_string_lossy().into_owned()),
        elapsed_seconds: progress.elapsed.as_secs_f64(),
        experiments: progress.experiments,
        targets: progress.lines,
        visits: progress.visits,
        best: progress.best.as_ref().map(|(at, gain, interval)| LiveBest {
            label: at.short_label(),
            gain: *gain,
            gain_low: interval.map(|it| it.low),
            gain_high: interval.map(|it| it.high),
        }),
        fraction: progress.fraction,
        remaining_seconds: progress.remaining.map(|left| left.as_secs_f64()),
        paused: progress.paused,
        aim,
        message: message(progress),
    }
}

/// `23 experiments · 2 lines · best two-threads.cpp:12, +4.1 % if 2× faster · 40 s left`.
fn message(progress: &RunStatus) -> String {
    let count = |n: u64, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    let mut parts = Vec::new();
    if progress.paused {
        parts.push("paused".to_owned());
    }
    if progress.experiments == 0 {
        parts.push(format!(
            "no experiment yet · {} to progress points",
            count(progress.visits, "visit")
        ));
    } else {
        parts.push(count(progress.experiments, "experiment"));
        if progress.lines > 0 {
            parts.push(count(progress.lines, "line"));
        }
        match &progress.best {
            // A number only once it is credible: the first ones jump.
            Some((at, gain, Some(interval))) if interval.low > 0.0 => {
                let gain = if_halved(at.kind, *gain);
                parts.push(format!("best {}, {gain}", at.short_label()));
            }
            _ if progress.first.is_some() => parts.extend(progress.first.as_ref().map(first)),
            Some((at, gain, _)) if *gain > 0.0 => {
                parts.push(format!("{} leads", at.short_label()));
            }
            _ => {}
        }
    }
    if let Some(left) = progress.remaining.filter(|_| !progress.paused) {
        parts.push(format!("{} left", about(left)));
    }
    parts.join(" · ")
}

/// What is known of one line before there are results, rounded down.
fn first(verdict: &FirstVerdict) -> String {
    let at_least = (verdict.at_least * 100.0).floor();
    let label = verdict.target.short_label();
    format!("first verdict: {label}, at least +{at_least:.0}\u{a0}% if 2× faster")
}

/// A duration in round numbers: `40 s`, `3 min`, `2 h`. Seconds go in steps of five, so that the text does not flicker.
fn about(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => "a few seconds".into(),
        seconds @ 10..=89 => format!("{}\u{a0}s", seconds.div_ceil(5) * 5),
        seconds @ 90..=5399 => format!("{}\u{a0}min", (seconds + 30) / 60),
        seconds => format!("{}\u{a0}h", (seconds + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use fulcrum_model::Interval;

    use super::*;

    #[test]
    fn messages_say_how_a_run_stands() {
        let at: fulcrum_model::TargetId = "/a/b.cpp:12".parse().expect("a target");
        let harm = Some((at.clone(), -0.2, None));
        let leads = Some((
            at.clone(),
            0.041,
            Some(Interval {
                low: -0.1,
                high: 0.2,
            }),
        ));
        let first = Some(FirstVerdict {
            target: at.clone(),
            point: "iter".into(),
            at_least: 0.119,
        });
        let best = Some((
            at,
            0.041,
            Some(Interval {
                low: 0.01,
                high: 0.08,
            }),
        ));
        let none = RunStatus::default();
        for (progress, expect) in [
            (
                RunStatus {
                    visits: 1,
                    ..none.clone()
                },
                "no experiment yet · 1 visit to progress points",
            ),
            (
                RunStatus {
                    experiments: 3,
                    ..none.clone()
                },
                "3 experiments",
            ),
            (
                RunStatus {
                    experiments: 1,
                    lines: 1,
                    ..none.clone()
                },
                "1 experiment · 1 line",
            ),
            (
                RunStatus {
                    experiments: 6,
                    lines: 2,
                    best: leads,
                    ..none.clone()
                },
                "6 experiments · 2 lines · b.cpp:12 leads",
            ),
            (
                RunStatus {
                    experiments: 8,
                    lines: 2,
                    best: harm.clone(),
                    first: first.clone(),
                    ..none.clone()
                },
                "8 experiments · 2 lines · first verdict: b.cpp:12, at least +11\u{a0}% if 2× faster",
            ),
            (
                RunStatus {
                    experiments: 9,
                    lines: 2,
                    best: harm,
                    remaining: Some(Duration::from_secs(200)),
                    ..none.clone()
                },
                "9 experiments · 2 lines · 3\u{a0}min left",
            ),
            (
                RunStatus {
                    experiments: 23,
                    lines: 2,
                    best: best.clone(),
                    first,
                    remaining: Some(Duration::from_secs(37)),
                    ..none.clone()
                },
                "23 experiments · 2 lines · best b.cpp:12, +4.1\u{a0}% if 2× faster · 40\u{a0}s left",
            ),
            (
                RunStatus {
                    experiments: 23,
                    lines: 2,
                    best,
                    remaining: Some(Duration::from_secs(37)),
                    paused: true,
                    ..none
                },
                "paused · 23 experiments · 2 lines · best b.cpp:12, +4.1\u{a0}% if 2× faster",
            ),
        ] {
            assert_eq!(message(&progress), expect);
        }
    }

    #[test]
    fn durations_are_rounded() {
        for (seconds, expect) in [
            (0, "a few seconds"),
            (9, "a few seconds"),
            (10, "10\u{a0}s"),
            (86, "90\u{a0}s"),
            (90, "2\u{a0}min"),
            (5399, "90\u{a0}min"),
            (5400, "2\u{a0}h"),
        ] {
            assert_eq!(about(Duration::from_secs(seconds)), expect);
        }
    }
}
