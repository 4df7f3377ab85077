//! How a loop ended, as terminal and editor say it.

use std::fmt;

use fulcrum_schema::RefineTable;
use fulcrum_stats::Interval;

use super::{Estimate, Refined};

/// How a loop ended. `Display` is like `the set is stable: 12 hotspots`, without a full stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// The number of iterations that were measured.
    pub iterations: usize,
    /// Whether the set did not change any more.
    pub stable: bool,
    /// Whether the loop was cancelled.
    pub stopped: bool,
    /// The number of methods in the last set.
    pub hotspots: usize,
    /// What the probes of the last iteration add to the wall time of a unit.
    pub overhead: Option<Estimate>,
}

impl Ending {
    /// As a sentence of its own.
    pub fn sentence(&self) -> String {
        let text = self.to_string();
        let mut letters = text.chars();
        let first = letters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(letters).chain(['.']).collect()
    }

    /// The set of a single iteration has none before it to compare with. One whose probes may disturb the program much may be
    /// unchanged only because of them.
    fn how(&self) -> &'static str {
        let is_doubtful = self.overhead.is_some_and(|it| it.doubt().is_some());
        match (self.stopped, self.iterations) {
            (true, _) => "stopped",
            (_, 0 | 1) => "one iteration cannot show whether the set is stable",
            _ if !self.stable => "the set still changed",
            _ if is_doubtful => "the set did not change, but what its probes cost is hardly known",
            _ => "the set is stable",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hotspots {
            0 => write!(f, "{}: no hotspot", self.how()),
            1 => write!(f, "{}: 1 hotspot", self.how()),
            count => write!(f, "{}: {count} hotspots", self.how()),
        }
    }
}

impl From<&Refined> for Ending {
    fn from(it: &Refined) -> Self {
        Ending {
            iterations: it.iterations.len(),
            stable: it.stable,
            stopped: it.stopped,
            hotspots: it.hotspots.len(),
            overhead: it.iterations.last().and_then(|row| row.overhead),
        }
    }
}

impl From<&RefineTable> for Ending {
    fn from(it: &RefineTable) -> Self {
        let last = it.iterations.last();
        let overhead = last.and_then(|row| {
            Some(Estimate {
                value: row.overhead?,
                interval: row
                    .overhead_low
                    .zip(row.overhead_high)
                    .map(|(low, high)| Interval { low, high }),
            })
        });
        Ending {
            iterations: last.map_or(0, |row| row.number as usize),
            stable: it.stable,
            stopped: it.stopped.unwrap_or(false),
            hotspots: last.map_or(0, |row| row.hotspots as usize),
            overhead,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(iterations: usize, hotspots: usize, interval: Option<(f64, f64)>) -> Ending {
        Ending {
            iterations,
            stable: true,
            stopped: false,
            hotspots,
            overhead: Some(Estimate {
                value: 0.38,
                interval: interval.map(|(low, high)| Interval { low, high }),
            }),
        }
    }

    #[test]
    fn the_end_is_stated_in_correct_english_and_never_as_more_than_was_measured() {
        let narrow = Some((0.36, 0.41));
        let wide = Some((-0.52, 2.95));
        let changed = Ending {
            stable: false,
            ..ending(6, 2, narrow)
        };
        let stopped = Ending {
            stopped: true,
            ..ending(1, 0, None)
        };
        for (it, expected) in [
            (ending(3, 1, narrow), "the set is stable: 1 hotspot"),
            (ending(3, 12, narrow), "the set is stable: 12 hotspots"),
            // One pair has no interval: the table shows that.
            (ending(2, 12, None), "the set is stable: 12 hotspots"),
            (
                ending(1, 1, narrow),
                "one iteration cannot show whether the set is stable: 1 hotspot",
            ),
            (
                ending(3, 4, wide),
                "the set did not change, but what its probes cost is hardly known: 4 hotspots",
            ),
            (changed, "the set still changed: 2 hotspots"),
            (stopped, "stopped: no hotspot"),
        ] {
            assert_eq!(it.to_string(), expected);
        }
        assert_eq!(
            ending(3, 1, narrow).sentence(),
            "The set is stable: 1 hotspot."
        );
    }
}
