//! The current path, for people.

use fulcrum_paths::{Details, FirstRows, Overlap, Row, Spread, Step};

use super::numbers::Numbers;
use super::recursion;
use crate::terminal::{Cell, Colour, Table};

/// Everything about the current path, with these rows nearby.
pub(crate) fn details(it: &Details, nearby: &[FirstRows], numbers: &Numbers) -> String {
    let mut out = String::new();
    let dim = |text: &str| Cell::left(text).colour(Some(Colour::Dim));
    let mut head = Table::default();
    for (n, name) in recursion::folded(&it.path, numbers.style)
        .iter()
        .enumerate()
    {
        let title = if n == 0 { "path" } else { "" };
        head.row(vec![
            dim(title),
            Cell::left(name).colour(Some(Colour::Strong)),
        ]);
    }
    if !it.labels.is_empty() {
        head.row(vec![dim("labels"), Cell::left(it.labels.join(", "))]);
    }
    out += &head.render(numbers.style);
    out += &metrics(it, numbers);
    if let Some(paradox) = &it.paradox {
        out += &format!("{paradox}\n");
    }
    if !it.overlaps.is_empty() {
        out += "\nshared with labelled paths\n";
        out += &overlaps(it, numbers);
    }
    for (step, title) in [
        (Step::ExtendTop, "callers: top extensions"),
        (Step::ExtendBottom, "callees: bottom extensions"),
        (Step::TrimTop, "trimmed at the top"),
        (Step::TrimBottom, "trimmed at the bottom"),
    ] {
        let rows = nearby.iter().find(|rows| rows.step == step);
        let hidden = match step {
            Step::ExtendTop => Some(it.hidden[0]),
            Step::ExtendBottom => Some(it.hidden[1]),
            _ => None,
        };
        let hidden = hidden.filter(|it| it.count > 0);
        if rows.is_none() && hidden.is_none() {
            continue;
        }
        out += &format!("\n{title}\n");
        if let Some(rows) = rows {
            out += &list(rows, numbers, |row| added(row, &it.path, numbers));
        }
        if let Some(hidden) = hidden {
            out += &format!(
                "  {} below the cutoff; they have {} of the cum by themselves\n",
                hidden.count,
                numbers.percent(hidden.share),
            );
        }
    }
    if let Some(limit) = &it.limit {
        out += &format!("\n{limit}\n");
    }
    out
}

fn metrics(it: &Details, numbers: &Numbers) -> String {
    let mut table = Table::default();
    for (title, value, sides, spread) in [
        (
            "base",
            it.base,
            it.sides.map(|it| it.base),
            it.spread.map(|it| it.base),
        ),
        (
            "cum",
            it.cum,
            it.sides.map(|it| it.cum),
            it.spread.map(|it| it.cum),
        ),
    ] {
        let mut row = vec![
            Cell::left(title).colour(Some(Colour::Dim)),
            Cell::right(numbers.cost(value)),
            Cell::right(numbers.share(value)),
            Cell::left(format!("of {}", numbers.denominator())),
        ];
        if let Some(sides) = sides {
            let (a, b) = (numbers.cost(sides.a), numbers.cost(sides.b));
            row.push(Cell::left(format!("A {a}, B {b}")));
        }
        if let Some(spread) = spread {
            row.push(Cell::left(certainty(&spread, numbers)));
        }
        table.row(row);
    }
    table.render(numbers.style)
}

/// The interval of a difference, and whether it is noise.
pub(crate) fn certainty(spread: &Spread, numbers: &Numbers) -> String {
    let [low, high] = [spread.low, spread.high].map(|it| numbers.cost(it.round() as i64));
    let noise = if spread.significant() { "" } else { ", noise" };
    format!("95 % within {low} .. {high}, p {:.2}{noise}", spread.p)
}

/// What the path shares with each label, and with all labels.
pub(crate) fn overlaps(it: &Details, numbers: &Numbers) -> String {
    let mut table = Table::default();
    let mut row = |name: &str, shared: &Overlap| {
        table.row(vec![
            Cell::left(format!("  {name}")),
            Cell::right(format!("cum {}", numbers.cost(shared.cum))),
            Cell::right(numbers.share(shared.cum)),
            Cell::right(format!("base {}", numbers.cost(shared.base))),
            Cell::right(numbers.share(shared.base)),
        ]);
    };
    for overlap in &it.overlaps {
        row(&overlap.label, &overlap.shared);
    }
    if it.overlaps.len() > 1 {
        row("(all labels)", &it.overlap);
    }
    table.render(numbers.style)
}

/// Numbered rows.
pub(crate) fn list(first: &FirstRows, numbers: &Numbers, name: impl Fn(&Row) -> String) -> String {
    let mut table = Table::default();
    for row in &first.rows {
        let mut cells = vec![
            Cell::right(format!("  {}", row.number)),
            Cell::right(format!("cum {}", numbers.cost(row.cum))),
            Cell::right(numbers.share(row.cum)),
            Cell::right(format!("base {}", numbers.cost(row.base))),
            Cell::right(numbers.share(row.base)),
        ];
        if let Some(sides) = row.sides {
            let (a, b) = (numbers.cost(sides.cum.a), numbers.cost(sides.cum.b));
            cells.push(Cell::right(format!("A {a}")));
            cells.push(Cell::right(format!("B {b}")));
        }
        if let Some(spread) = row.spread {
            let noise = if spread.cum.significant() {
                ""
            } else {
                "noise"
            };
            cells.push(Cell::left(noise).colour(Some(Colour::Dim)));
        }
        cells.push(Cell::left(name(row)));
        table.row(cells);
    }
    let mut out = table.render(numbers.style);
    if first.more > 0 {
        out += &format!("  and {} more; --top 0 shows all\n", first.more);
    }
    out
}

/// What a step adds to the current path or takes from it.
fn added(row: &Row, current: &[String], numbers: &Numbers) -> String {
    let (here, there) = (current.len(), row.path.len());
    let names = |names: &[String]| recursion::path(names, numbers.style);
    match row.step {
        Step::Suggestion => names(&row.path),
        Step::ExtendTop => format!("[{}; ...]", names(&row.path[..there - here])),
        Step::ExtendBottom => format!("[...; {}]", names(&row.path[here..])),
        Step::TrimTop | Step::TrimBottom => match row.path.as_slice() {
            [first, .., last] if there > 2 => format!("[{first}; ...; {last}], {there} names"),
            path => format!("[{}]", names(path)),
        },
    }
}
