//! The labels as Markdown, for a pull request.

use fulcrum_answers::quantity::{faster, quantity, share};
use fulcrum_paths::{
    AnySummary, DenominatorKind, ProfileInterface as _, cum_ovl, unusual_shares_note,
};

use super::search_snapshot::SearchSnapshot;
use crate::protocol::NavigatorReport;

/// Paths of one label that are written out.
const MOST_PATHS: usize = 20;

/// Paths, costs, overlap and estimate of all labels.
pub(crate) fn report(look: &SearchSnapshot) -> NavigatorReport {
    let (search, profile) = (&look.search, look.search.profile());
    let total = profile.total();
    let whole = look.search.whole();
    let cost = |cost: i64| match share(cost, whole.cost) {
        share if share.is_empty() => quantity(cost, &look.unit),
        share => format!("{} ({share})", quantity(cost, &look.unit)),
    };
    let mut out = format!("## Bottlenecks in {}\n\n", text(&look.title));
    let value = code(&look.value);
    out += &match profile.sides() {
        None => format!("{value}, {} in all.", quantity(total, &look.unit)),
        Some(sides) => format!(
            "{value}: A {} \u{2212} B {} = {}. Costs are differences; shares are of {}.",
            quantity(sides.a, &look.unit),
            quantity(sides.b, &look.unit),
            quantity(total, &look.unit),
            match whole.of {
                DenominatorKind::Costlier => format!(
                    "{}, {}",
                    whole.of.phrase(),
                    quantity(whole.cost, &look.unit)
                ),
                _ => "the whole difference".into(),
            },
        ),
    };
    // That of a comparison says what its costs and shares are.
    if profile.sides().is_none()
        && let Some(note) = unusual_shares_note(profile, &whole)
    {
        out += &format!(" {}", text(&note));
    }
    let labels = search.labels().all();
    if labels.is_empty() {
        out += "\n\nNothing is labelled.\n";
        return NavigatorReport { markdown: out };
    }
    let estimate = search.estimate(&[]).expect("all labels are there");
    let covered = cost(estimate.removable);
    out += &match labels.len() {
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
            text(&it.name),
            cost(it.cum),
            cost(it.base),
            cost(it.marginal),
        );
    }
    for label in labels {
        out += &format!("\n### {}\n\n", text(&label.name));
        for s in label.summaries.iter().take(MOST_PATHS) {
            out += &path(look, s, &cost);
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
                (shared != 0).then(|| format!("{} with {}", cost(shared), text(&other.name)))
            })
            .collect();
        if !shared.is_empty() {
            out += &format!("\nShares {}.\n", shared.join(", "));
        }
    }
    NavigatorReport { markdown: out }
}

/// One path: its names, its costs, and where the profile says that its last function is.
fn path(look: &SearchSnapshot, s: &AnySummary, cost: &impl Fn(i64) -> String) -> String {
    let profile = look.search.profile();
    let names = profile.path_of(s);
    let place = names
        .last()
        .and_then(|name| look.recorded.get(*name)?.first());
    let chain: Vec<String> = names.iter().map(|name| code(name)).collect();
    let mut line = format!(
        "- {}: {} with calls, {} itself",
        chain.join(" \u{2192} "),
        cost(profile.cum_of(s)),
        cost(profile.base_of(s)),
    );
    if let Some(sides) = profile.sides_of(s) {
        let side = |cost| quantity(cost, &look.unit);
        line += &format!("; A {}, B {}", side(sides.cum.a), side(sides.cum.b));
    }
    if let Some(spread) = profile.spread_of(s) {
        line += match spread.cum.significant() {
            true => "; told from noise",
            false => "; not told from noise",
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
        line += &format!(" ({})", code(&place.to_string()));
    }
    line + "\n"
}

/// Code, whatever is in it.
pub(super) fn code(name: &str) -> String {
    let name = name.replace(['\n', '\r'], " ");
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match name.starts_with('`') || name.ends_with('`') {
        true => format!("{fence} {name} {fence}"),
        false => format!("{fence}{name}{fence}"),
    }
}

/// Text without Markdown in it.
pub(super) fn text(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
