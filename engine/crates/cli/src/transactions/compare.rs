//! `fulcrum transactions compare`: compares the types of two runs, or two types.

use fulcrum_answers::quantity::grouped;
use fulcrum_answers::transactions::{compared, compared_type};
use fulcrum_paths::{FirstRows, Step};
use fulcrum_profiles::transactions::OpenTypes;
use fulcrum_schema::{
    TransactionsCompared, TransactionsComparedType, TransactionsDifference, TransactionsTypeCost,
    TransactionsTypesCompared,
};
use fulcrum_transactions::stitch::ComparedType;

use super::args::CompareArgs;
use super::brief::brief;
use super::types;
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::search::details;
use crate::search::numbers::Numbers;
use crate::terminal::{self, Cell, Colour, Style, Table};

/// Compares runs or types.
pub(crate) fn compare(args: &CompareArgs) -> Outcome {
    let types = &args.types;
    if types.base.is_none() && types.against.is_none() {
        return Err(Failure::Usage(
            "compare with what? Name a second run, or two types: --only NAME --against NAME".into(),
        ));
    }
    let runs = types::runs(types)?;
    if let Some(only) = &types.only {
        let other = types.against.as_ref().unwrap_or(only);
        let open = types::open(types, only, &runs)?;
        return two(args, &title(only, other), open);
    }
    let ((name_a, a), b) = &runs;
    let (name_b, b) = b.as_ref().unwrap_or(&runs.0);
    let side = |side: &str, name: &str, notes: &[String]| -> Vec<String> {
        let notes = notes.iter().map(|note| format!("{side}: {note}"));
        [format!("{side} is {name}.")]
            .into_iter()
            .chain(notes)
            .collect()
    };
    let notes = [side("A", name_a, &a.notes), side("B", name_b, &b.notes)].concat();
    let found = compared(&a.stitched, &b.stitched, notes);
    match args.json {
        true => terminal::answer(&found)?,
        false => terminal::print(&table(&found, args.top, Style::stdout()))?,
    }
    Ok(if found.types.is_empty() {
        NOTHING
    } else {
        DONE
    })
}

fn title(a: &str, b: &str) -> String {
    match a == b {
        true => a.into(),
        false => format!("{a} \u{2212} {b}"),
    }
}

/// Compares two types: what one transaction costs, and where.
fn two(args: &CompareArgs, name: &str, open: OpenTypes) -> Outcome {
    let [a, b] = open.costs.as_slice() else {
        return Err(Failure::Usage("two types are compared".into()));
    };
    let of = compared_type(&ComparedType {
        name: name.into(),
        a: Some(*a),
        b: Some(*b),
        difference: open.difference,
    });
    let mut session = open.search;
    let mut rows = session.search.suggest().all();
    rows.retain(|it| it.cum != 0 || it.base != 0);
    let count = rows.len();
    if args.top > 0 {
        rows.truncate(args.top);
    }
    let first = FirstRows {
        step: Step::Suggestion,
        more: count - rows.len(),
        rows,
    };
    if args.json {
        let rows = first.rows.iter();
        terminal::answer(&TransactionsTypesCompared {
            of,
            unit: session.identity.unit.clone(),
            functions: rows.map(fulcrum_answers::search::row).collect(),
            notes: session.notes,
        })?;
    } else {
        let style = Style::stdout();
        let numbers = Numbers {
            unit: session.identity.unit.clone(),
            denominator: session.search.whole(),
            style,
        };
        let mut out = sides(&of, style);
        for note in &session.notes {
            out += &format!("{}\n", style.plain(note.clone()));
        }
        out += match first.rows.is_empty() {
            true => "\nno function costs more or less on one side\n",
            false => "\n",
        };
        out += &details::list(&first, &numbers, |row| row.path.join("; "));
        terminal::print(&out)?;
    }
    Ok(DONE)
}

fn heads(names: &[&str], last: &str) -> Vec<Cell> {
    let right = names.iter().copied().map(Cell::right);
    let cells = right.chain([Cell::left(last)]);
    cells.map(|cell| cell.colour(Some(Colour::Dim))).collect()
}

/// What the transactions of both sides cost.
fn sides(of: &TransactionsComparedType, style: Style) -> String {
    let mut table = Table::default();
    table.row(heads(
        &["", "count", "cpu each", "p50", "p99"],
        "cpu in all",
    ));
    for (name, side) in [("A", &of.a), ("B", &of.b)] {
        let Some(side) = side else { continue };
        table.row(vec![
            Cell::right(name),
            Cell::right(grouped(side.transactions)),
            Cell::right(mean(side.cpu_mean_ns, style)),
            Cell::right(time(side.wall_p50_ns, style)),
            Cell::right(time(side.wall_p99_ns, style)),
            Cell::left(style.nanoseconds(side.cpu_ns)),
        ]);
    }
    table.render(style)
}

/// All types of two runs.
fn table(found: &TransactionsCompared, top: usize, style: Style) -> String {
    let most = if top == 0 { usize::MAX } else { top };
    let mut table = Table::default();
    let names = [
        "count A",
        "count B",
        "cpu each A",
        "B",
        "change",
        "",
        "p50 A",
        "B",
    ];
    table.row(heads(&names, "transaction"));
    for it in found.types.iter().take(most) {
        let count = |side: &Option<TransactionsTypeCost>| match side {
            Some(side) => grouped(side.transactions),
            None => "-".into(),
        };
        let each = |side: &Option<TransactionsTypeCost>| {
            mean(side.as_ref().and_then(|it| it.cpu_mean_ns), style)
        };
        let median = |side: &Option<TransactionsTypeCost>| {
            time(side.as_ref().and_then(|it| it.wall_p50_ns), style)
        };
        let (change, verdict) = it
            .cpu
            .map_or_else(Default::default, |it| change(&it, style));
        table.row(vec![
            Cell::right(count(&it.a)),
            Cell::right(count(&it.b)),
            Cell::right(each(&it.a)),
            Cell::right(each(&it.b)),
            Cell::right(change),
            Cell::left(verdict).colour(Some(Colour::Dim)),
            Cell::right(median(&it.a)),
            Cell::right(median(&it.b)),
            Cell::left(brief(&it.name)).colour(Some(Colour::Strong)),
        ]);
    }
    let mut out = match found.types.is_empty() {
        true => "neither run has transactions\n".into(),
        false => table.render(style),
    };
    out += &style.more(found.types.len(), most);
    out + &style.notes(&found.notes)
}

fn mean(ns: Option<f64>, style: Style) -> String {
    ns.map_or_else(|| "-".into(), |ns| style.nanoseconds(ns.round() as u64))
}

fn time(ns: Option<u64>, style: Style) -> String {
    ns.map_or_else(|| "-".into(), |ns| style.nanoseconds(ns))
}

/// The difference with its sign, and whether it is noise.
fn change(it: &TransactionsDifference, style: Style) -> (String, String) {
    let ns = it.ns.round() as i64;
    let sign = if ns > 0 { "+" } else { "" };
    let verdict = if it.significant { "" } else { "noise" };
    (
        format!("{sign}{}", style.quantity(ns, "ns")),
        verdict.into(),
    )
}
