//! `fulcrum transactions show`: shows the types, where they spend CPU time, how long they take, and how they flow.

use fulcrum_answers::quantity::grouped;
use fulcrum_schema::{TransactionFlowKind, TransactionStage, TransactionType, TransactionsShown};

use super::args::ShowArgs;
use super::brief::brief;
use super::open::open;
use crate::outcome::{DONE, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

/// Shows a run.
pub(crate) fn show(args: &ShowArgs) -> Outcome {
    let run = open(&args.selection)?;
    let shown = fulcrum_answers::transactions::shown(&run.stitched, run.notes);
    let any = !shown.types.is_empty();
    match args.json {
        true => terminal::answer(&shown)?,
        false => terminal::print(&table(&shown, args.top, Style::stdout()))?,
    }
    Ok(if any { DONE } else { NOTHING })
}

/// The tables for people; `top` rows of each, 0 for all.
pub(crate) fn table(shown: &TransactionsShown, top: usize, style: Style) -> String {
    let most = if top == 0 { usize::MAX } else { top };
    let mut out = types(shown, most, style);
    if shown.types.is_empty() {
        out += "no transactions and no CPU samples\n";
    }
    if !shown.flows.is_empty() {
        out += "\n";
        out += &flows(shown, most, style);
    }
    out + &style.notes(&shown.notes)
}

fn heads(names: &[&str], last: &str) -> Vec<Cell> {
    let right = names.iter().copied().map(Cell::right);
    let cells = right.chain([Cell::left(last)]);
    cells.map(|cell| cell.colour(Some(Colour::Dim))).collect()
}

fn types(shown: &TransactionsShown, most: usize, style: Style) -> String {
    let mut table = Table::default();
    table.row(heads(
        &["cpu", "time", "count", "p50", "p99", "waited"],
        "transaction",
    ));
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".into(), |ns| style.nanoseconds(ns));
    for it in shown.types.iter().take(most) {
        let count = match it.count {
            0 => "-".into(),
            count => grouped(count),
        };
        table.row(vec![
            Cell::right(share(it.cpu_share)),
            Cell::right(style.nanoseconds(it.cpu_ns)),
            Cell::right(count),
            Cell::right(time(it.wall_p50_ns)),
            Cell::right(time(it.wall_p99_ns)),
            Cell::right(time(Some(it.wait_ns).filter(|&ns| ns > 0))),
            Cell::left(brief(&it.name)).colour(Some(Colour::Strong)),
        ]);
        for stage in stages(it) {
            table.row(vec![
                Cell::right(share(stage.cpu_share)).colour(Some(Colour::Dim)),
                Cell::right(style.nanoseconds(stage.cpu_ns)).colour(Some(Colour::Dim)),
                Cell::right(""),
                Cell::right(""),
                Cell::right(""),
                Cell::right(""),
                Cell::left(format!("  {}", place(stage))).colour(Some(Colour::Dim)),
            ]);
        }
    }
    table.render(style) + &style.more(shown.types.len(), most)
}

/// Stages of a type, when there are several worth a line.
fn stages(it: &TransactionType) -> impl Iterator<Item = &TransactionStage> {
    const WORTH: f64 = 0.001;
    let several = it.stages.len() > 1;
    let worth = move |stage: &&TransactionStage| several && stage.cpu_share >= WORTH;
    it.stages.iter().filter(worth).take(6)
}

/// `apache2`, or `mysqld, connection` where the thread has a name of its own.
fn place(stage: &TransactionStage) -> String {
    // A thread without a name of its own has the name of its program, of which the kernel keeps 15 bytes.
    let short: String = stage.process.chars().take(15).collect();
    match stage.thread.is_empty() || stage.thread == short {
        true => stage.process.clone(),
        false => format!("{}, {}", stage.process, stage.thread),
    }
}

fn share(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

fn flows(shown: &TransactionsShown, most: usize, style: Style) -> String {
    let mut table = Table::default();
    table.row(heads(&["count"], "flow"));
    let arrow = if style.unicode { "→" } else { "->" };
    for it in shown.flows.iter().take(most) {
        let by = match it.kind {
            TransactionFlowKind::Memory => "memory",
            TransactionFlowKind::Event => "event",
            TransactionFlowKind::Stage => "stage",
            TransactionFlowKind::Message => "message",
        };
        table.row(vec![
            Cell::right(grouped(it.count)),
            Cell::left(format!("{} {arrow} {} ({by})", it.from, it.to)),
        ]);
    }
    table.render(style) + &style.more(shown.flows.len(), most)
}
