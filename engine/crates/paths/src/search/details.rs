//! What the search reports about a summary (BOTTLENECKS §2.3, `select`).

use std::panic::resume_unwind;
use std::thread;

use crate::profile::denominator::Denominator;
use crate::profile::end::End;
use crate::profile::interface::{Overlap, ProfileInterface, Refusal, SummarySides, SummarySpread};
use crate::search::labels::Labels;
use crate::search::paradox::{Paradox, paradox_of};
use crate::search::suggester::ranked;
use crate::search::zoom::{Nearby, zoom, zoom_trim};

/// Where a numbered summary comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The suggester.
    Suggestion,
    /// The current path extended by callers.
    ExtendTop,
    /// The current path extended by callees.
    ExtendBottom,
    /// The current path without its first names.
    TrimTop,
    /// The current path without its last names.
    TrimBottom,
}

/// A numbered summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number for `select`.
    pub number: usize,
    /// Where it comes from.
    pub step: Step,
    /// Its path, outermost name first.
    pub path: Vec<String>,
    /// Its base, in the profile's unit.
    pub base: i64,
    /// Its cum, in the profile's unit.
    pub cum: i64,
    /// Both sides in a comparison.
    pub sides: Option<SummarySides>,
    /// How certain the difference is, in a comparison with several inputs on each side.
    pub spread: Option<SummarySpread>,
}

/// The cost that a summary shares with those of one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelOverlap {
    /// The label.
    pub label: String,
    /// The shared cost.
    pub shared: Overlap,
}

/// Everything about the current summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// Its labels.
    pub labels: Vec<String>,
    /// Its path, outermost name first.
    pub path: Vec<String>,
    /// Its base, in the profile's unit.
    pub base: i64,
    /// Its cum, in the profile's unit.
    pub cum: i64,
    /// The denominator of shares.
    pub whole: Denominator,
    /// Both sides in a comparison.
    pub sides: Option<SummarySides>,
    /// How certain the difference is, in a comparison with several inputs on each side.
    pub spread: Option<SummarySpread>,
    /// What is surprising about base and cum.
    pub paradox: Option<Paradox>,
    /// The cost that it shares with each label.
    pub overlaps: Vec<LabelOverlap>,
    /// The cost that it shares with all labels together.
    pub overlap: Overlap,
    /// Summaries one step away: extensions at the top and at the bottom, and trims.
    pub nearby: Vec<Row>,
    /// The extensions that zooming left out at the top and at the bottom.
    pub hidden: [Hidden; 2],
    /// Why there are no extensions although the program may have made further calls.
    pub limit: Option<Refusal>,
}

/// The extensions that zooming left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hidden {
    /// The number of extensions.
    pub count: usize,
    /// The cum that only those have, as a fraction of the summary's.
    pub share: f64,
}

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

/// The row of a summary.
pub(crate) fn row<P: ProfileInterface>(
    profile: &P,
    number: usize,
    step: Step,
    s: &P::Summary,
) -> Row {
    Row {
        number,
        step,
        path: owned(profile.path_of(s)),
        base: profile.base_of(s),
        cum: profile.cum_of(s),
        sides: profile.sides_of(s),
        spread: profile.spread_of(s),
    }
}

fn owned(path: Vec<&str>) -> Vec<String> {
    path.into_iter().map(String::from).collect()
}

/// The details of a summary without the nearby summaries.
pub(crate) fn about<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    labels: &Labels<P::Summary>,
    whole: &Denominator,
) -> Details {
    let each = labels.all().iter();
    let overlaps = each.map(|it| LabelOverlap {
        label: it.name.clone(),
        shared: it.overlap(profile, s),
    });
    Details {
        labels: owned(labels.of(profile, s)),
        path: owned(profile.path_of(s)),
        base: profile.base_of(s),
        cum: profile.cum_of(s),
        whole: *whole,
        sides: profile.sides_of(s),
        spread: profile.spread_of(s),
        paradox: paradox_of(profile, s, whole),
        overlaps: overlaps.collect(),
        overlap: labels.overlap(profile, s),
        nearby: Vec::new(),
        hidden: [Hidden::default(); 2],
        limit: profile.limit_of(s),
    }
}

/// The details of a summary, and the nearby summaries by number: zoomed if there is a cutoff, otherwise all.
pub(crate) fn of<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    labels: &Labels<P::Summary>,
    cutoff: Option<f64>,
    whole: &Denominator,
) -> (Details, Vec<P::Summary>) {
    let trims = |end: End| match cutoff {
        Some(cutoff) => zoom_trim(profile, s, cutoff, end),
        None => Nearby::all(end.trim(profile, s).into_iter().collect()),
    };
    let [top, bottom] = match cutoff {
        Some(cutoff) => zoomed(profile, s, cutoff),
        None => profile
            .costed_at_both_ends(s)
            .map(|all| Nearby::all(ranked(all, |s| profile.cum_of(s)))),
    };
    let hidden = [&top, &bottom].map(|it| Hidden {
        count: it.hidden,
        share: it.hidden_share,
    });
    let steps = [
        (Step::ExtendTop, top),
        (Step::ExtendBottom, bottom),
        (Step::TrimTop, trims(End::Top)),
        (Step::TrimBottom, trims(End::Bottom)),
    ];
    let mut nearby = Vec::new();
    let mut numbered = Vec::new();
    for (step, found) in steps {
        for s in found.shown {
            nearby.push(row(profile, numbered.len(), step, &s));
            numbered.push(s);
        }
    }
    let details = Details {
        nearby,
        hidden,
        ..about(profile, s, labels, whole)
    };
    (details, numbered)
}

/// The zoomed extensions at the top and at the bottom.
fn zoomed<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    cutoff: f64,
) -> [Nearby<P::Summary>; 2] {
    let at = |end: End| zoom(profile, s, cutoff, end);
    if !profile.is_frequent(s) {
        return [at(End::Top), at(End::Bottom)];
    }
    thread::scope(|scope| {
        let top = thread::Builder::new().spawn_scoped(scope, || at(End::Top));
        let bottom = at(End::Bottom);
        let top = match top {
            Ok(top) => top.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => at(End::Top),
        };
        [top, bottom]
    })
}

/// What each label covers.
pub(crate) fn report<P: ProfileInterface>(
    profile: &P,
    labels: &Labels<P::Summary>,
) -> Vec<LabelReport> {
    let running = profile.running_total_cum_of(&labels.summaries());
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
    reports
}
