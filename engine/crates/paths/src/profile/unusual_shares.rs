//! Explains shares above 100 % and below 0.

use crate::profile::denominator::{Denominator, DenominatorKind};
use crate::profile::interface::ProfileInterface;

/// Whether a cost is more than the denominator, with the same sign.
pub(crate) fn exceeds(whole: &Denominator, cost: i64) -> bool {
    whole.part(cost) > 1.0
}

/// Whether a cost and the denominator differ in sign.
pub(crate) fn opposes(whole: &Denominator, cost: i64) -> bool {
    whole.part(cost) < 0.0
}

/// Why a cost can be more than the denominator, as a clause that follows a colon.
pub(crate) fn why_more<P: ProfileInterface>(profile: &P, whole: &Denominator) -> &'static str {
    let cheaper = whole.cost > 0;
    match whole.of {
        DenominatorKind::Total if has_negative(profile) => "other costs are negative",
        DenominatorKind::Total => {
            "the profiler counted more for it than all functions cost themselves"
        }
        DenominatorKind::Difference if cheaper => "other paths became cheaper",
        DenominatorKind::Difference => "other paths became costlier",
        DenominatorKind::Costlier => "elsewhere the same functions became cheaper",
    }
}

fn has_negative<P: ProfileInterface>(profile: &P) -> bool {
    let mut all = profile.initial_summaries().into_iter();
    all.any(|s| profile.base_of(&s) < 0)
}

/// A sentence about a profile in which functions have shares above 100 % or below 0. `None` if none has.
pub fn unusual_shares_note<P: ProfileInterface>(
    profile: &P,
    whole: &Denominator,
) -> Option<String> {
    let (mut more, mut less, mut most) = (0_u64, 0_u64, None);
    for s in profile.initial_summaries() {
        let (base, cum) = (profile.base_of(&s), profile.cum_of(&s));
        less += u64::from(opposes(whole, base) || opposes(whole, cum));
        if exceeds(whole, base) || exceeds(whole, cum) {
            more += 1;
            let cost = cum.unsigned_abs().max(base.unsigned_abs());
            if most.as_ref().is_none_or(|(greatest, _)| cost > *greatest) {
                most = Some((cost, s));
            }
        }
    }
    let most = most.map(|(_, s)| profile.path_of(&s).concat());
    let most = most.map_or(String::new(), |name| {
        format!("`{}`", fulcrum_model::text::shorten(&name))
    });
    let functions = |count: u64| match count {
        1 => "1 function has".to_owned(),
        count => format!("{count} functions have"),
    };
    let opposite = match whole.cost > 0 {
        true => "cheaper",
        false => "costlier",
    };
    Some(match (whole.of, more, less) {
        (_, 0, 0) => return None,
        (DenominatorKind::Total, 0, _) => format!(
            "{} costs below 0, such as freed memory, and therefore a share below 0 %.",
            functions(less)
        ),
        (DenominatorKind::Total, ..) => format!(
            "{} more than 100 % of the total, which is what all functions cost themselves, {most} the most: {}.",
            functions(more),
            why_more(profile, whole)
        ),
        (DenominatorKind::Difference, ..) => format!(
            "Shares are parts of the difference of the totals: what became {opposite} has less than 0 %, and what makes up for \
             that more than 100 %."
        ),
        (DenominatorKind::Costlier, ..) => {
            "Shares are parts of what became costlier: what became cheaper has less than 0 %."
                .to_owned()
        }
    })
}
