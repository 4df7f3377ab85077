//! Explains in a sentence why a sequence is suggested.

use crate::profile::denominator::Denominator;
use crate::profile::end::End;
use crate::profile::interface::{ProfileInterface, cum_ovl};
use crate::profile::unusual_shares::{exceeds, why_more};

/// A sentence that says what a summary costs and why its path begins where it does. `marginal` is the part of its cum that nothing
/// else covers, in the profile's unit; `whole` is the denominator of shares.
pub fn why<P: ProfileInterface>(
    profile: &P,
    s: &P::Summary,
    marginal: i64,
    whole: &Denominator,
) -> String {
    let (base, cum, total) = (profile.base_of(s), profile.cum_of(s), whole.cost);
    let of_what = whole.of.phrase();
    let path = profile.path_of(s);
    let last = path.last().copied().unwrap_or_default();
    let (cost, own) = (percent(cum, total), percent(base, total));
    let mut parts = vec![match path.len() {
        1 => format!("`{last}` costs {cost} of {of_what}, {own} in its own code"),
        _ => format!("these calls cost {cost} of {of_what}, {own} in their own code"),
    }];
    if exceeds(whole, cum) || exceeds(whole, base) {
        parts.push(format!(
            "more than 100 %, because {}",
            why_more(profile, whole)
        ));
    }
    if marginal != cum {
        parts.push(format!(
            "{} is not covered before",
            percent(marginal, total)
        ));
    }
    if path.len() > 1
        && let Ok(alone) = profile.summary_of(&[last])
    {
        // The path's cum includes its callers' own cost, which the last name's cum does not.
        let way = cum_ovl(profile, &alone, std::slice::from_ref(s));
        let whole = profile.cum_of(&alone);
        if (1..=whole).contains(&way) {
            parts.push(format!(
                "{} of what `{last}` costs comes this way",
                percent(way, whole)
            ));
        }
    }
    if let Some(spread) = profile.spread_of(s) {
        parts.push(format!(
            "between {} and {} by the spread of the runs",
            percent(spread.cum.low.round() as i64, total),
            percent(spread.cum.high.round() as i64, total),
        ));
    }
    parts.push(above(profile, s, cum));
    let mut sentence = parts.join("; ") + ".";
    // A quoted name at the beginning stays as it is.
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

/// Why the path begins where it does.
fn above<P: ProfileInterface>(profile: &P, s: &P::Summary, cum: i64) -> String {
    let callers = End::Top.extensions(profile, s);
    match callers.as_slice() {
        [] => match profile.limit_of(s) {
            Some(_) => "the profile does not know longer paths".to_owned(),
            None => format!("the stacks begin at `{}`", profile.path_of(s)[0]),
        },
        [one] => format!("only `{}` calls it", profile.path_of(one)[0]),
        [first, ..] => format!(
            "{} callers share it, the largest, `{}`, has {}",
            callers.len(),
            profile.path_of(first)[0],
            percent(cum_ovl(profile, first, std::slice::from_ref(s)), cum),
        ),
    }
}

fn percent(part: i64, whole: i64) -> String {
    if whole == 0 {
        return format!("{part}");
    }
    let share = 100.0 * part as f64 / whole as f64;
    let text = format!("{:.1} %", share.abs());
    // A rounded 0 has no sign.
    let negative = share < 0.0 && text != "0.0 %";
    format!("{}{text}", if negative { "\u{2212}" } else { "" })
}
