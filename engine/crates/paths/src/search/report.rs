//! What labels cover.

use crate::profile::interface::ProfileInterface;
use crate::search::labels::Labels;

/// What one label covers.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelReport {
    /// The label.
    pub name: String,
    /// The number of summaries that have it.
    pub summaries: usize,
    /// The base of all of them together.
    pub base: i64,
    /// The cum of all of them together.
    pub cum: i64,
    /// The part of the cum that no earlier label covers.
    pub marginal: i64,
}

/// What everything with a label covers. Shared cost counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The base, in the profile's unit.
    pub base: i64,
    /// The cum, in the profile's unit.
    pub cum: i64,
}

/// What each label covers, and all together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    /// In the order of the labels.
    pub(crate) labels: Vec<LabelReport>,
    /// The base and the cum of everything that has a label.
    pub(crate) together: Covered,
}

impl Report {
    pub(crate) fn of<P: ProfileInterface>(profile: &P, labels: &Labels<P::Summary>) -> Self {
        let summaries = labels.summaries();
        let running = profile.running_total_cum_of(&summaries);
        let (mut at, mut covered) = (0, 0);
        let mut reports = Vec::new();
        for label in labels.all() {
            at += label.summaries.len();
            let now = running[at - 1];
            reports.push(LabelReport {
                name: label.name.clone(),
                summaries: label.summaries.len(),
                base: profile.total_base_of(&label.summaries),
                cum: profile.total_cum_of(&label.summaries),
                marginal: now - covered,
            });
            covered = now;
        }
        Report {
            labels: reports,
            together: Covered {
                base: profile.total_base_of(&summaries),
                cum: profile.total_cum_of(&summaries),
            },
        }
    }
}
