//! `fulcrum transactions crosstalk`: shows which types wait for which.

use fulcrum_answers::quantity::grouped;
use fulcrum_answers::what_if::{add_gains, gains};
use fulcrum_schema::{CrosstalkPair, TransactionsCrosstalk};

use super::args::CrosstalkArgs;
use super::brief::brief;
use super::open::{folders, open_with_timeline};
use crate::outcome::{DONE, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

/// Shows the pairs of a run.
pub(crate) fn crosstalk(args: &CrosstalkArgs) -> Outcome {
    let folders = folders(&args.selection)?;
    let run = open_with_timeline(&args.selection)?;
    let mut found = fulcrum_answers::transactions::crosstalk(&run.stitched, run.notes);
    for folder in &folders {
        fulcrum_answers::price::add_prices(&mut found, folder);
    }
    add_gains(&mut found, gains(&run.stitched, &run.timeline));
    let any = !found.pairs.is_empty();
    match args.json {
        true => terminal::answer(&found)?,
        false => terminal::print(&as_text(&found, args, Style::stdout()))?,
    }
    Ok(if any { DONE } else { NOTHING })
}

fn as_text(found: &TransactionsCrosstalk, args: &CrosstalkArgs, style: Style) -> String {
    let most = if args.top == 0 { usize::MAX } else { args.top };
    let mut table = Table::default();
    let dim = |cell: Cell| cell.colour(Some(Colour::Dim));
    table.row(
        [
            Cell::right("waited"),
            Cell::right("mean"),
            Cell::right("count"),
            Cell::left("who waits"),
            Cell::left("for whom"),
            Cell::left("at"),
        ]
        .map(dim)
        .to_vec(),
    );
    for it in found.pairs.iter().take(most) {
        table.row(vec![
            Cell::right(style.nanoseconds(it.wait_ns)),
            Cell::right(style.nanoseconds(it.mean_ns as u64)),
            Cell::right(grouped(it.count)),
            Cell::left(brief(&it.waiter)),
            Cell::left(brief(&it.holder)),
            Cell::left(format!("{} ({})", it.lock, it.kind)),
        ]);
    }
    let mut out = String::new();
    if found.pairs.is_empty() {
        out += "no transaction waited for another\n";
    } else {
        out += &table.render(style);
        out += &style.more(found.pairs.len(), most);
    }
    let priced = found.pairs.iter().take(most);
    for price in priced.filter_map(|it| it.price.as_ref()) {
        out += &format!("\n{}\n", style.plain(price.sentence.clone()));
    }
    if args.paths {
        for it in found.pairs.iter().take(most) {
            out += &paths(it, style);
        }
    }
    out + &style.notes(&found.notes)
}

/// Where a pair's waiters and holders were, the longest waits first.
fn paths(pair: &CrosstalkPair, style: Style) -> String {
    const SHOWN: usize = 5;
    let mut out = format!(
        "\n{} waits for {} at {}\n",
        brief(&pair.waiter),
        brief(&pair.holder),
        pair.lock
    );
    for it in pair.paths.iter().take(SHOWN) {
        out += &format!("  {}\n", style.nanoseconds(it.wait_ns));
        out += &format!("    waits in  {}\n", terminal::shown(&it.waiter));
        let holder = it.holder.as_deref().unwrap_or("not known");
        out += &format!("    for       {}\n", terminal::shown(holder));
    }
    out
}
