//! The progress line of `fulcrum run`, on standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use fulcrum_recorder::RunStatus;

use crate::report::{if_halved, percents};
use crate::terminal::Style;

/// How often a line is written when standard error is not a terminal.
const LOG_INTERVAL: Duration = Duration::from_secs(8);

/// Redraws one line on a terminal; elsewhere writes a line from time to time.
#[derive(Debug)]
pub(crate) struct Line {
    style: Style,
    mode: Mode,
    next: Duration,
    drawn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Quiet,
    Redraw,
    Log,
}

impl Line {
    pub(crate) fn new(quiet: bool) -> Line {
        let mode = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (_, true) => Mode::Redraw,
            (_, false) => Mode::Log,
        };
        Line {
            style: Style::stderr(),
            mode,
            next: LOG_INTERVAL,
            drawn: false,
        }
    }

    /// Shows the status of the run.
    pub(crate) fn show(&mut self, status: &RunStatus) {
        let text = describe(status, self.style);
        let mut err = io::stderr().lock();
        match self.mode {
            Mode::Quiet => {}
            Mode::Redraw => {
                let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
                self.drawn = true;
            }
            Mode::Log if status.elapsed >= self.next => {
                let _ = writeln!(err, "{text}");
                self.next = status.elapsed + LOG_INTERVAL;
            }
            Mode::Log => {}
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&mut self) {
        if self.drawn {
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
            self.drawn = false;
        }
    }
}

/// `12 s · 23 experiments · 2 lines · best two-threads.cpp:12, +4.4 % if 2× faster (+3.1…+5.8)`.
fn describe(status: &RunStatus, style: Style) -> String {
    let plural = |count: u64, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let mut parts = vec![format!("{} s", status.elapsed.as_secs())];
    if let Some(fraction) = status.fraction {
        parts.push(format!("{:.0} %", fraction * 100.0));
    }
    parts.push(plural(status.experiments, "experiment"));
    parts.push(plural(status.lines, "line"));
    match &status.best {
        Some((target, gain, interval)) => {
            let bounds = interval.map(|it| format!(" {}", percents(Some(it), style)));
            parts.push(format!(
                "best {}, {} {}{}",
                target.short_label(),
                style.percent(*gain),
                if_halved(target.kind, style),
                bounds.unwrap_or_default()
            ));
        }
        None => parts.push(plural(status.visits, "visit")),
    }
    if let Some(first) = &status.first {
        parts.push(format!(
            "first verdict: {}, at least +{:.0} % {}",
            first.target.short_label(),
            (first.at_least * 100.0).floor(),
            if_halved(first.target.kind, style)
        ));
    }
    if status.paused {
        parts.push("paused".into());
    }
    if status.background {
        parts.push("in the background, Ctrl-C ends it".into());
    }
    if let Some(left) = status.remaining {
        parts.push(format!("about {} to go", rounded(left)));
    }
    parts.join(style.dot())
}

/// `40 s`, `3 min`, `2 h`: an estimate is not more exact.
fn rounded(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=90 => format!("{seconds} s"),
        seconds @ 91..=5400 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h", (seconds + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_status() {
        let style = Style {
            colour: false,
            unicode: true,
            terminal: true,
        };
        let mut progress = RunStatus {
            elapsed: Duration::from_millis(12_900),
            experiments: 23,
            lines: 1,
            visits: 40,
            best: None,
            fraction: Some(0.25),
            ..RunStatus::default()
        };
        let start = "12 s · 25 % · 23 experiments · 1 line · ";
        assert_eq!(describe(&progress, style), format!("{start}40 visits"));
        let at = "/w/two.cpp:12".parse().expect("a target");
        let interval = fulcrum_model::Interval {
            low: 0.031,
            high: 0.058,
        };
        progress.best = Some((at, 0.044, Some(interval)));
        let best = "best two.cpp:12, +4.4 % if 2× faster (+3.1…+5.8)";
        assert_eq!(describe(&progress, style), format!("{start}{best}"));
        let wait = "blocked:read@/w/two.cpp:12".parse().expect("a target");
        let known = progress.best.replace((wait, 0.044, None));
        let best_wait = "best read at two.cpp:12, +4.4 % if it waits half as long";
        assert_eq!(describe(&progress, style), format!("{start}{best_wait}"));
        progress.best = known;
        progress.first = Some(fulcrum_recorder::FirstVerdict {
            target: "/w/two.cpp:12".parse().expect("a target"),
            point: "iter".into(),
            at_least: 0.0899,
        });
        let first =
            format!("{start}{best} · first verdict: two.cpp:12, at least +8 % if 2× faster");
        assert_eq!(describe(&progress, style), first);
        progress.first = None;
        progress.background = true;
        let alone = describe(&progress, style);
        assert!(
            alone.ends_with(" · in the background, Ctrl-C ends it"),
            "{alone}"
        );
        progress.background = false;
        (progress.paused, progress.remaining) = (true, Some(Duration::from_secs(200)));
        let more = " · paused · about 3 min to go";
        assert_eq!(describe(&progress, style), format!("{start}{best}{more}"));
    }
}
