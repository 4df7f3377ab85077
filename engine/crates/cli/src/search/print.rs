//! Answers for people.

use fulcrum_answers::quantity::faster;
use fulcrum_paths::{DenominatorKind, Estimate, FirstRows, LabelReport, Row, Suggestions};

use super::command::HELP;
use super::details;
use super::numbers::Numbers;
use super::recursion;
use super::session::Answer;
use crate::terminal::{Cell, Colour, Table, shown};

/// The answer to a command as text. `rows` are the rows to list.
pub(crate) fn answer(answer: &Answer, rows: &[FirstRows], numbers: &Numbers) -> String {
    match answer {
        Answer::Rows { noise } => self::rows(rows, *noise, numbers),
        Answer::Details(it) => details::details(it, rows, numbers),
        Answer::Settings {
            suggester,
            zooming,
            cutoff,
        } => {
            let zooming = if *zooming { "on" } else { "off" };
            format!("suggester {suggester}, zoom {zooming}, cutoff {cutoff}\n")
        }
        Answer::Labels { path, labels } => match labels.as_slice() {
            [] => format!("[{}] has no label\n", self::path(path, numbers)),
            labels => {
                let labels = labels.join(", ");
                format!(
                    "[{}] is labelled {}\n",
                    self::path(path, numbers),
                    shown(&labels)
                )
            }
        },
        Answer::Reports { labels, base, cum } => reports(labels, *base, *cum, numbers),
        Answer::Overlaps(it) if it.overlaps.is_empty() => "nothing is labelled\n".into(),
        Answer::Overlaps(it) => details::overlaps(it, numbers),
        Answer::Estimate { labels, estimate } => self::estimate(labels, estimate, numbers),
        Answer::History { rows, current } => history(rows, *current, numbers),
        Answer::Automatic(found) => suggestions(found, 0, numbers),
        Answer::Saved(path) => format!("the labels were saved in {}\n", path.display()),
        Answer::Loaded(notes) => notes.iter().map(|note| format!("{note}\n")).collect(),
        Answer::Help => {
            let mut table = Table::default();
            for (usage, what) in HELP {
                table.row(vec![Cell::left(*usage), Cell::left(*what)]);
            }
            table.render(numbers.style)
        }
        Answer::Quit => String::new(),
    }
}

fn path(names: &[String], numbers: &Numbers) -> String {
    shown(&recursion::path(names, numbers.style)).into_owned()
}

fn rows(rows: &[FirstRows], noise: usize, numbers: &Numbers) -> String {
    let path = |row: &Row| recursion::path(&row.path, numbers.style);
    let mut out: String = match rows {
        [] => "no paths\n".into(),
        steps => steps
            .iter()
            .map(|it| details::list(it, numbers, path))
            .collect(),
    };
    if noise > 0 {
        let functions = if noise == 1 { "function" } else { "functions" };
        out += &format!("  {noise} {functions} omitted: the difference may be noise\n");
    }
    out
}

fn history(rows: &[Row], current: Option<usize>, numbers: &Numbers) -> String {
    let mut table = Table::default();
    for row in rows {
        let mark = if Some(row.number) == current { "*" } else { "" };
        table.row(vec![
            Cell::left(mark),
            Cell::right(row.number.to_string()),
            Cell::right(format!("cum {}", numbers.cost(row.cum))),
            Cell::right(numbers.share(row.cum)),
            Cell::right(format!("base {}", numbers.cost(row.base))),
            Cell::right(numbers.share(row.base)),
            Cell::left(format!("[{}]", recursion::path(&row.path, numbers.style))),
        ]);
    }
    table.render(numbers.style)
}

fn reports(labels: &[LabelReport], base: i64, cum: i64, numbers: &Numbers) -> String {
    if labels.is_empty() {
        return "nothing is labelled\n".into();
    }
    let mut table = Table::default();
    let heads = ["label", "paths", "cum", "", "base", "", "adds", ""];
    let head = |(n, text): (usize, &str)| {
        let cell = if n == 0 {
            Cell::left(text)
        } else {
            Cell::right(text)
        };
        cell.colour(Some(Colour::Dim))
    };
    table.row(heads.into_iter().enumerate().map(head).collect());
    let mut row = |name: &str, paths: usize, [cum, base, adds]: [i64; 3]| {
        let mut cells = vec![Cell::left(name), Cell::right(paths.to_string())];
        for cost in [cum, base, adds] {
            cells.push(Cell::right(numbers.cost(cost)));
            cells.push(Cell::right(numbers.share(cost)));
        }
        table.row(cells);
    };
    for it in labels {
        row(&it.name, it.summaries, [it.cum, it.base, it.marginal]);
    }
    let all = labels.iter().map(|it| it.summaries).sum();
    row("(together)", all, [cum, base, cum]);
    table.render(numbers.style)
}

fn estimate(labels: &[String], it: &Estimate, numbers: &Numbers) -> String {
    if it.of_whole.is_none() && it.gain.is_none() {
        return "the profile costs nothing: there is nothing to gain\n".into();
    }
    let labels = labels.join(", ");
    let mut out = format!(
        "without {}: {} less",
        shown(&labels),
        numbers.cost(it.removable)
    );
    if let Some(part) = it.of_whole {
        out += &format!(", {} of {}", numbers.percent(part), numbers.denominator());
    }
    out += "; overlap counts once\n";
    match it.gain.map(faster) {
        Some(Some(faster)) => {
            let program = it.table3.map_or("the program", |_| "A");
            out += &format!("{program} is at most {faster} without it, by Amdahl's law\n");
        }
        Some(None) => out += "there is nothing to gain\n",
        None => out += "that is the whole cost, so there is no estimate\n",
    }
    if let Some(part) = it.table3 {
        out += &format!(
            "as in BOTTLENECKS, Table 3: {} of what B costs\n",
            numbers.percent(part)
        );
    }
    out
}

/// Suggested paths with their reasons, numbered from `first`; if there are none, the reason.
pub(crate) fn suggestions(found: &Suggestions, first: usize, numbers: &Numbers) -> String {
    let mut out = String::new();
    if found.suggestions.is_empty() {
        let why = match (found.whole.cost, found.whole.of) {
            (0, DenominatorKind::Total) => "the profile costs nothing",
            (0, DenominatorKind::Costlier) => {
                "no function's own cost differs by more than noise: there is no difference to cover"
            }
            (0, _) => {
                "every function's own cost is the same on both sides: there is no difference to cover"
            }
            _ if found.labelled > 0.0 => "nothing else is worth a label of its own",
            _ => "no path stands out: each has too small a share of the cost",
        };
        return format!("{why}\n");
    }
    for (n, it) in found.suggestions.iter().enumerate() {
        let title = format!(
            "{:2}. {}  cum {} ({}), adds {}",
            n + first,
            shown(&it.label),
            numbers.cost(it.cum),
            numbers.share(it.cum),
            numbers.percent(it.marginal),
        );
        out += &numbers.style.paint(Colour::Strong, &title);
        out += &format!("\n    [{}]\n", path(&it.path, numbers));
        if let Some(sides) = it.sides {
            let (a, b) = (numbers.cost(sides.cum.a), numbers.cost(sides.cum.b));
            out += &format!("    A {a}, B {b}");
            if let Some(spread) = it.spread {
                out += &format!("; {}", details::certainty(&spread.cum, numbers));
            }
            out.push('\n');
        }
        out += &format!("    {}\n", numbers.style.plain(shown(&it.why).into_owned()));
    }
    let labelled = match found.labelled {
        0.0 => String::new(),
        part => format!(" with the labels, which cover {}", numbers.percent(part)),
    };
    out += &format!(
        "{} {} of {}{labelled}\n",
        match found.suggestions.len() {
            1 => "1 path covers".into(),
            many => format!("{many} paths cover"),
        },
        numbers.percent(found.coverage),
        numbers.denominator(),
    );
    out
}
