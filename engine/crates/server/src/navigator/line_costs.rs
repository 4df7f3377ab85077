//! What a line or function of a document costs: in numbers, in words, and as heat.

use fulcrum_answers::quantity::{quantity, share};
use fulcrum_paths::ProfileInterface as _;

use super::search_snapshot::SearchSnapshot;
use crate::protocol::markdown::{escaped, verbatim_code};
use crate::protocol::{NavigatorHeat, NavigatorPathSides, NavigatorSides};

/// Functions that a hover names.
const MOST_NAMED: usize = 3;

/// What a line or function costs, in the profile's unit; in a comparison, in A minus in B.
pub(super) struct Cost {
    pub base: i64,
    pub cum: i64,
    pub sides: Option<NavigatorPathSides>,
}

/// Whether the profile knows what the calls from a line cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallCosts {
    Known,
    Unknown,
}

impl Cost {
    /// Whether the calls cost nothing.
    pub(crate) fn is_own(&self) -> bool {
        self.base == self.cum && self.sides.is_none_or(|it| it.base == it.cum)
    }

    /// `12 (30.0 %) here`, or the difference.
    pub(crate) fn own_text(&self, navigator: &SearchSnapshot) -> String {
        match is_comparison(navigator) {
            true => difference(navigator, self.base, "here", self.sides.map(|it| it.base)),
            false => format!("{} here", with_share(navigator, self.base)),
        }
    }

    /// [`Cost::own_text`] and the same with calls.
    pub(crate) fn text(&self, navigator: &SearchSnapshot) -> String {
        let here = self.own_text(navigator);
        match is_comparison(navigator) {
            // The calls add nothing.
            true if self.is_own() => here,
            true => {
                let cum = self.sides.map(|it| it.cum);
                let calls = difference(navigator, self.cum, "with calls", cum);
                match self.base {
                    // There is little room at the end of a line.
                    0 => calls,
                    _ => format!("{here}, {calls}"),
                }
            }
            false => format!("{here}, {} with calls", with_share(navigator, self.cum)),
        }
    }

    /// The hover: the cost of these functions, or its difference, in which profile, as Markdown.
    pub(crate) fn hover(
        &self,
        navigator: &SearchSnapshot,
        functions: &[String],
        calls: CallCosts,
    ) -> String {
        let named = functions
            .iter()
            .take(MOST_NAMED)
            .map(|it| verbatim_code(it));
        let mut of = named.collect::<Vec<_>>().join(", ");
        if functions.len() > MOST_NAMED {
            of += &format!(" and {} more", functions.len() - MOST_NAMED);
        }
        let comparison = is_comparison(navigator);
        let mut rows = vec![("here", self.base, self.sides.map(|it| it.base))];
        if calls == CallCosts::Known {
            rows.push(("with what it calls", self.cum, self.sides.map(|it| it.cum)));
        }
        let what = if comparison { "Difference" } else { "Cost" };
        let mut out = format!("**{what} in {}** · {of}\n\n", escaped(&navigator.title));
        for (what, value, sides) in rows {
            out += &match comparison {
                true => format!("- {}\n", difference(navigator, value, what, sides)),
                false => format!("- {} {what}\n", with_share(navigator, value)),
            };
        }
        let profile = navigator.search.profile();
        let (total, sides) = (profile.total(), profile.sides());
        let sides = sides.map(|it| NavigatorSides { a: it.a, b: it.b });
        let value = verbatim_code(&navigator.value);
        out += &match comparison {
            false => format!(
                "\nShares are of {} in all, {value}.",
                quantity(total, &navigator.unit)
            ),
            true => format!(
                "\nThe cost of A minus that of B, {value}; {}.",
                difference(navigator, total, "in all", sides)
            ),
        };
        out + " This is where cost was measured, not what a speedup would gain.\n"
    }

    /// By the greater of base and a tenth of cum; in a comparison, as a part of A or B.
    pub(crate) fn heat(&self, navigator: &SearchSnapshot) -> NavigatorHeat {
        let profile = navigator.search.profile();
        let whole = match profile.sides() {
            // The difference of the totals may be next to nothing.
            Some(sides) => sides.a.abs().max(sides.b.abs()),
            None => profile.total().abs(),
        };
        let cost = match self.base.unsigned_abs() >= self.cum.unsigned_abs() / 10 {
            true => self.base as f64,
            false => self.cum as f64 / 10.0,
        };
        if whole == 0 {
            return NavigatorHeat::Cold;
        }
        let part = cost / whole as f64;
        let steps = [0.005, 0.02, 0.05, 0.15];
        let level = steps.iter().filter(|&&it| part.abs() >= it).count();
        match (level, part < 0.0) {
            (0, _) => NavigatorHeat::Cold,
            (1, false) => NavigatorHeat::Hot1,
            (2, false) => NavigatorHeat::Hot2,
            (3, false) => NavigatorHeat::Hot3,
            (_, false) => NavigatorHeat::Hot4,
            (1, true) => NavigatorHeat::Less1,
            (2, true) => NavigatorHeat::Less2,
            (_, true) => NavigatorHeat::Less3,
        }
    }
}

fn is_comparison(navigator: &SearchSnapshot) -> bool {
    navigator.search.profile().sides().is_some()
}

/// `12 (30.0 %)`.
fn with_share(navigator: &SearchSnapshot, cost: i64) -> String {
    let quantity = quantity(cost, &navigator.unit);
    match navigator.search.profile().total() {
        0 => quantity,
        total => format!("{quantity} ({})", share(cost, total)),
    }
}

/// The difference of a cost between B and A: `+40 here (A 90 − B 50)`.
fn difference(
    navigator: &SearchSnapshot,
    value: i64,
    what: &str,
    sides: Option<NavigatorSides>,
) -> String {
    let cost = |cost: i64| quantity(cost, &navigator.unit);
    let sign = if value > 0 { "+" } else { "" };
    let change = format!("{sign}{} {what}", cost(value));
    match sides {
        Some(NavigatorSides { a, b }) => {
            format!("{change} (A {} \u{2212} B {})", cost(a), cost(b))
        }
        None => format!("{change} (A \u{2212} B)"),
    }
}
