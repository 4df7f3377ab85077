//! Program speedup against the line's own baseline (COZ §2, §3.2): `1 − p_s / p_0`.
//!
//! A baseline for each line guards against overhead that depends on the line. The rules are those of coz's viewer, except for
//! one: baseline and points need `min_visits` (5) visits; a program speedup above 2 is damage, not a measurement. coz also leaves
//! out program speedups below −1, where the program takes more than twice as long. On a busy machine, single experiments do:
//! leaving them out for their result flatters the line, and one more experiment could take its result away.

use crate::estimate::combine::{Group, Series};
use crate::notes::Reason;

/// A group with its effect, before any correction.
pub(crate) struct Measured<'a> {
    pub group: &'a Group,
    /// `(p_0 − p_s) / p_0`.
    pub program_speedup: f64,
}

/// The points of one line, ascending; the first is the baseline.
pub(crate) fn measure(series: &Series, min_visits: u64) -> Result<Vec<Measured<'_>>, Reason> {
    let baseline = series
        .groups
        .first()
        .filter(|group| group.speedup == 0.0)
        .ok_or(Reason::NoBaseline)?;
    let p0 = period(baseline, min_visits).ok_or(Reason::WeakBaseline)?;
    let sound = |it: &Measured<'_>| it.program_speedup <= 2.0;
    Ok(against(p0, &series.groups, min_visits)
        .filter(sound)
        .collect())
}

/// Leaves out points none of whose experiments met the line. Nothing was sped up in them, so they only compare one part of the run
/// with another. Keeps all where no experiment has a sample of the line, because samples were not counted then.
pub(crate) fn leave_out_unmet(points: &mut Vec<Measured<'_>>) {
    if points.iter().any(|it| it.group.samples > 0.0) {
        points.retain(|it| it.group.speedup == 0.0 || it.group.samples > 0.0);
    }
}

/// The placebo points of a line that has been [`measure`]d; only those that made pauses.
pub(crate) fn placebos<'a>(
    series: &'a Series,
    measured: &[Measured<'_>],
    min_visits: u64,
) -> Vec<Measured<'a>> {
    let p0 = measured
        .first()
        .and_then(|baseline| period(baseline.group, min_visits));
    let paused = |it: &Measured<'_>| it.group.pauses > 0.0;
    p0.map_or_else(Vec::new, |p0| {
        against(p0, &series.placebos, min_visits)
            .filter(paused)
            .collect()
    })
}

fn against(p0: f64, groups: &[Group], min_visits: u64) -> impl Iterator<Item = Measured<'_>> {
    groups.iter().filter_map(move |group| {
        let program_speedup = (p0 - period(group, min_visits)?) / p0;
        Some(Measured {
            group,
            program_speedup,
        })
    })
}

/// Time between visits, or latency; `None` when too few visits or damaged experiments leave it undefined.
pub(crate) fn period(group: &Group, min_visits: u64) -> Option<f64> {
    let period = group.numerator / group.denominator;
    let sound = !group.damaged && group.visits >= min_visits && period.is_finite() && period > 0.0;
    sound.then_some(period)
}
