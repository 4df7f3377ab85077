//! What the search reports about a summary (BOTTLENECKS §2.3, `select`).

use fulcrum_model::both;

use crate::profile::denominator::Denominator;
use crate::profile::end::End;
use crate::profile::interface::{Overlap, ProfileInterface, Refusal, SummarySides, SummarySpread};
use crate::search::labels::Labels;
use crate::search::paradox::{Paradox, paradox_of};
use crate::search::rows::{Numbered, Step};
use crate::search::suggester::ranked;
use crate::search::zoom::{Nearby, zoom, zoom_trim};

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
        hidden: [Hidden::default(); 2],
        limit: profile.limit_of(s),
    }
}

/// The details of a summary, and the summaries one step away by number, extensions at the top and at the bottom, then trims: zoomed
/// if there is a cutoff, otherwise all.
pub(crate) fn of<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    labels: &Labels<P::Summary>,
    cutoff: Option<f64>,
    whole: &Denominator,
) -> (Details, Numbered<P::Summary>) {
    let trims = |end: End| match cutoff {
        Some(cutoff) => zoom_trim(profile, s, cutoff, end),
        None => Nearby::all(end.trim(profile, s).into_iter().collect()),
    };
    let extensions = || match cutoff {
        Some(cutoff) => zoomed(profile, s, cutoff),
        None => profile
            .costed_at_both_ends(s)
            .map(|all| Nearby::all(ranked(all, |s| profile.cum_of(s)))),
    };
    let about = || about(profile, s, labels, whole);
    let (about, [top, bottom]) = match profile.is_frequent(s) {
        true => both(about, extensions),
        false => (about(), extensions()),
    };
    let hidden = [&top, &bottom].map(|it| Hidden {
        count: it.hidden,
        share: it.hidden_share,
    });
    let numbered = Numbered::of_steps([
        (Step::ExtendTop, top.shown),
        (Step::ExtendBottom, bottom.shown),
        (Step::TrimTop, trims(End::Top).shown),
        (Step::TrimBottom, trims(End::Bottom).shown),
    ]);
    let details = Details { hidden, ..about };
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
    let (top, bottom) = both(|| at(End::Top), || at(End::Bottom));
    [top, bottom]
}
