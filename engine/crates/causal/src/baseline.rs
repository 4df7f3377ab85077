//! Program speedup against the line's own baseline (COZ §2, §3.2): `1 − p_s / p_0`.
//!
//! A baseline per line guards against overhead that depends on the line. The rules are those of coz's viewer: baseline and
//! points need `min_visits` (5) visits; a program speedup outside −1…2 is damage, not a measurement.

use crate::combine::{Group, Series};
use crate::notes::Reason;

/// A group with its effect, before any correction.
pub struct Measured<'a> {
    pub group: &'a Group,
    /// `(p_0 − p_s) / p_0`.
    pub program_speedup: f64,
}

/// The points of one line, ascending; the first is the baseline.
pub fn measure(series: &Series, min_visits: u64) -> Result<Vec<Measured<'_>>, Reason> {
    let baseline = series
        .groups
        .first()
        .filter(|group| group.speedup == 0.0)
        .ok_or(Reason::NoBaseline)?;
    let p0 = period(baseline, min_visits).ok_or(Reason::WeakBaseline)?;
    let measured = series.groups.iter().filter_map(|group| {
        let program_speedup = (p0 - period(group, min_visits)?) / p0;
        (-1.0..=2.0).contains(&program_speedup).then_some(Measured {
            group,
            program_speedup,
        })
    });
    Ok(measured.collect())
}

/// Time between visits, or latency; `None` when too few visits or damaged experiments leave it undefined.
pub fn period(group: &Group, min_visits: u64) -> Option<f64> {
    let period = group.numerator / group.denominator;
    let sound = !group.damaged && group.visits >= min_visits && period.is_finite() && period > 0.0;
    sound.then_some(period)
}
