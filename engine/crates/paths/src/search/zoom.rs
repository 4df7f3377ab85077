//! Zooming: leaves out extensions and trims that cost little, and skips those that keep the cost (BOTTLENECKS §2.3, routine
//! `Zoom`).
//!
//! The paper's pseudocode leaves two cases open. If a path that was zoomed to has no extensions that keep the cost, the path itself is
//! the result: the paper's own example zooms from `[cd]` to `[abcd]`. A trim is skipped only while it also *gains* little; trims
//! seldom lose cost, so otherwise the routine would always trim to one name.

use crate::profile::end::End;
use crate::profile::interface::ProfileInterface;
use crate::search::suggester::ranked;

/// The paper's default cutoff.
pub const CUTOFF: f64 = 0.95;

/// The nearby summaries in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearby<S> {
    /// The summaries to show, by descending cost.
    pub shown: Vec<S>,
    /// How many were left out because they cost little.
    pub hidden: usize,
    /// The cum that only those have, as a fraction of the current summary's. In comparisons it may be negative.
    pub hidden_share: f64,
}

impl<S> Nearby<S> {
    /// Shows everything.
    pub(crate) fn all(shown: Vec<S>) -> Self {
        Nearby {
            shown,
            hidden: 0,
            hidden_share: 0.0,
        }
    }
}

impl End {
    /// All extensions by one name, by descending cost.
    pub fn extensions<P: ProfileInterface>(self, profile: &P, s: &P::Summary) -> Vec<P::Summary> {
        ranked(profile.costed_summaries(s, self), |s| profile.cum_of(s))
    }

    /// The path without its name at this end.
    pub fn trim<P: ProfileInterface>(self, profile: &P, s: &P::Summary) -> Option<P::Summary> {
        match self {
            End::Top => profile.trim_top(s),
            End::Bottom => profile.trim_bottom(s),
        }
    }
}

/// The extensions to show: the fewest that together keep `cutoff` of the summary's cum. A single one is skipped in favour of its
/// extensions. Shows none if all together keep less.
///
/// Shows all extensions of a summary whose cum is 0.
pub fn zoom<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    cutoff: f64,
    end: End,
) -> Nearby<P::Summary> {
    let cum = profile.cum_of(s).unsigned_abs() as f64;
    if cum == 0.0 {
        return Nearby::all(end.extensions(profile, s));
    }
    let keep = cutoff * cum;
    let mut zoomed: Option<P::Summary> = None;
    let (mut hidden, mut hidden_cum) = (0, 0);
    loop {
        let from = zoomed.as_ref().unwrap_or(s);
        let mut all = end.extensions(profile, from);
        let totals = profile.running_total_cum_of_extensions(from, end, &all);
        let enough = totals
            .iter()
            .position(|it| it.unsigned_abs() as f64 >= keep);
        let shown = match (enough, &zoomed) {
            (Some(last), _) => {
                hidden += all.len() - (last + 1);
                hidden_cum += totals[totals.len() - 1] - totals[last];
                all.truncate(last + 1);
                all
            }
            (None, Some(it)) => vec![it.clone()],
            (None, None) => {
                hidden = all.len();
                hidden_cum = totals.last().copied().unwrap_or(0);
                Vec::new()
            }
        };
        match (enough, shown.as_slice()) {
            (Some(_), [one]) => zoomed = Some(one.clone()),
            _ => {
                return Nearby {
                    shown,
                    hidden,
                    hidden_share: hidden_cum as f64 / profile.cum_of(s) as f64,
                };
            }
        }
    }
}

/// The trim to show: the first whose cum differs by more than the cutoff, or the shortest. Shows none if the first trim costs less
/// than the cutoff.
pub fn zoom_trim<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    cutoff: f64,
    end: End,
) -> Nearby<P::Summary> {
    let size = |s: &P::Summary| profile.cum_of(s).unsigned_abs() as f64;
    let (low, high) = (cutoff * size(s), size(s) / cutoff);
    let Some(mut trimmed) = end.trim(profile, s) else {
        return Nearby::all(Vec::new());
    };
    if size(&trimmed) < low {
        return Nearby {
            shown: Vec::new(),
            hidden: 1,
            hidden_share: 0.0,
        };
    }
    while size(&trimmed) <= high
        && let Some(next) = end.trim(profile, &trimmed)
        && size(&next) >= low
    {
        trimmed = next;
    }
    Nearby::all(vec![trimmed])
}
