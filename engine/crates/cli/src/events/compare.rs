//! `fulcrum events compare`: shows what changed between two traces (JPMT §7).

use fulcrum_answers::quantity::grouped;
use fulcrum_events::compare::{Comparison, PathSums, compare as compared};
use fulcrum_model::Progress;

use super::args::CompareArgs;
use super::open::open_at;
use crate::outcome::{DONE, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

const TABLE_TOP: usize = 20;

/// Compares two traces.
pub(crate) fn compare(args: &CompareArgs) -> Outcome {
    let filter = args.filter.as_deref();
    let (a, b) = (open_at(&args.run, filter)?, open_at(&args.before, filter)?);
    let found = compared(&a, &b, &Progress::default()).expect("nobody cancels it");
    let top = args.top.unwrap_or(if args.json { 0 } else { TABLE_TOP });
    let shown = if top == 0 { usize::MAX } else { top };
    match args.json {
        true => terminal::answer(&fulcrum_answers::events::comparison(&found, 0, shown))?,
        false => terminal::print(&as_text(&found, args, shown, Style::stdout()))?,
    }
    Ok(if found.rows.is_empty() { NOTHING } else { DONE })
}

fn as_text(found: &Comparison, args: &CompareArgs, shown: usize, style: Style) -> String {
    let (a, b) = (args.run.display(), args.before.display());
    let time = |ns: i64| style.quantity(ns, "ns");
    let mean = |side: Option<PathSums>| {
        side.map_or_else(
            || "-".into(),
            |it| style.nanoseconds(it.wall_ns / it.count.max(1)),
        )
    };
    let count = |side: Option<PathSums>| side.map_or_else(|| "-".into(), |it| grouped(it.count));
    let mut table = Table::default();
    let right = ["own time", "calls B", "calls A", "mean B", "mean A"].map(Cell::right);
    let heads = right
        .into_iter()
        .chain([Cell::left("change"), Cell::left("call")]);
    table.row(heads.map(|cell| cell.colour(Some(Colour::Dim))).collect());
    for row in found.rows.iter().take(shown) {
        let change = row.self_wall_ns();
        let sign = if change > 0 { "+" } else { "" };
        let name = row.path.last().map_or("", String::as_str);
        let from = match row.path.len() {
            0 | 1 => row.role.clone(),
            n => format!("{} > {}", row.role, row.path[n - 2]),
        };
        table.row(vec![
            Cell::right(format!("{sign}{}", time(change))),
            Cell::right(count(row.b)),
            Cell::right(count(row.a)),
            Cell::right(mean(row.b)),
            Cell::right(mean(row.a)),
            Cell::left(row.change.name()),
            Cell::left(format!("{name}  ({from})")),
        ]);
    }
    let mut out =
        style.aside(&format!("A {a}, B {b}: own time is A minus B")) + &table.render(style);
    out += &style.more(found.rows.len(), shown);
    let roles = found.roles.iter().filter(|it| it.a != it.b);
    for role in roles {
        out += &format!("{}: {} threads in A, {} in B\n", role.name, role.a, role.b);
    }
    out + &style.notes(&found.notes)
}
