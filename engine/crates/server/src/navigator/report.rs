//! The labels as Markdown, for a pull request.

use fulcrum_answers::quantity::{faster, quantity, share};
use fulcrum_paths::{
    AnySummary, DenominatorKind, Label, ProfileInterface as _, cum_ovl, unusual_shares_note,
};

use super::search_snapshot::SearchSnapshot;
use crate::protocol::NavigatorReport;
use crate::protocol::markdown::{escaped, verbatim_code};

/// Paths of one label that are written out.
const MOST_PATHS: usize = 20;

/// Paths, costs, overlap and estimate of all labels.
pub(crate) fn report(navigator: &SearchSnapshot) -> NavigatorReport {
    let whole = navigator.search.whole();
    let cost = |cost: i64| match share(cost, whole.cost) {
        share if share.is_empty() => quantity(cost, &navigator.unit),
        share => format!("{} ({share})", quantity(cost, &navigator.unit)),
    };
    let mut markdown = heading(navigator);
    markdown += &match navigator.search.labels().all() {
        [] => "\n\nNothing is labelled.\n".to_owned(),
        labels => labelled(navigator, labels, &cost),
    };
    NavigatorReport { markdown }
}

/// What was measured, and what shares are of.
fn heading(navigator: &SearchSnapshot) -> String {
    let profile = navigator.search.profile();
    let (whole, total) = (navigator.search.whole(), profile.total());
    let mut out = format!("## Bottlenecks in {}\n\n", escaped(&navigator.title));
    let value = verbatim_code(&navigator.value);
    out += &match profile.sides() {
        None => format!("{value}, {} in all.", quantity(total, &navigator.unit)),
        Some(sides) => format!(
            "{value}: A {} \u{2212} B {} = {}. Costs are differences; shares are of {}.",
            quantity(sides.a, &navigator.unit),
            quantity(sides.b, &navigator.unit),
            quantity(total, &navigator.unit),
            match whole.of {
                DenominatorKind::Costlier => format!(
                    "{}, {}",
                    whole.of.phrase(),
                    quantity(whole.cost, &navigator.unit)
                ),
                _ => "the whole difference".into(),
            },
        ),
    };
    // The note of a comparison says what its costs and shares are; the sentence above has.
    if profile.sides().is_none()
        && let Some(note) = unusual_shares_note(profile, &whole)
    {
        out += &format!(" {}", escaped(&note));
    }
    out
}

/// What the labels cover, together and each.
fn labelled(
    navigator: &SearchSnapshot,
    labels: &[Label<AnySummary>],
    cost: &impl Fn(i64) -> String,
) -> String {
    let search = &navigator.search;
    let estimate = search.estimate(&[]).expect("all labels are there");
    let covered = cost(estimate.removable);
    let mut out = match labels.len() {
        1 => format!("\n\nOne label covers {covered}."),
        count => format!("\n\n{count} labels together cover {covered}."),
    };
    if let Some(faster) = estimate.gain.and_then(faster) {
        let program = estimate.table3.map_or("the program", |_| "A");
        out += &format!(" Without that cost, {program} is at most {faster}, by Amdahl's law.");
    }
    if let Some(table3) = estimate.table3.filter(|it| *it > 0.0) {
        out += &format!(" It is {:.1} % of what B costs.", 100.0 * table3);
    }
    out +=
        "\n\n| label | with calls | itself | not covered above |\n| --- | ---: | ---: | ---: |\n";
    for it in search.report() {
        out += &format!(
            "| {} | {} | {} | {} |\n",
            escaped(&it.name),
            cost(it.cum),
            cost(it.base),
            cost(it.marginal),
        );
    }
    for label in labels {
        out += &label_section(navigator, labels, label, cost);
    }
    out
}

/// The paths of a label, and the cost that it shares with others.
fn label_section(
    navigator: &SearchSnapshot,
    labels: &[Label<AnySummary>],
    label: &Label<AnySummary>,
    cost: &impl Fn(i64) -> String,
) -> String {
    let profile = navigator.search.profile();
    let mut out = format!("\n### {}\n\n", escaped(&label.name));
    for s in label.summaries.iter().take(MOST_PATHS) {
        out += &path(navigator, s, cost);
    }
    let left = label.summaries.len().saturating_sub(MOST_PATHS);
    if left > 0 {
        out += &format!("- {left} more paths\n");
    }
    let alone = profile.total_cum_of(&label.summaries);
    let shared: Vec<String> = labels
        .iter()
        .filter(|other| other.name != label.name)
        .filter_map(|other| {
            let both = [label.summaries.as_slice(), &other.summaries].concat();
            let other_cum = profile.total_cum_of(&other.summaries);
            let shared = alone + other_cum - profile.total_cum_of(&both);
            (shared != 0).then(|| format!("{} with {}", cost(shared), escaped(&other.name)))
        })
        .collect();
    if !shared.is_empty() {
        out += &format!("\nShares {}.\n", shared.join(", "));
    }
    out
}

/// One path: its names, its costs, and where the profile says that its last function is.
fn path(navigator: &SearchSnapshot, s: &AnySummary, cost: &impl Fn(i64) -> String) -> String {
    let profile = navigator.search.profile();
    let names = profile.path_of(s);
    let place = names
        .last()
        .and_then(|name| navigator.recorded.get(*name)?.first());
    let chain: Vec<String> = names.iter().map(|name| verbatim_code(name)).collect();
    let mut line = format!(
        "- {}: {} with calls, {} itself",
        chain.join(" \u{2192} "),
        cost(profile.cum_of(s)),
        cost(profile.base_of(s)),
    );
    if let Some(sides) = profile.sides_of(s) {
        let side = |cost| quantity(cost, &navigator.unit);
        line += &format!("; A {}, B {}", side(sides.cum.a), side(sides.cum.b));
    }
    if let Some(spread) = profile.spread_of(s) {
        line += match spread.cum.significant() {
            true => "; significant",
            false => "; not significant",
        };
    }
    let alone = profile.summary_of(&names[names.len() - 1..]);
    if let Ok(alone) = alone
        && names.len() > 1
    {
        let this_way = cum_ovl(profile, &alone, std::slice::from_ref(s));
        let whole = profile.cum_of(&alone);
        if (1..=whole).contains(&this_way) {
            line += &format!("; {} of the last function's cost", share(this_way, whole));
        }
    }
    if let Some(place) = place {
        line += &format!(" ({})", verbatim_code(&place.to_string()));
    }
    line + "\n"
}
